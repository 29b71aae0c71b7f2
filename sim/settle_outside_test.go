package sim_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/internal/simtest"
	"github.com/wavetank/wavetank/sim/result"
)

// A cloud takes its time to delete what an operator has asked it to, and the operator looks every
// 30 s: a finalizer that waits for ten minutes is not stuck, one that waits for ever is.
func TestAFinalizerThatWaitsForTheCloud(t *testing.T) {
	for takes, want := range map[time.Duration]string{10 * time.Minute: "", 1 << 62: "no stuck finalizer"} {
		got := ""
		if r := deletedInACloud(t, takes); r.Failure != nil {
			got = r.Failure.Property
		}
		if got != want {
			t.Errorf("a cloud that takes %v: %q breaks, want %q", takes, got, want)
		}
	}
}

func deletedInACloud(t *testing.T, takes time.Duration) result.Report {
	return sim.Explore(t, func(w *sim.World) {
		var asked time.Time
		w.External("cloud.example", http.HandlerFunc(func(rw http.ResponseWriter, req *http.Request) {
			if req.Method == http.MethodDelete && asked.IsZero() {
				asked = time.Now()
			}
			if !asked.IsZero() && time.Since(asked) > takes {
				rw.WriteHeader(http.StatusNotFound)
			}
		}))
		w.Start("p", func(mgr ctrl.Manager) error {
			out := sim.HTTPClient(mgr)
			return ctrl.NewControllerManagedBy(mgr).Named("cloud").For(&corev1.ConfigMap{}, simtest.Role("source")).
				Complete(reconcile.Func(func(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
					var cm corev1.ConfigMap
					if err := mgr.GetClient().Get(ctx, req.NamespacedName, &cm); err != nil {
						return reconcile.Result{}, client.IgnoreNotFound(err)
					}
					if cm.DeletionTimestamp.IsZero() {
						if controllerutil.AddFinalizer(&cm, "cloud.example/db") {
							return reconcile.Result{}, mgr.GetClient().Update(ctx, &cm)
						}
						return reconcile.Result{}, nil
					}
					ask, _ := http.NewRequestWithContext(ctx, http.MethodDelete, "http://cloud.example/db", nil)
					resp, err := out.Do(ask)
					if err != nil {
						return reconcile.Result{}, err
					}
					resp.Body.Close()
					if resp.StatusCode != http.StatusNotFound {
						return reconcile.Result{RequeueAfter: 30 * time.Second}, nil
					}
					controllerutil.RemoveFinalizer(&cm, "cloud.example/db")
					return reconcile.Result{}, mgr.GetClient().Update(ctx, &cm)
				}))
		})
		w.Apply(simtest.Source("a"))
		w.Settle()
		w.Remove(simtest.ConfigMap("a"))
		w.Settle()
	}, sim.Runs(1), sim.For(0))
}
