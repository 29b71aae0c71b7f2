package sim_test

import (
	"fmt"
	"testing"
	"time"

	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/fault"
	"github.com/wavetank/wavetank/sim/internal/simtest"
)

// Two controllers with requests of their own watch one kind, and one begins later than the other.
func TestTypedControllersReplay(t *testing.T) {
	simtest.Holds(t, func(w *sim.World) {
		for i := range 6 {
			w.Apply(simtest.ConfigMap(fmt.Sprint("letter-", i)))
		}
		w.Start("post", func(mgr ctrl.Manager) error {
			if err := simtest.Mirror(mgr); err != nil {
				return err
			}
			return stamp(mgr)
		})
		w.Inject(fault.StaleCache(10*time.Second), fault.ServerError(), fault.Crash("post"))
		w.Settle()
	}, sim.Runs(100), sim.For(0), sim.Verify(1))
}
