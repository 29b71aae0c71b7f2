package sim_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/fault"
)

// fanOut is a correct reconciler that applies five Secrets for each ConfigMap at once.
type fanOut struct{ client.Client }

func (f *fanOut) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	var cm corev1.ConfigMap
	if err := f.Get(ctx, req.NamespacedName, &cm); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	g, gctx := errgroup.WithContext(ctx)
	for i := range 5 {
		g.Go(func() error {
			one, cancel := context.WithTimeout(gctx, 20*time.Second)
			defer cancel()
			child := corev1ac.Secret(fmt.Sprintf("%s-%d", cm.Name, i), "default")
			if err := f.Apply(one, child, client.FieldOwner("op"), client.ForceOwnership); err != nil {
				return fmt.Errorf("applying Secret %s: %w", *child.Name, err)
			}
			return nil
		})
	}
	return ctrl.Result{}, g.Wait()
}

// fansOut is a scenario with replicas of that reconciler and faults that end its requests in
// flight.
func fansOut(replicas int, faults ...fault.Fault) func(*sim.World) {
	return func(w *sim.World) {
		for i := range replicas {
			name := fmt.Sprintf("op-%d", i)
			w.Start(name, func(mgr ctrl.Manager) error {
				return ctrl.NewControllerManagedBy(mgr).Named("fan").For(&corev1.ConfigMap{}).
					Complete(reconcile.Reconciler(&fanOut{mgr.GetClient()}))
			}, sim.Options(ctrl.Options{LeaderElection: replicas > 1, LeaderElectionID: "op",
				LeaderElectionNamespace: "default"}))
			w.Inject(fault.Restart(name), fault.Crash(name))
		}
		w.Inject(faults...)
		w.Apply(configMap("a"), configMap("b"), configMap("c"))
		w.Settle()
	}
}

// Whatever cancels requests in flight, they end one at a time: the error group keeps the same error
// in each run.
func TestParallelRequestsReplay(t *testing.T) {
	stale, slow := fault.StaleCache(30*time.Second), fault.ServerError()
	for _, c := range []struct {
		name     string
		scenario func(*sim.World)
		runs     int
	}{
		{"one replica that is stopped", fansOut(1, stale, slow), 60},
		{"three replicas that lose their lease", fansOut(3, stale, slow, fault.LeaderOverlap()), 100},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := sim.Explore(t, c.scenario, sim.Runs(c.runs), sim.For(0), sim.Verify(1))
			if r.Failure != nil {
				t.Error(r.Failure.Text())
			}
			t.Logf("%d runs, %d twice, %d steps", r.Runs, r.Doubled, r.Steps)
		})
	}
}
