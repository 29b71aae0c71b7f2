package determinism

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

// fansOut starts replicas of that reconciler and stops them with requests in flight.
func fansOut(replicas int, more ...fault.Fault) func(*sim.World) {
	return func(w *sim.World) {
		for i := range replicas {
			name := fmt.Sprintf("op-%d", i)
			w.Start(name, func(mgr ctrl.Manager) error {
				return ctrl.NewControllerManagedBy(mgr).Named("fan").For(&corev1.ConfigMap{}).
					Complete(&fanOut{mgr.GetClient()})
			}, sim.Options(ctrl.Options{LeaderElection: replicas > 1, LeaderElectionID: "op",
				LeaderElectionNamespace: "default"}))
			w.Inject(fault.Restart(name), fault.Crash(name))
		}
		w.Inject(fault.StaleCache(30*time.Second), fault.ServerError())
		w.Inject(more...)
		w.Apply(source("a", "1"), source("b", "1"), source("c", "1"))
		w.Settle()
	}
}

// Whatever cancels requests in flight, they end one at a time: the error group keeps the same error
// in each run.
func TestParallelRequests(t *testing.T) { replays(t, fansOut(1, fault.LostReply())) }

// Three replicas lose their lease to one another while they send.
func TestLeaderElection(t *testing.T) { replays(t, fansOut(3, fault.LeaderOverlap())) }
