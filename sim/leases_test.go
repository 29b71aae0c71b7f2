// This file exists for what becomes of leases when who holds them is gone.

package sim

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
	"github.com/wavetank/wavetank/sim/internal/shell"
)

// A killed program does not go on: if its goroutines did, and lost the lease while controller-runtime still waited for a reconcile
// whose request has no answer, it would write a field that it reads without a lock, and the race detector would fail the test of an
// operator that is right (manager.gracefulShutdownTimeout).
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
		}, Options(ctrl.Options{LeaderElection: true, LeaderElectionID: "op", Logger: log}))
		w.Apply(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "a"}})
		for range 1000 {
			if e := w.History().Events; e[len(e)-1].Kind == history.Request && e[len(e)-1].Reconcile != "" {
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
	if r := Explore(t, scenario, Runs(3), For(0)); r.Failure != nil || !killed {
		t.Fatalf("killed: %v, failure %v", killed, r.Failure)
	}
}

// What package testing does not tell, the verdict guesses: without the race detector it was no race, and with it whose race it is
// can be read off the report.
func TestWhoFailedTheTestIsTold(t *testing.T) {
	if said := whyFailed(false); strings.Contains(said, "race") || !strings.Contains(said, "t.Fatal") {
		t.Error(said)
	}
	for _, want := range []string{"the race detector found a data race", "modules that are not yours", "once, so the run is not shrunk"} {
		if said := whyFailed(true); !strings.Contains(said, want) {
			t.Errorf("%q is missing in %s", want, said)
		}
	}
	if shell.Races() != strings.Contains(shell.GoTest("p"), "-race") {
		t.Error("the command and the verdict differ on whether races are looked for")
	}
}
