package sim_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/internal/simtest"
	"github.com/wavetank/wavetank/sim/property"
)

// lookout asks an outside host every minute for the state of each ConfigMap, and keeps it there.
type lookout struct {
	client.Client
	outside *http.Client
}

func (l *lookout) setup(mgr ctrl.Manager) error {
	look := make(chan event.GenericEvent)
	if err := mgr.Add(manager.RunnableFunc(func(ctx context.Context) error {
		for {
			select {
			case <-ctx.Done():
				return nil
			case <-time.After(time.Minute):
				look <- event.GenericEvent{Object: simtest.ConfigMap("a")}
			}
		}
	})); err != nil {
		return err
	}
	return ctrl.NewControllerManagedBy(mgr).For(&corev1.ConfigMap{}).
		WatchesRawSource(source.Channel(look, &handler.EnqueueRequestForObject{})).Complete(l)
}

func (l *lookout) Reconcile(ctx context.Context, req ctrl.Request) (reconcile.Result, error) {
	var cm corev1.ConfigMap
	if err := l.Get(ctx, req.NamespacedName, &cm); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://base.example/"+req.Name, nil)
	if err != nil {
		return ctrl.Result{}, err
	}
	resp, err := l.outside.Do(r)
	if err != nil {
		return ctrl.Result{}, err
	}
	if err := resp.Body.Close(); err != nil || cm.Data["state"] == resp.Status {
		return ctrl.Result{}, err
	}
	cm.Data = map[string]string{"state": resp.Status}
	return ctrl.Result{}, l.Update(ctx, &cm)
}

// A change of the scenario's outside model disturbs a settled world, once the operator sees it.
func TestOutsideDriftAtRest(t *testing.T) {
	if f := sim.Explore(t, func(w *sim.World) {
		ready := true
		w.External("base.example", http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
			if !ready {
				rw.WriteHeader(http.StatusNotFound)
			}
		}))
		w.Start("op", func(mgr ctrl.Manager) error {
			return (&lookout{mgr.GetClient(), sim.HTTPClient(mgr)}).setup(mgr)
		})
		w.Always("a settled world stays as it is", property.IdempotentAtRest())
		w.Apply(simtest.ConfigMap("a"))
		w.Settle()
		ready = false
		w.Sleep(3 * time.Minute)
		w.Settle()
	}, sim.Runs(5), sim.For(0)).Failure; f != nil {
		t.Error(f.Text())
	}
}
