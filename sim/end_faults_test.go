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

// Inject after EndFaults begins with an empty set. The counts of what ended stay.
func TestFaultsAreExchanged(t *testing.T) {
	struck := map[string]int{}
	r := sim.Explore(t, func(w *sim.World) {
		w.External("mail.example", http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
		w.Start("mailer", (&mailer{}).SetupWithManager)
		w.Inject(fault.ServerError(fault.In("mailer")))
		w.Apply(withRole("source", configMap("one")))
		w.Settle()
		w.EndFaults()
		w.Inject(fault.LostReply(fault.In("mailer")))
		n := len(w.History().Events)
		w.Apply(withRole("source", configMap("two")))
		w.Settle()
		for _, e := range w.History().Events[n:] {
			if e.Kind == history.Fault {
				struck[e.Injection.Class]++
			}
		}
	}, sim.Runs(30), sim.For(0), sim.Verify(3))
	if struck["ServerError"] != 0 || struck["LostReply"] == 0 {
		t.Errorf("after the exchange: %v", struck)
	}
	for _, f := range r.Faults {
		if f.Injected == 0 {
			t.Errorf("%s was never injected", f.Fault)
		}
	}
	if len(r.Faults) != 2 || r.Failure != nil {
		t.Errorf("%d faults are counted; %+v", len(r.Faults), r.Failure)
	}
}
