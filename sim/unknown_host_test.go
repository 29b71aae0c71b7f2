package sim_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/fault"
	"github.com/wavetank/wavetank/sim/internal/simtest"
)

// A scenario may say that a host does not exist; the program sees what a resolver says, and no
// connection that got lost.
func TestAHostThatDoesNotExist(t *testing.T) {
	var saw error
	simtest.Holds(t, func(w *sim.World) {
		w.External("telemetry.example", nil)
		w.Start("op", func(mgr ctrl.Manager) error {
			return ctrl.NewControllerManagedBy(mgr).Named("op").For(&corev1.ConfigMap{}).Complete(reconcile.Func(
				func(context.Context, reconcile.Request) (reconcile.Result, error) {
					//nolint:noctx // it ends with the process
					resp, err := sim.HTTPClient(mgr).Get("https://telemetry.example/ping")
					if err == nil {
						resp.Body.Close()
					}
					saw = err
					//nolint:noctx // a library that posts telemetry has no context of the operator's
					if resp, err := http.Get("https://telemetry.example/ping"); err == nil {
						resp.Body.Close()
					}
					return reconcile.Result{}, nil
				}))
		})
		w.Inject(fault.LostReply(), fault.Unreachable(time.Minute), fault.Crash("op"))
		w.Always("all is well", func(*history.History) error { return nil })
		w.Apply(simtest.ConfigMap("a"))
		w.Settle()
	}, sim.Runs(30), sim.Verify(1))
	var dns *net.DNSError
	if !errors.As(saw, &dns) || !dns.IsNotFound || dns.Name != "telemetry.example" {
		t.Errorf("the program saw %v", saw)
	}
}
