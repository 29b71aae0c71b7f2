package apiserver_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wavetank/wavetank/models/apiserver"
)

const rbacDir = "/apis/rbac.authorization.k8s.io/v1"

// A rule of RBAC may name what looks odd. What kube-apiserver refuses is a row in conformance.
func TestOddNamesInRules(t *testing.T) {
	s := newServer(t)
	must(t, s, "POST", rbacDir+"/namespaces/default/rolebindings", jsonType, `{"metadata":{"name":"b"},`+
		`"roleRef":{"kind":"ClusterRole","name":"system:view"},"subjects":[{"kind":"ServiceAccount","name":"a"},`+
		`{"kind":"User","name":"a/b c"}]}`)
	must(t, s, "POST", rbacDir+"/clusterroles", jsonType, `{"metadata":{"name":"r"},`+
		`"aggregationRule":{"clusterRoleSelectors":[{"matchLabels":{"a":"b"}},{}]}}`)
}

// A rule that takes too long stops at the budget that a server gives each call
// (k8s.io/apiserver/pkg/apis/cel/config.go). The estimate when it is installed allows ten times as
// much.
func TestRulesStopAtTheirBudget(t *testing.T) {
	crd := widgets()
	spec := crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"]
	items, length := int64(20), int64(3)
	spec.Properties["list"] = apiextensionsv1.JSONSchemaProps{Type: "array", MaxItems: &items,
		Items: &apiextensionsv1.JSONSchemaPropsOrArray{
			Schema: &apiextensionsv1.JSONSchemaProps{Type: "string", MaxLength: &length}},
		XValidations: apiextensionsv1.ValidationRules{{
			Rule: "self.all(a, self.all(b, self.all(c, self.all(d, (a + b + c + d).contains('')))))"}}}
	crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"] = spec
	w := widget("a")
	var list []any
	for i := range items {
		list = append(list, fmt.Sprint(i))
	}
	w.Object["spec"] = map[string]any{"list": list}
	err := newClient(t, newServer(t, crd)).Create(context.Background(), w)
	if err == nil || !strings.Contains(err.Error(), "cost") {
		t.Errorf("160,000 steps of a rule ended with %v", err)
	}
}

// owners are the managers of the object in a reply, each with the time of its entry.
func owners(t *testing.T, r *apiserver.Response) map[string]time.Time {
	t.Helper()
	var o struct {
		Metadata metav1.ObjectMeta `json:"metadata"`
	}
	if err := json.Unmarshal(r.Body, &o); err != nil {
		t.Fatal(err)
	}
	out := map[string]time.Time{}
	for _, e := range o.Metadata.ManagedFields {
		out[e.Manager] = e.Time.UTC()
	}
	return out
}

// The rows about ownership take no time, and a row that waited would make everybody wait.
func TestTimesOfOwnership(t *testing.T) {
	start := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	now := start
	s := apiserver.New(apiserver.Options{Now: func() time.Time { return now }, Seed: 1, TrackFields: true})
	const maps = "/api/v1/namespaces/default/configmaps"
	patch := func(manager, body string) map[string]time.Time {
		now = now.Add(time.Minute)
		return owners(t, must(t, s, "PATCH", maps+"/a?fieldManager="+manager, "application/merge-patch+json", body))
	}
	must(t, s, "POST", maps+"?fieldManager=maker", jsonType, `{"metadata":{"name":"a"},"data":{"k":"v"}}`)

	got := patch("other", `{"data":{"l":"v"},"metadata":{"managedFields":[{"manager":"x","operation":"Nope"}]}}`)
	if !got["maker"].Equal(start) || !got["other"].Equal(now) {
		t.Errorf("what the client says is not valid, so that everybody but the writer keeps their time: %v", got)
	}
	for i := range 9 {
		got = patch(fmt.Sprintf("m%d", i), fmt.Sprintf(`{"data":{"k%d":"v"}}`, i))
	}
	if len(got) != 10 || !got["ancient-changes"].Equal(start.Add(time.Minute)) {
		t.Errorf("the oldest two are merged at the time of the later one: %v", got)
	}
	if got = patch("n", `{"data":{"n":"v"}}`); len(got) != 10 ||
		!got["ancient-changes"].Equal(start.Add(2*time.Minute)) {
		t.Errorf("and then those and the next one: %v", got)
	}
}
