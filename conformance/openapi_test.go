//go:build conformance

package conformance

// The OpenAPI documents of built-in types: what merging and validating clients go by is the same on
// both servers.

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// essential are the words of a schema that decide what may be sent and how it is merged. The others
// are documentation, and required and default, which the model knows in part
// (models/apiserver/openapi_builtin.go).
var essential = []string{
	"type", "format", "$ref", "oneOf", "x-kubernetes-list-type", "x-kubernetes-list-map-keys", "x-kubernetes-map-type",
	"x-kubernetes-patch-strategy", "x-kubernetes-patch-merge-key", "x-kubernetes-group-version-kind",
}

// unknownToConfigurations are the markers that the schemas of apply configurations leave out.
var unknownToConfigurations = []string{
	"io.k8s.api.core.v1.PersistentVolumeClaimStatus.allocatedResourceStatuses x-kubernetes-map-type",
	"io.k8s.api.core.v1.PersistentVolumeSpec.claimRef x-kubernetes-map-type",
}

func TestOpenAPI(t *testing.T) {
	model, err := StartModel()
	if err != nil {
		t.Fatal(err)
	}
	var arms [2]*T
	for i, arm := range []Arm{real, model} {
		if arms[i], err = newT(t.Context(), arm, "openapi"); err != nil {
			t.Fatal(err)
		}
		defer arms[i].close()
	}
	compared := 0
	for _, root := range []string{"api/v1", "apis/apps/v1", "apis/batch/v1", "apis/autoscaling/v2",
		"apis/networking.k8s.io/v1", "apis/policy/v1", "apis/events.k8s.io/v1",
		"apis/rbac.authorization.k8s.io/v1", "apis/storage.k8s.io/v1", "apis/coordination.k8s.io/v1",
		"apis/discovery.k8s.io/v1", "apis/scheduling.k8s.io/v1"} {
		want, got := schemasAt(t, arms[0], root), schemasAt(t, arms[1], root)
		for name := range got {
			if want[name] == nil {
				t.Errorf("%s: %s is not known to the real server", root, name)
				continue
			}
			compared++
			if diff := cmp.Diff(essence(name, want[name]), essence(name, got[name])); diff != "" {
				t.Errorf("%s: %s: the model (+) differs from kube-apiserver (-):\n%s", root, name, diff)
			}
		}
	}
	t.Logf("%d schemas compared", compared)
}

func schemasAt(t *testing.T, arm *T, root string) map[string]any {
	code, _, data, err := arm.roundTrip(http.MethodGet, "/openapi/v3/"+root, nil, nil)
	if err != nil || code != http.StatusOK {
		t.Fatalf("%s: %d %v", root, code, err)
	}
	document, _ := decode(data).(map[string]any)
	components, _ := document["components"].(map[string]any)
	schemas, _ := components["schemas"].(map[string]any)
	return schemas
}

// essence keeps of a schema what is essential, under the paths of its properties.
func essence(name string, schema any) map[string]any {
	out := map[string]any{}
	var walk func(path string, v any)
	walk = func(path string, v any) {
		s, _ := v.(map[string]any)
		if all, ok := s["allOf"].([]any); ok && len(all) == 1 {
			walk(path, all[0])
		}
		for _, word := range essential {
			if at := path + " " + word; s[word] != nil && !slices.Contains(unknownToConfigurations, at) {
				out[at] = s[word]
			}
		}
		walkInto := func(name string, v any) {
			if v != nil {
				walk(path+name, v)
			}
		}
		walkInto("[]", s["items"])
		walkInto("{}", s["additionalProperties"])
		properties, _ := s["properties"].(map[string]any)
		for name, p := range properties {
			walk(path+"."+strings.TrimSpace(name), p)
		}
	}
	walk(name, schema)
	return out
}
