// This file tests that the schemas of the CRDs keep and accept whatever the Go types can say.

package reposync

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wavetank/wavetank/controllers/internal/crdtest"
	"github.com/wavetank/wavetank/controllers/reposync/v1beta1"
)

func fullRepoSync() *v1beta1.RepoSync {
	return &v1beta1.RepoSync{
		Spec: v1beta1.SyncSpec{SourceFormat: "unstructured", SourceType: "git", Git: &v1beta1.Git{
			Repo: "https://git.example/shop", Revision: "main", Dir: "shop", Auth: "token",
			SecretRef: v1beta1.SecretRef{Name: "git-creds"},
		}},
		Status: v1beta1.SyncStatus{ObservedGeneration: 1, Reconciler: "ns-reconciler-shop",
			Conditions: []metav1.Condition{
				{Type: v1beta1.Stalled, Status: metav1.ConditionTrue, ObservedGeneration: 1,
					LastTransitionTime: metav1.Unix(1, 0), Reason: "R", Message: "m"},
			}},
	}
}

func fullRootSync() *v1beta1.RootSync {
	repo := fullRepoSync()
	return &v1beta1.RootSync{Spec: repo.Spec, Status: repo.Status}
}

func TestSchemasKeepAndAcceptWhatTheTypesSay(t *testing.T) {
	inventory := newInventory(types.NamespacedName{Namespace: "shop", Name: "repo-sync"})
	inventory.Object["spec"] = map[string]any{"resources": []any{map[string]any{"group": "", "kind": "ConfigMap",
		"namespace": "shop", "name": "a"}}}
	crdtest.Of(t, CRDs(), "RepoSync").Takes(t, fullRepoSync())
	crdtest.Of(t, CRDs(), "RootSync").Takes(t, fullRootSync())
	crdtest.Of(t, CRDs(), "ResourceGroup").Takes(t, inventory)
}

// What depends-on says is read as kpt writes it, and what is not of that form is nobody's
// dependency.
func TestNeeds(t *testing.T) {
	o := newInventory(types.NamespacedName{Namespace: "shop", Name: "repo-sync"})
	o.SetAnnotations(map[string]string{DependsOn: "/namespaces/shop/Service/database, " +
		"rbac.authorization.k8s.io/namespaces/shop/RoleBinding/b,rubbish"})
	want := []object{{"", "Service", "shop", "database"}, {"rbac.authorization.k8s.io", "RoleBinding", "shop", "b"}}
	if diff := cmp.Diff(want, needs(o)); diff != "" {
		t.Error(diff)
	}
}
