// This file holds what the reconciler-manager does while a RepoSync is being deleted.

package reposync

import (
	"context"
	"fmt"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/retry"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/wavetank/wavetank/controllers/reposync/v1beta1"
)

// How soon the manager looks again at a namespace that may begin to terminate, and at what it waits
// for itself.
const (
	namespacePeriod = 10 * time.Second
	teardownPeriod  = 2 * time.Second
)

// release reports whether the manager may take the reconciler's finalizer off; if not, when to ask
// again, and never if that is zero.
type release func(context.Context, *Manager, v1beta1.Sync) (may bool, again time.Duration, err error)

// never waits for the event with which the reconciler takes it off.
func never(context.Context, *Manager, v1beta1.Sync) (bool, time.Duration, error) {
	return false, 0, nil
}

func always(context.Context, *Manager, v1beta1.Sync) (bool, time.Duration, error) {
	return true, 0, nil
}

// whenTerminating reads from the cache whether the namespace of a RepoSync terminates. A later
// change of that does not wake the manager. RootSyncs are left alone: what they manage is
// elsewhere.
func whenTerminating(ctx context.Context, m *Manager, sync v1beta1.Sync) (bool, time.Duration, error) {
	if m.Root {
		return false, 0, nil
	}
	may, err := terminating(ctx, m.client, sync.GetNamespace())
	return may, 0, err
}

// whenTerminatingLive asks the server, and comes back.
func whenTerminatingLive(ctx context.Context, m *Manager, sync v1beta1.Sync) (bool, time.Duration, error) {
	if m.Root {
		return false, 0, nil
	}
	may, err := terminating(ctx, m.live, sync.GetNamespace())
	return may, namespacePeriod, err
}

// lastResort waits for the reconciler for as long as the policy's patience, and reports that. Then
// it ends the reconciler and deletes what is managed in its place.
//
// Pods may outlive their Deployment, forever on an unreachable node, so the manager deletes the
// ServiceAccount: the API server refuses tokens of a deleted account, after ten seconds at most.
// While a RepoSync stays, pods of a deleted Deployment may overlap with those of its successor;
// each creates only what is declared and missing.
func lastResort(ctx context.Context, m *Manager, sync v1beta1.Sync) (bool, time.Duration, error) {
	key := client.ObjectKeyFromObject(sync)
	name := ReconcilerName(key)
	if left := time.Until(sync.GetDeletionTimestamp().Add(m.policy.patience)); left > 0 {
		return false, left, m.say(ctx, sync, is(v1beta1.Stalled, "WaitingForReconciler", fmt.Sprintf(
			"Waiting for %s to delete what it manages; if it has not by %v after the deletion, "+
				"the reconciler-manager does",
			name, m.policy.patience)))
	}
	if gone, err := m.undeploy(ctx, sync); err != nil || !gone {
		return false, teardownPeriod, err
	}
	if err := m.client.Delete(ctx, &corev1.ServiceAccount{ObjectMeta: in(key, "")}); client.IgnoreNotFound(err) != nil {
		return false, 0, err
	}
	uid := sync.GetUID()
	// a user may have changed the propagation policy
	if err := m.live.Get(ctx, key, sync); err != nil || sync.GetUID() != uid {
		return false, 0, client.IgnoreNotFound(err)
	}
	if !foreground(sync) {
		return true, 0, nil
	}
	waits, err := m.policy.destroy(ctx, m.client, key)
	switch {
	case err != nil:
		text := fmt.Sprintf("In the place of %s: %v", name, err)
		_ = m.say(ctx, sync, is(v1beta1.Stalled, "ReconcilerReplaced", text))
		return false, 0, err
	case waits != "":
		return false, teardownPeriod, m.say(ctx, sync, is(v1beta1.Stalled, "ReconcilerReplaced",
			"In the place of "+name+", which has not finished, the reconciler-manager waits for "+waits))
	}
	return true, 0, nil
}

// finalize takes away what was made for a RepoSync and lets it go.
func (m *Manager) finalize(ctx context.Context, sync v1beta1.Sync) (ctrl.Result, error) {
	if controllerutil.ContainsFinalizer(sync, v1beta1.ReconcilerFinalizer) {
		may, again, err := m.policy.release(ctx, m, sync)
		if err != nil || !may {
			return ctrl.Result{RequeueAfter: again}, err
		}
		if err := m.release(ctx, sync, v1beta1.ReconcilerFinalizer); err != nil {
			return ctrl.Result{}, err
		}
	}
	if wait, err := m.dismantle(ctx, sync); err != nil || wait > 0 {
		return ctrl.Result{RequeueAfter: wait}, err
	}
	if m.policy.ahead {
		if err := m.letNamespaceGo(ctx, sync); err != nil {
			return ctrl.Result{}, err
		}
	}
	return ctrl.Result{}, m.release(ctx, sync, v1beta1.ReconcilerManagerFinalizer)
}

// dismantle deletes what was made for a sync, or returns when to continue.
func (m *Manager) dismantle(ctx context.Context, sync v1beta1.Sync) (wait time.Duration, err error) {
	gone, err := m.undeploy(ctx, sync)
	if err != nil {
		return 0, err
	}
	if !gone && m.policy.keepsBinding {
		return teardownPeriod, nil
	}
	key := client.ObjectKeyFromObject(sync)
	if err := m.revoke(ctx, sync); err != nil {
		return 0, err
	}
	made := []client.Object{&corev1.ConfigMap{ObjectMeta: in(key, "-git-sync")}}
	if name := secretOf(sync); name != "" {
		made = append(made, &corev1.Secret{ObjectMeta: in(key, "-"+name)})
	}
	for _, o := range append(made, &corev1.ServiceAccount{ObjectMeta: in(key, "")}) {
		if err := m.client.Delete(ctx, o); client.IgnoreNotFound(err) != nil {
			return 0, err
		}
	}
	return 0, nil
}

// bereft deletes what was made for a sync that has gone, perhaps because a user removed its
// finalizers. A pass may have ended anywhere. All that is deleted after the binding is watched, so
// a manager that starts learns of the rest.
func (m *Manager) bereft(ctx context.Context, key types.NamespacedName) (ctrl.Result, error) {
	if !m.policy.sweeps {
		return ctrl.Result{}, nil
	}
	sync := newSync(key)
	if err := m.live.Get(ctx, key, sync); !apierrors.IsNotFound(err) {
		return ctrl.Result{}, err // the cache has not heard of it yet
	}
	if err := m.discard(ctx, key); err != nil {
		return ctrl.Result{}, err
	}
	sync.SetNamespace(key.Namespace)
	sync.SetName(key.Name)
	wait, err := m.dismantle(ctx, sync)
	return ctrl.Result{RequeueAfter: wait}, err
}

// discard deletes all Secrets that were copied for a sync. Their names are not known any more.
func (m *Manager) discard(ctx context.Context, key types.NamespacedName) error {
	var copies corev1.SecretList
	mine := client.MatchingLabels(in(key, "").Labels)
	if err := m.live.List(ctx, &copies, client.InNamespace(Namespace), mine); err != nil {
		return err
	}
	for i := range copies.Items {
		if err := m.client.Delete(ctx, &copies.Items[i]); client.IgnoreNotFound(err) != nil {
			return err
		}
	}
	return nil
}

// undeploy deletes the Deployment of a reconciler, and reports whether it has gone.
func (m *Manager) undeploy(ctx context.Context, sync v1beta1.Sync) (gone bool, err error) {
	d := &appsv1.Deployment{ObjectMeta: in(client.ObjectKeyFromObject(sync), "")}
	if err := m.client.Delete(ctx, d); client.IgnoreNotFound(err) != nil {
		return false, err
	}
	err = m.live.Get(ctx, client.ObjectKeyFromObject(d), d)
	return apierrors.IsNotFound(err), client.IgnoreNotFound(err)
}

// revoke takes a reconciler's rights away: its subject off the binding, or the binding itself if it
// serves no other reconciler.
func (m *Manager) revoke(ctx context.Context, sync v1beta1.Sync) error {
	b := m.policy.binding(m.Root, sync.GetNamespace())
	if err := m.live.Get(ctx, client.ObjectKeyFromObject(b), b.Object); err != nil {
		return client.IgnoreNotFound(err)
	}
	mine := subject(client.ObjectKeyFromObject(sync))
	*b.subjects = slices.DeleteFunc(*b.subjects, func(s rbacv1.Subject) bool { return s == mine })
	if len(*b.subjects) > 0 {
		return m.client.Update(ctx, b.Object)
	}
	if controllerutil.RemoveFinalizer(b, v1beta1.ReconcilerManagerFinalizer) {
		if err := m.client.Update(ctx, b.Object); err != nil {
			return client.IgnoreNotFound(err)
		}
	}
	return client.IgnoreNotFound(m.client.Delete(ctx, b.Object))
}

func (m *Manager) inhabitants(ctx context.Context, o client.Object) []reconcile.Request {
	return m.inNamespace(ctx, o.GetName(), func(v1beta1.Sync) bool { return true })
}

// keepNamespace puts the finalizer on the namespace of a RepoSync. If the namespace is being
// deleted, it deletes the RepoSync, and reports that.
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
