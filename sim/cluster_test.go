package sim_test

import (
	"context"
	"fmt"
	"net/http"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/cluster"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/history"
)

// gatherer copies ConfigMaps of another cluster into its own.
type gatherer struct {
	home, away client.Client
}

func gather(mgr ctrl.Manager, http *http.Client) error {
	away, err := cluster.New(&rest.Config{Host: "http://prod.example", Transport: http.Transport, QPS: -1}, func(o *cluster.Options) { o.Scheme = mgr.GetScheme() })
	if err != nil {
		return err
	}
	if err := mgr.Add(away); err != nil {
		return err
	}
	return ctrl.NewControllerManagedBy(mgr).Named("gatherer").
		WatchesRawSource(source.Kind(away.GetCache(), &corev1.ConfigMap{}, &handler.TypedEnqueueRequestForObject[*corev1.ConfigMap]{})).
		Complete(&gatherer{mgr.GetClient(), away.GetClient()})
}

func (g *gatherer) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	from := &corev1.ConfigMap{}
	if err := g.away.Get(ctx, req.NamespacedName, from); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	to := configMap(from.Name)
	to.Data = from.Data
	if err := g.home.Create(ctx, to); client.IgnoreAlreadyExists(err) != nil {
		return reconcile.Result{}, err
	}
	return reconcile.Result{}, nil
}

func TestAnotherCluster(t *testing.T) {
	sim.Check(t, func(w *sim.World) {
		prod := w.Cluster("prod.example")
		w.Start("gatherer", func(mgr ctrl.Manager) error { return gather(mgr, sim.HTTPClient(mgr)) })
		w.Inject(sim.StaleCache(time.Minute), sim.Crash("gatherer"), sim.LostReply(), sim.ServerError(), sim.Conflict())
		w.Eventually("what is in prod is at home, too", func(h *history.History) error {
			for _, name := range []string{"a", "b"} {
				if _, ok := h.Find(history.Ref{Cluster: "prod.example", Kind: "ConfigMap", Namespace: "default", Name: name}); !ok {
					return fmt.Errorf("%s is not in prod", name)
				}
				if _, ok := h.Object("", "ConfigMap", "default", name); !ok {
					return fmt.Errorf("%s is not at home; there are %d", name, len(h.Objects("", "ConfigMap")))
				}
			}
			return nil
		})
		prod.Apply(configMap("a", "k", "v"))
		prod.Apply(configMap("b", "k", "v"))
		w.Settle()
	}, sim.Runs(40), sim.Verify(2))
}
