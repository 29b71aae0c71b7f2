// This file tests how the annotation depends-on is read.

package reposync

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"
)

func TestNeedsIgnoresWhatIsMalformed(t *testing.T) {
	o := newInventory(types.NamespacedName{Namespace: "shop", Name: "repo-sync"})
	o.SetAnnotations(map[string]string{DependsOn: "/namespaces/shop/Service/database, " +
		"rbac.authorization.k8s.io/namespaces/shop/RoleBinding/b,rubbish"})
	want := []object{{"", "Service", "shop", "database"}, {"rbac.authorization.k8s.io", "RoleBinding", "shop", "b"}}
	if diff := cmp.Diff(want, needs(o)); diff != "" {
		t.Error(diff)
	}
}
