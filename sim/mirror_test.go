package sim_test

import (
	"fmt"
	"testing"

	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/internal/simtest"
)

// Switching happens inside a reconcile: two workers read the same total before either has written
// it.
func TestTwoWorkersLoseAnUpdate(t *testing.T) {
	scenario := func(locked bool) func(*sim.World) {
		return func(w *sim.World) {
			w.Apply(simtest.ConfigMap("total", "n", "0"))
			w.Start("counter", func(mgr ctrl.Manager) error {
				return simtest.Counter{Workers: 2, Locked: locked}.Setup(mgr)
			})
			w.Eventually("both tickets are counted", func(h *history.History) error {
				if d, _ := simtest.Data(h, "total"); d["n"] != "2" {
					return fmt.Errorf("two tickets were counted as %s", d["n"])
				}
				return nil
			})
			w.Apply(simtest.Ticket("a"), simtest.Ticket("b"))
			w.Settle()
		}
	}
	lost := sim.Explore(t, scenario(false))
	if lost.Failure == nil || lost.Failure.Property != "both tickets are counted" {
		t.Fatalf("no update was lost in %d runs: %+v", lost.Runs, lost.Failure)
	}
	sim.Check(t, scenario(true))
}
