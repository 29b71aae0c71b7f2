package determinism

import (
	"context"
	"fmt"
	"net/http"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/fault"
)

// A program records Events while it calls a slow service, long enough that client-go refreshes and
// ends its series of Events: every 30 minutes and every 6 minutes, both in minute 30.
func TestEventSeries(t *testing.T) {
	replays(t, func(w *sim.World) {
		w.External("billing.example", http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			fmt.Fprintln(rw, r.URL.Path)
		}))
		w.Start("op", func(mgr ctrl.Manager) error {
			outside, recorder, billed := sim.HTTPClient(mgr), mgr.GetEventRecorder("op"), map[string]int{}
			return ctrl.NewControllerManagedBy(mgr).For(&corev1.ConfigMap{}).
				Complete(reconcile.Func(func(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
					var cm corev1.ConfigMap
					if err := mgr.GetClient().Get(ctx, req.NamespacedName, &cm); err != nil {
						return reconcile.Result{}, client.IgnoreNotFound(err)
					}
					if err := bill(ctx, mgr.GetClient(), outside, req); err != nil {
						recorder.Eventf(&cm, nil, corev1.EventTypeWarning, "Failed", "Bill", "%v", err)
						return reconcile.Result{}, err
					}
					recorder.Eventf(&cm, nil, corev1.EventTypeNormal, "Billed", "Bill", "billed %s", cm.Data["k"])
					if billed[cm.Name+cm.Data["k"]]++; billed[cm.Name+cm.Data["k"]] < 4 {
						return reconcile.Result{RequeueAfter: time.Minute}, nil
					}
					return reconcile.Result{}, nil
				}))
		})
		w.Inject(faults("op")...)
		w.Inject(fault.SlowEffect(20*time.Second), fault.FailedEffect())
		w.Apply(source("a", "1"), source("b", "1"), source("c", "1"))
		w.Sleep(18 * time.Minute)
		w.Apply(source("a", "2"), source("b", "2"))
		w.Sleep(18 * time.Minute)
		w.Settle()
	})
}
