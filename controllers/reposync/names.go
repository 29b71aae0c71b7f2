// This file holds the names under which the programs of the operator find each other's
// objects.

package reposync

import (
	"fmt"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/wavetank/wavetank/controllers/reposync/v1beta1"
)

// Namespace is the system namespace, where reconcilers run and RootSyncs are. No RepoSync is there.
const Namespace = "config-management-system"

// BindingName is the name of the RoleBinding that gives all reconcilers of a namespace their
// rights, and of the ClusterRole that it refers to. RootBindingName is that of the
// ClusterRoleBinding by which the reconcilers of RootSyncs are cluster-admin.
const (
	BindingName     = "configsync.gke.io:ns-reconciler"
	RootBindingName = "configsync.gke.io:root-reconciler"
)

// Labels of what belongs to a RepoSync or RootSync in the system namespace.
const (
	SyncNamespaceLabel = "configsync.gke.io/sync-namespace"
	SyncNameLabel      = "configsync.gke.io/sync-name"
)

// isRoot reports whether a name is that of a RootSync.
func isRoot(sync types.NamespacedName) bool { return sync.Namespace == Namespace }

// newSync is an empty RootSync or RepoSync, as the name asks for.
func newSync(sync types.NamespacedName) v1beta1.Sync {
	if isRoot(sync) {
		return &v1beta1.RootSync{}
	}
	return &v1beta1.RepoSync{}
}

// ReconcilerName is the name of a RepoSync's or RootSync's Deployment and ServiceAccount.
func ReconcilerName(sync types.NamespacedName) string {
	switch {
	case isRoot(sync) && sync.Name == "root-sync":
		return "root-reconciler"
	case isRoot(sync):
		return fmt.Sprintf("root-reconciler-%s-%d", sync.Name, len(sync.Name))
	case sync.Name == "repo-sync":
		return "ns-reconciler-" + sync.Namespace
	}
	return fmt.Sprintf("ns-reconciler-%s-%s-%d", sync.Namespace, sync.Name, len(sync.Name))
}

// in is the metadata of an object of a sync in the system namespace.
func in(sync types.NamespacedName, suffix string) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Namespace: Namespace, Name: ReconcilerName(sync) + suffix,
		Labels: map[string]string{SyncNamespaceLabel: sync.Namespace, SyncNameLabel: sync.Name},
	}
}

// syncOf is the RepoSync or RootSync that an object in the system namespace belongs to.
func syncOf(o client.Object) (sync types.NamespacedName, ok bool) {
	l := o.GetLabels()
	sync = types.NamespacedName{Namespace: l[SyncNamespaceLabel], Name: l[SyncNameLabel]}
	return sync, o.GetNamespace() == Namespace && sync.Name != ""
}

// ReconcilerRole is the ClusterRole of the reconcilers of RepoSyncs. It says nothing of what they
// manage, for which users give them rights.
func ReconcilerRole() *rbacv1.ClusterRole {
	rule := func(group, verbs string, resources ...string) rbacv1.PolicyRule {
		r := rbacv1.PolicyRule{APIGroups: []string{group}, Resources: resources,
			Verbs: []string{"get", "list", "watch"}}
		if verbs == "write" {
			r.Verbs = append(r.Verbs, "create", "update", "patch", "delete")
		}
		return r
	}
	return &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: BindingName}, Rules: []rbacv1.PolicyRule{
		rule(v1beta1.GroupVersion.Group, "write", "reposyncs", "reposyncs/status"),
		rule(inventoryKind.Group, "write", "resourcegroups"),
		rule("", "read", "namespaces"),
	}}
}
