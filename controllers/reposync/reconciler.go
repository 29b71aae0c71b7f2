// This file holds the reconciler, which there is one of for each RepoSync, with the rights of
// its ServiceAccount.

package reposync

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/wavetank/wavetank/controllers/reposync/v1beta1"
)

// How often the reconciler looks whether what it manages is still as declared, and whether what it
// deletes has gone.
const (
	syncPeriod    = time.Minute
	destroyPeriod = 2 * time.Second
)

// Reconciler syncs one RepoSync or RootSync. Fill in the exported fields and call SetupWithManager.
type Reconciler struct {
	// Sync is the RepoSync, or the RootSync if its namespace is [Namespace].
	Sync types.NamespacedName
	// Source returns what the repository declares, each object after those that it depends on. A
	// RepoSync declares objects in its namespace only; those of a RootSync may have a
	// [NamespaceSelector].
	Source func(context.Context, v1beta1.Sync) ([]*unstructured.Unstructured, error)
	// Variant is the policy; the zero value is the fixed one, V10.
	Variant Variant

	policy policy
	writer
}

// SetupWithManager registers the reconciler. The manager's cache should be restricted to the
// namespace of the sync: the reconciler of a RepoSync has no rights for more.
func (r *Reconciler) SetupWithManager(mgr ctrl.Manager) error {
	var err error
	if r.policy, err = r.Variant.policy(); err != nil {
		return err
	}
	r.writer = writer{mgr.GetClient(), mgr.GetAPIReader(), r.policy.patches}
	return ctrl.NewControllerManagedBy(mgr).Named("reconciler").For(newSync(r.Sync)).Complete(r)
}

// Reconcile syncs, or cleans up.
func (r *Reconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	if req.NamespacedName != r.Sync {
		return ctrl.Result{}, nil
	}
	// The cache may not know of a deletion whose work has been done: nothing of that may be undone.
	sync := newSync(r.Sync)
	reader := r.live
	if r.policy.cached {
		reader = r.client
	}
	if err := reader.Get(ctx, req.NamespacedName, sync); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	switch {
	case sync.GetDeletionTimestamp().IsZero():
		return ctrl.Result{RequeueAfter: syncPeriod}, r.sync(ctx, sync)
	case controllerutil.ContainsFinalizer(sync, v1beta1.ReconcilerFinalizer):
		return r.finalize(ctx, sync)
	}
	return ctrl.Result{}, nil
}

func foreground(sync v1beta1.Sync) bool {
	return sync.GetAnnotations()[v1beta1.DeletionPropagationPolicy] == v1beta1.Foreground
}

// sync makes the cluster what the repository declares.
func (r *Reconciler) sync(ctx context.Context, sync v1beta1.Sync) error {
	changed := false
	if foreground(sync) {
		changed = controllerutil.AddFinalizer(sync, v1beta1.ReconcilerFinalizer)
	} else {
		changed = controllerutil.RemoveFinalizer(sync, v1beta1.ReconcilerFinalizer)
	}
	if changed {
		if err := r.client.Update(ctx, sync); err != nil {
			return err
		}
	}
	if r.policy.avoids {
		if going, err := terminating(ctx, r.live, r.Sync.Namespace); err != nil || going {
			return err
		}
	}
	declared, err := r.Source(ctx, sync)
	if err != nil {
		return err
	}
	if declared, err = r.placed(ctx, declared); err != nil {
		return fmt.Errorf("the namespaces: %w", err)
	}
	if err := r.record(ctx, declared); err != nil {
		return fmt.Errorf("the inventory: %w", err)
	}
	var failures []string
	for _, o := range declared {
		if err := r.apply(ctx, o); err != nil {
			failures = append(failures, err.Error())
		}
	}
	if len(failures) > 0 {
		message := strings.Join(failures, "; ")
		if err := r.say(ctx, sync, is(v1beta1.Syncing, "Failed", message)); err != nil {
			return err
		}
		return fmt.Errorf("syncing: %s", message)
	}
	return r.say(ctx, sync, metav1.Condition{Type: v1beta1.Syncing, Status: metav1.ConditionFalse, Reason: "Synced"})
}

// record writes down what is going to be managed, before it is.
func (r *Reconciler) record(ctx context.Context, declared objects) error {
	inv := newInventory(r.Sync)
	err := r.client.Get(ctx, r.Sync, inv)
	missing := apierrors.IsNotFound(err)
	if err != nil && !missing {
		return err
	}
	listed, err := contents(inv)
	if err != nil {
		return err
	}
	was := len(listed)
	for _, o := range declared {
		if ref := refTo(o, o.GroupVersionKind().GroupKind()); !slices.Contains(listed, ref) {
			listed = append(listed, ref)
		}
	}
	if len(listed) == was {
		return nil
	}
	spec, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&struct {
		Resources []object `json:"resources"`
	}{listed})
	if err != nil {
		return err
	}
	inv.Object["spec"] = spec
	if missing {
		return r.client.Create(ctx, inv)
	}
	return r.client.Update(ctx, inv)
}

// apply creates an object that is not there. No other program changes these objects.
func (r *Reconciler) apply(ctx context.Context, declared *unstructured.Unstructured) error {
	o := declared.DeepCopy()
	err := r.client.Get(ctx, client.ObjectKeyFromObject(o), o)
	if apierrors.IsNotFound(err) {
		err = r.client.Create(ctx, declared.DeepCopy())
	}
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}

// finalize deletes what is managed, if that is asked for, and takes the reconciler's finalizer off.
func (r *Reconciler) finalize(ctx context.Context, sync v1beta1.Sync) (ctrl.Result, error) {
	if foreground(sync) {
		if apimeta.FindStatusCondition(sync.Says().Conditions, v1beta1.ReconcilerFinalizing) == nil {
			if err := r.say(ctx, sync, is(v1beta1.ReconcilerFinalizing, "ResourcesDeleting",
				"Deleting managed resource objects")); err != nil {
				return ctrl.Result{}, err
			}
		}
		waits, err := r.clear(ctx)
		if err != nil {
			// It may be that this cannot be written either. The error is what counts.
			_ = r.say(ctx, sync, is(v1beta1.ReconcilerFinalizerFailure, "DestroyFailure", err.Error()))
			return ctrl.Result{}, err
		}
		if waits != "" {
			return ctrl.Result{RequeueAfter: destroyPeriod}, r.say(ctx, sync, not(v1beta1.ReconcilerFinalizerFailure),
				is(v1beta1.ReconcilerFinalizing, "ResourcesDeleting", "Waiting for "+waits))
		}
	}
	if err := r.say(ctx, sync, not(v1beta1.ReconcilerFinalizing), not(v1beta1.ReconcilerFinalizerFailure)); err != nil {
		return ctrl.Result{}, err
	}
	return ctrl.Result{}, r.release(ctx, sync, v1beta1.ReconcilerFinalizer)
}

// clear deletes what is managed, unless the variant may leave that to the namespace controller.
func (r *Reconciler) clear(ctx context.Context) (waits string, err error) {
	if r.policy.skips {
		needless, err := r.needless(ctx)
		if err != nil || needless {
			return "", err
		}
	}
	return r.policy.destroy(ctx, r.client, r.Sync)
}

// needless reports whether the namespace terminates and no object depends on another.
func (r *Reconciler) needless(ctx context.Context) (bool, error) {
	if is, err := terminating(ctx, r.live, r.Sync.Namespace); err != nil || !is {
		return false, err
	}
	inv := newInventory(r.Sync)
	if err := r.client.Get(ctx, r.Sync, inv); err != nil {
		return apierrors.IsNotFound(err), client.IgnoreNotFound(err)
	}
	all, err := present(ctx, r.client, inv)
	return !slices.ContainsFunc(all, func(m managed) bool { return len(needs(m)) > 0 }), err
}

// terminating reports whether a namespace is being deleted, as far as the reader knows.
func terminating(ctx context.Context, c client.Reader, name string) (bool, error) {
	n := &corev1.Namespace{}
	if err := c.Get(ctx, types.NamespacedName{Name: name}, n); err != nil {
		return false, client.IgnoreNotFound(err)
	}
	return n.Status.Phase == corev1.NamespaceTerminating, nil
}

// NamespaceSelector is the annotation of an object that is to be in every namespace whose labels it
// selects. Its value is the selector; that of Config Sync is the name of an object that holds it.
const NamespaceSelector = "configmanagement.gke.io/namespace-selector"

type objects = []*unstructured.Unstructured

// placed puts a copy of each object that selects namespaces into each of them, and leaves the
// others as they are.
func (r *Reconciler) placed(ctx context.Context, declared objects) (out objects, err error) {
	for _, o := range declared {
		selector := o.GetAnnotations()[NamespaceSelector]
		if selector == "" {
			out = append(out, o)
			continue
		}
		selects, err := labels.Parse(selector)
		if err != nil {
			return nil, fmt.Errorf("%s %s: %w", o.GetKind(), o.GetName(), err)
		}
		var all corev1.NamespaceList
		if err := r.live.List(ctx, &all, client.MatchingLabelsSelector{Selector: selects}); err != nil {
			return nil, err
		}
		for i := range all.Items {
			if r.policy.avoids && !all.Items[i].DeletionTimestamp.IsZero() {
				continue
			}
			copied := o.DeepCopy()
			copied.SetNamespace(all.Items[i].Name)
			out = append(out, copied)
		}
	}
	return out, nil
}
