package sim_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/fault"
)

// After EndFaults nothing is injected, until Inject declares more.
func TestEndFaults(t *testing.T) {
	var before, between, after int
	sim.Check(t, func(w *sim.World) {
		injected := func(name string) int {
			n := w.History().Count(history.Fault)
			w.Apply(withRole("source", configMap(name)))
			w.Sleep(time.Minute)
			return w.History().Count(history.Fault) - n
		}
		w.External("mail.example", http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
		w.Start("mailer", (&mailer{}).SetupWithManager)
		w.Inject(fault.ServerError(fault.In("mailer")))
		before += injected("one")
		w.EndFaults()
		between += injected("two")
		w.Inject(fault.ServerError(fault.In("mailer")))
		after += injected("three")
		w.Settle()
	}, sim.Runs(30), sim.For(0), sim.Verify(3))
	if before == 0 || between != 0 || after == 0 {
		t.Errorf("%d faults before EndFaults, %d after it, %d after Inject", before, between, after)
	}
}
