// This file exists to hold the CRDs and the Go types together: whatever a type can say, the schema must keep and accept.

package reposync

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/json"

	"github.com/wavetank/wavetank/controllers/reposync/v1beta1"
)

func fullRepoSync() *v1beta1.RepoSync {
	return &v1beta1.RepoSync{
		Spec: v1beta1.RepoSyncSpec{SourceFormat: "unstructured", SourceType: "git", Git: &v1beta1.Git{
			Repo: "https://git.example/shop", Revision: "main", Dir: "shop", Auth: "token", SecretRef: v1beta1.SecretRef{Name: "git-creds"},
		}},
		Status: v1beta1.RepoSyncStatus{ObservedGeneration: 1, Reconciler: "ns-reconciler-shop", Conditions: []metav1.Condition{
			{Type: v1beta1.Stalled, Status: metav1.ConditionTrue, ObservedGeneration: 1, LastTransitionTime: metav1.Unix(1, 0), Reason: "R", Message: "m"},
		}},
	}
}

// kinds are objects that fill every field.
func kinds(t *testing.T) map[string]map[string]any {
	inventory := newInventory(types.NamespacedName{Namespace: "shop", Name: "repo-sync"})
	inventory.Object["spec"] = map[string]any{"resources": []any{map[string]any{"group": "", "kind": "ConfigMap", "namespace": "shop", "name": "a"}}}
	return map[string]map[string]any{"RepoSync": asMap(t, fullRepoSync()), "ResourceGroup": inventory.Object}
}

func TestSchemasKeepAndAcceptWhatTheTypesSay(t *testing.T) {
	for _, crd := range CRDs() {
		internal := &apiextensions.JSONSchemaProps{}
		if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(
			crd.Spec.Versions[0].Schema.OpenAPIV3Schema, internal, nil); err != nil {
			t.Fatal(err)
		}
		structural, err := schema.NewStructural(internal)
		if err != nil {
			t.Fatal(err)
		}
		validator, _, err := validation.NewSchemaValidator(internal)
		if err != nil {
			t.Fatal(err)
		}
		sent, kept := kinds(t)[crd.Spec.Names.Kind], asMap(t, kinds(t)[crd.Spec.Names.Kind])
		pruning.Prune(kept, structural, true)
		if diff := cmp.Diff(asMap(t, sent), kept); diff != "" {
			t.Errorf("the schema of %s drops fields (-sent +kept):\n%s", crd.Name, diff)
		}
		if errs := validation.ValidateCustomResource(nil, kept, validator); len(errs) > 0 {
			t.Errorf("the schema of %s refuses what the type says: %v", crd.Name, errs.ToAggregate())
		}
	}
}

func TestDeepCopiesShareNothing(t *testing.T) {
	original := fullRepoSync()
	before, copied := asMap(t, original), original.DeepCopy()
	if diff := cmp.Diff(before, asMap(t, copied)); diff != "" {
		t.Errorf("a copy differs (-original +copy):\n%s", diff)
	}
	copied.Spec.Git.Repo, copied.Status.Conditions[0].Message = "changed", "changed"
	if diff := cmp.Diff(before, asMap(t, original)); diff != "" {
		t.Errorf("writing to a copy changed the original (-before +after):\n%s", diff)
	}
}

// What depends-on says is read as kpt writes it, and what is not of that form is nobody's dependency.
func TestNeeds(t *testing.T) {
	o := newInventory(types.NamespacedName{Namespace: "shop", Name: "repo-sync"})
	o.SetAnnotations(map[string]string{DependsOn: "/namespaces/shop/Service/database, rbac.authorization.k8s.io/namespaces/shop/RoleBinding/b,rubbish"})
	want := []object{{"", "Service", "shop", "database"}, {"rbac.authorization.k8s.io", "RoleBinding", "shop", "b"}}
	if diff := cmp.Diff(want, needs(o)); diff != "" {
		t.Error(diff)
	}
}

func asMap(t *testing.T, obj any) map[string]any {
	t.Helper()
	data, err := json.Marshal(obj)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]any{}
	if err := json.Unmarshal(data, &out); err != nil {
		t.Fatal(err)
	}
	return out
}
