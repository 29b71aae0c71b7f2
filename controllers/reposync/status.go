// This file holds the writes to a RepoSync or a RootSync, which two programs make.

package reposync

import (
	"context"
	"fmt"
	"slices"

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
	client client.Client
	live   client.Reader
	// patches is that of the policy.
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

// release takes a finalizer off.
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

// is is a condition that is true.
func is(kind, reason, message string) metav1.Condition {
	return metav1.Condition{Type: kind, Status: metav1.ConditionTrue, Reason: reason, Message: message}
}

// not is a condition that does not.
func not(kind string) metav1.Condition { return metav1.Condition{Type: kind} }
