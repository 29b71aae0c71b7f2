// This file holds the variant that keeps a Namespace by a finalizer until the RepoSyncs in it
// have gone.

package reposync

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/retry"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/wavetank/wavetank/controllers/reposync/v1beta1"
)

// inhabitants are the RepoSyncs in a namespace.
func (m *Manager) inhabitants(ctx context.Context, o client.Object) []reconcile.Request {
	return m.inNamespace(ctx, o.GetName(), func(v1beta1.Sync) bool { return true })
}

// keepNamespace puts the finalizer on the namespace of a RepoSync. If the namespace is going, it
// deletes the RepoSync, and says so: the reconciler has its rights until the namespace controller
// deletes them.
func (m *Manager) keepNamespace(ctx context.Context, sync v1beta1.Sync) (going bool, err error) {
	n := &corev1.Namespace{}
	if err := m.client.Get(ctx, types.NamespacedName{Name: sync.GetNamespace()}, n); err != nil {
		return false, err
	}
	if n.DeletionTimestamp != nil {
		uid := client.Preconditions{UID: ptr.To(sync.GetUID())}
		return true, client.IgnoreNotFound(m.client.Delete(ctx, sync, uid))
	}
	if controllerutil.AddFinalizer(n, v1beta1.ReconcilerManagerFinalizer) {
		return false, m.client.Update(ctx, n)
	}
	return false, nil
}

// letNamespaceGo takes the finalizer off the namespace of the last RepoSync in it.
func (m *Manager) letNamespaceGo(ctx context.Context, sync v1beta1.Sync) error {
	var all v1beta1.RepoSyncList
	if err := m.live.List(ctx, &all, client.InNamespace(sync.GetNamespace())); err != nil {
		return err
	}
	for i := range all.Items {
		other := &all.Items[i]
		if other.UID != sync.GetUID() && controllerutil.ContainsFinalizer(other, v1beta1.ReconcilerManagerFinalizer) {
			return nil
		}
	}
	return client.IgnoreNotFound(retry.RetryOnConflict(retry.DefaultRetry, func() error {
		n := &corev1.Namespace{}
		if err := m.live.Get(ctx, types.NamespacedName{Name: sync.GetNamespace()}, n); err != nil {
			return err
		}
		if controllerutil.RemoveFinalizer(n, v1beta1.ReconcilerManagerFinalizer) {
			return m.client.Update(ctx, n)
		}
		return nil
	}))
}
