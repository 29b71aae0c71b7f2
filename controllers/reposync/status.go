// This file holds the writes to a RepoSync or a RootSync, which two programs make.

package reposync

import (
	"context"
	"fmt"
	"slices"

	rbacv1 "k8s.io/api/rbac/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/wavetank/wavetank/controllers/reposync/v1beta1"
)

// writer changes syncs as they are on the server. It tries again after a conflict.
type writer struct {
	client  client.Client
	live    client.Reader
	patches bool
}

// modify lets change alter the sync, and writes it by write if it did. One that has gone, or is
// another by now, is left alone.
func (w writer) modify(ctx context.Context, sync v1beta1.Sync, change func(v1beta1.Sync),
	write func(v1beta1.Sync) error) error {
	return client.IgnoreNotFound(retry.RetryOnConflict(retry.DefaultRetry, func() error {
		now := newSync(client.ObjectKeyFromObject(sync))
		if err := w.live.Get(ctx, client.ObjectKeyFromObject(sync), now); err != nil {
			return err
		}
		if now.GetUID() != sync.GetUID() {
			return nil
		}
		was := now.DeepCopyObject()
		change(now)
		if !apiequality.Semantic.DeepEqual(was, now) {
			if err := write(now); err != nil {
				return err
			}
		}
		become(sync, now)
		return nil
	}))
}

// become makes sync a copy of now, which is of the same kind.
func become(sync, now v1beta1.Sync) {
	switch s := sync.(type) {
	case *v1beta1.RepoSync:
		now.(*v1beta1.RepoSync).DeepCopyInto(s)
	case *v1beta1.RootSync:
		now.(*v1beta1.RootSync).DeepCopyInto(s)
	}
}

func (w writer) release(ctx context.Context, sync v1beta1.Sync, finalizer string) error {
	if w.patches {
		return w.strip(ctx, sync, finalizer)
	}
	return w.modify(ctx, sync, func(s v1beta1.Sync) { controllerutil.RemoveFinalizer(s, finalizer) },
		func(s v1beta1.Sync) error { return w.client.Update(ctx, s) })
}

// strip takes a finalizer off by a patch of nothing else. It is not too late for what others write
// meanwhile, unless that is another finalizer.
func (w writer) strip(ctx context.Context, sync v1beta1.Sync, finalizer string) error {
	return client.IgnoreNotFound(retry.OnError(retry.DefaultRetry, apierrors.IsInvalid, func() error {
		now := newSync(client.ObjectKeyFromObject(sync))
		if err := w.live.Get(ctx, client.ObjectKeyFromObject(sync), now); err != nil {
			return err
		}
		i := slices.Index(now.GetFinalizers(), finalizer)
		if i < 0 || now.GetUID() != sync.GetUID() {
			return nil
		}
		const patch = `[{"op":"test","path":"/metadata/uid","value":%q},{"op":"test","path":%q,"value":%q},` +
			`{"op":"remove","path":%[2]q}]`
		raw := fmt.Appendf(nil, patch, now.GetUID(), fmt.Sprintf("/metadata/finalizers/%d", i), finalizer)
		if err := w.client.Patch(ctx, now, client.RawPatch(types.JSONPatchType, raw)); err != nil {
			return err
		}
		become(sync, now)
		return nil
	}))
}

// say sets conditions. One without a reason is removed.
func (w writer) say(ctx context.Context, sync v1beta1.Sync, conditions ...metav1.Condition) error {
	return w.modify(ctx, sync, func(s v1beta1.Sync) {
		for _, c := range conditions {
			if c.Reason == "" {
				apimeta.RemoveStatusCondition(&s.Says().Conditions, c.Type)
			} else {
				apimeta.SetStatusCondition(&s.Says().Conditions, c)
			}
		}
		s.Says().ObservedGeneration = s.GetGeneration()
		s.Says().Reconciler = ReconcilerName(client.ObjectKeyFromObject(s))
	}, func(s v1beta1.Sync) error { return w.client.Status().Update(ctx, s) })
}

func is(kind, reason, message string) metav1.Condition {
	return metav1.Condition{Type: kind, Status: metav1.ConditionTrue, Reason: reason, Message: message}
}

// not removes a condition.
func not(kind string) metav1.Condition { return metav1.Condition{Type: kind} }

// Namespace is the system namespace, where reconcilers run and RootSyncs are. No RepoSync is there.
const Namespace = "config-management-system"

// BindingName is the name of the RoleBinding that gives all reconcilers of a namespace their
// rights, and of its ClusterRole. RootBindingName is the ClusterRoleBinding of RootSyncs'
// reconcilers.
const (
	BindingName     = "configsync.gke.io:ns-reconciler"
	RootBindingName = "configsync.gke.io:root-reconciler"
)

// Labels of what belongs to a RepoSync or RootSync in the system namespace.
const (
	SyncNamespaceLabel = "configsync.gke.io/sync-namespace"
	SyncNameLabel      = "configsync.gke.io/sync-name"
)

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
