package sim_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/fault"
)

// patient makes a Secret for each ConfigMap, unless it has one, and looks for it in its cache after
// 20 s. If it is not there then, another one is made.
func patient(stale fault.Fault) func(*sim.World) {
	return func(w *sim.World) {
		w.Start("op", func(mgr ctrl.Manager) error {
			c := mgr.GetClient()
			return ctrl.NewControllerManagedBy(mgr).Named("op").For(&corev1.ConfigMap{}).Owns(&corev1.Secret{}).
				Complete(reconcile.Func(func(ctx context.Context, r reconcile.Request) (reconcile.Result, error) {
					var have corev1.SecretList
					err := c.List(ctx, &have, client.MatchingLabels{"of": r.Name})
					if err != nil || len(have.Items) > 0 {
						return reconcile.Result{}, err
					}
					made := &corev1.Secret{}
					made.Namespace, made.GenerateName, made.Labels = r.Namespace, "s-", map[string]string{"of": r.Name}
					return reconcile.Result{RequeueAfter: 20 * time.Second}, c.Create(ctx, made)
				}))
		})
		w.Inject(stale)
		w.Always("there is one secret", func(h *history.History) error {
			if n := len(h.Objects("", "Secret")); n > 1 {
				return fmt.Errorf("there are %d", n)
			}
			return nil
		})
		w.Apply(configMap("a"))
		w.Settle()
	}
}

// A lag of 10 s at most hides what happens after a wait of 20 s. It may outlast the wait, unless it
// is a hard limit: then a warning says so.
func TestStaleCacheOutlastsWaits(t *testing.T) {
	const cut = "ended while the operator still waited for its own write"
	r := sim.Explore(t, patient(fault.StaleCache(10*time.Second)), sim.Runs(100), sim.For(0))
	if r.Failure == nil || r.Failure.Property != "there is one secret" || r.Failure.Flaky {
		t.Fatalf("found is %v; expected two secrets", r.Err())
	}
	const line = "fault: StaleCache(10s): outlasts the wait for its Secret default/s-"
	if text := r.Failure.Text(); !strings.Contains(text, line) {
		t.Errorf("the message does not say %q: %s", line, text)
	}
	r = sim.Explore(t, patient(fault.StaleCache(10*time.Second, fault.HardLimit())), sim.Runs(100), sim.For(0))
	if r.Failure != nil {
		t.Errorf("with a hard limit: %v", r.Err())
	}
	if all := strings.Join(r.Warnings, "\n"); !strings.Contains(all, cut) {
		t.Errorf("with a hard limit the warnings are %q; expected one that says %q", all, cut)
	}
	// Lags of up to a minute outlast the wait by themselves.
	r = sim.Explore(t, patient(fault.StaleCache(time.Minute, fault.HardLimit())), sim.Runs(100), sim.For(0))
	if r.Failure == nil {
		t.Error("with a limit of a minute nothing is found; expected two secrets")
	}
}
