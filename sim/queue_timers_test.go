package sim_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/wavetank/wavetank/sim"
)

// attempt is what a reconcile does: it may write the object, so that an event makes the key due
// again meanwhile; it is busy for some time, in which a timer may fire; and it returns.
type attempt struct {
	write bool
	busy  time.Duration
	after time.Duration
	err   error
}

// attempts is a reconciler whose reconciles follow a plan, and end with one that does nothing.
type attempts struct {
	client.Client
	plan []attempt
	n    int
}

// Reconcile implements reconcile.Reconciler.
func (r *attempts) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	var cm corev1.ConfigMap
	if err := r.Get(ctx, req.NamespacedName, &cm); err != nil || r.n == len(r.plan) {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	a := r.plan[r.n]
	r.n++
	if a.write {
		cm.Data = map[string]string{"n": fmt.Sprint(r.n)}
		if err := r.Update(ctx, &cm); err != nil {
			return ctrl.Result{}, err
		}
	}
	time.Sleep(a.busy)
	return ctrl.Result{RequeueAfter: a.after}, a.err
}

// A timer of the work queue fires while its key is being reconciled because of an event. The world
// settles, with both kinds of queue, and all that was planned has happened.
func TestATimerFiresDuringAReconcile(t *testing.T) {
	failed := errors.New("not yet")
	plans := map[string][]attempt{
		"a back-off": {{write: true, err: failed}, {busy: time.Second, err: failed}, {err: failed}},
		"a back-off, then a requeue": {
			{write: true, err: failed},
			{write: true, busy: 10 * time.Millisecond, after: 15 * time.Second},
			{busy: 4 * time.Millisecond, after: 15 * time.Second},
		},
		"at the instant of the end": {{write: true, err: failed}, {busy: 5 * time.Millisecond, err: failed},
			{err: failed}},
		"a requeue": {{write: true, after: time.Second}, {busy: 2 * time.Second, after: time.Minute},
			{after: time.Second}},
	}
	for name, plan := range plans {
		for _, priority := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/priority=%v", name, priority), func(t *testing.T) {
				var r *attempts
				report := sim.Explore(t, func(w *sim.World) {
					o := ctrl.Options{}
					o.Controller.UsePriorityQueue = &priority
					w.Start("op", func(mgr ctrl.Manager) error {
						r = &attempts{Client: mgr.GetClient(), plan: plan}
						return ctrl.NewControllerManagedBy(mgr).For(&corev1.ConfigMap{}).Complete(r)
					}, sim.Options(o))
					w.Apply(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "a"}})
					w.Settle()
				}, sim.Runs(1))
				if err := report.Err(); err != nil {
					t.Error(err)
				} else if r.n != len(plan) {
					t.Errorf("the world has settled after %d of %d planned reconciles", r.n, len(plan))
				}
			})
		}
	}
}
