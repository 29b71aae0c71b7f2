package sim_test

import (
	"testing"
	"time"

	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/fault"
)

// What is observed of a fault is part of what was injected, and that part of the opportunities: one
// that lasts fails many requests, or makes many reconciles begin with a stale cache, and counts
// once.
func TestAFaultIsObservedOnceForEachInjection(t *testing.T) {
	counts := sim.Explore(t, func(w *sim.World) {
		// it asks every minute, and never gets on while it may not
		w.Start("restless", func(mgr ctrl.Manager) error { return (&restless{mgr.GetClient()}).SetupWithManager(mgr) })
		w.Without("settles", "no hot loop")
		w.Inject(fault.Forbidden(10*time.Minute), fault.Unreachable(10*time.Minute), fault.StaleCache(10*time.Minute),
			fault.Rejected("no"),
			fault.StaleServer(10*time.Minute))
		w.Apply(withRole("source", configMap("a")))
		w.Sleep(30 * time.Minute)
	}, sim.Runs(40), sim.For(0), sim.Verify(0)).Faults
	observed := 0
	for _, c := range counts {
		if c.Observed > c.Injected || c.Injected > c.Opportunities {
			t.Errorf("%s was observed %d times, injected %d times and had %d opportunities; each is at most the next",
				c.Fault, c.Observed,
				c.Injected, c.Opportunities)
		}
		if c.Observed > 0 {
			observed++
		}
	}
	if observed != 5 {
		t.Errorf("the effects of %d faults were observed; expected those of all 5: %+v", observed, counts)
	}
	t.Log(counts)
}
