package world

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-logr/logr/funcr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/wavetank/wavetank/history"
)

// A killed program does not go on: if its goroutines did, and lost the lease while
// controller-runtime still waited for a reconcile whose request has no answer, it would write a
// field that it reads without a lock, and the race detector would fail the test of an operator that
// is right (manager.gracefulShutdownTimeout).
func TestADeadLeaderDoesNotLoseItsLease(t *testing.T) {
	var lost atomic.Int32
	log := funcr.New(func(_, args string) {
		if strings.Contains(args, "leader election lost") {
			lost.Add(1)
		}
	}, funcr.Options{})
	killed := false
	scenario := func(w *World) {
		lost.Store(0) // what ended with the run before lost its lease in order
		w.Start("op", func(mgr ctrl.Manager) error {
			return ctrl.NewControllerManagedBy(mgr).Named("op").For(&corev1.ConfigMap{}).
				Complete(reconcile.Func(func(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
					var cm corev1.ConfigMap
					return reconcile.Result{}, mgr.GetAPIReader().Get(ctx, req.NamespacedName, &cm)
				}))
		}, ProcessOptions{Manager: ctrl.Options{LeaderElection: true, LeaderElectionID: "op", Logger: log}})
		w.Apply(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "a"}})
		for range 1000 {
			if e := w.History().Events; e[len(e)-1].Kind == history.Request && !e[len(e)-1].Reconcile.None() {
				w.procs.Find("op").Current().Kill() // it waits for the reply
				killed = true
				break
			}
			w.sched.Step(w.sched.Now() + time.Second)
		}
		w.Sleep(time.Minute)
		if lost.Load() > 0 {
			t.Error("the dead program says that it has lost the lease")
		}
		w.Settle()
	}
	pass(t, scenario, 3)
	if !killed {
		t.Fatal("the leader was never killed")
	}
}
