// This file exists for writing to a RepoSync, which two programs do.

package reposync

import (
	"context"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/wavetank/wavetank/controllers/reposync/v1beta1"
)

// writer changes RepoSyncs as they are on the server, again if somebody else came first.
type writer struct {
	client client.Client
	live   client.Reader
}

// modify lets change alter the RepoSync, and writes it by write if it did. One that has gone, or is another by now, is left
// alone.
func (w writer) modify(ctx context.Context, sync *v1beta1.RepoSync, change func(*v1beta1.RepoSync), write func(*v1beta1.RepoSync) error) error {
	return client.IgnoreNotFound(retry.RetryOnConflict(retry.DefaultRetry, func() error {
		now := &v1beta1.RepoSync{}
		if err := w.live.Get(ctx, client.ObjectKeyFromObject(sync), now); err != nil {
			return err
		}
		if now.UID != sync.UID {
			return nil
		}
		was := now.DeepCopy()
		change(now)
		if !apiequality.Semantic.DeepEqual(was, now) {
			if err := write(now); err != nil {
				return err
			}
		}
		now.DeepCopyInto(sync)
		return nil
	}))
}

// release takes a finalizer off.
func (w writer) release(ctx context.Context, sync *v1beta1.RepoSync, finalizer string) error {
	return w.modify(ctx, sync, func(s *v1beta1.RepoSync) { controllerutil.RemoveFinalizer(s, finalizer) },
		func(s *v1beta1.RepoSync) error { return w.client.Update(ctx, s) })
}

// say sets conditions. One without a reason is removed.
func (w writer) say(ctx context.Context, sync *v1beta1.RepoSync, conditions ...metav1.Condition) error {
	return w.modify(ctx, sync, func(s *v1beta1.RepoSync) {
		for _, c := range conditions {
			if c.Reason == "" {
				apimeta.RemoveStatusCondition(&s.Status.Conditions, c.Type)
			} else {
				apimeta.SetStatusCondition(&s.Status.Conditions, c)
			}
		}
		s.Status.ObservedGeneration = s.Generation
		s.Status.Reconciler = ReconcilerName(client.ObjectKeyFromObject(s))
	}, func(s *v1beta1.RepoSync) error { return w.client.Status().Update(ctx, s) })
}

// is is a condition that holds.
func is(kind, reason, message string) metav1.Condition {
	return metav1.Condition{Type: kind, Status: metav1.ConditionTrue, Reason: reason, Message: message}
}

// not is a condition that does not.
func not(kind string) metav1.Condition { return metav1.Condition{Type: kind} }
