// This file tests crashes of the operator that the table does not count: at every single write of
// the fixed variant, and how long the window is in which a crash within a clean-up wedges the
// variants that undo.

package bundledeployment

import (
	"testing"
	"time"

	"github.com/wavetank/wavetank/controllers/bundledeployment"
	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/history/view"
	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/fault"
	"github.com/wavetank/wavetank/sim/result"
)

// The fixed variant dies around the writes of install, upgrade, repair, and of what undoes a
// refused install. A sweep kills once a run, before or after one write, at each point in turn that
// the undisturbed run offers, before it tries anything else.
//
//make:campaigns
func TestFixedVariantDiesAtEveryWrite(t *testing.T) {
	for name, happen := range map[string]func(*World){
		"nothing is wrong": interrupted, "it is refused first": interruptedFailing,
	} {
		t.Run(name, func(t *testing.T) {
			dies := scenario(Row("V4").setting(), happen, nil, fault.Crash(Operator))
			sweep := func(scenario func(*sim.World), n int) result.Report {
				return sim.Explore(t, scenario, sim.Runs(n), sim.For(0), sim.Verify(0), sim.Strategy("sweep"))
			}
			writes := 0
			sweep(func(w *sim.World) {
				dies(w)
				writes = 0
				for _, e := range w.Undisturbed().Events {
					if e.Kind == history.Request && e.Process == Operator && !reads[e.Verb] {
						writes++
					}
				}
			}, 1)
			points := 2 * writes
			r := sweep(dies, points)
			if err := r.Err(); err != nil {
				t.Fatal(err)
			}
			t.Logf("%d writes, killed %d times in %d runs", writes, r.Faults[0].Injected, r.Runs)
			if n := r.Faults[0].Injected; points == 0 || n != points {
				t.Errorf("it was killed %d times in %d runs, with %d writes in the undisturbed one", n, r.Runs, writes)
			}
		})
	}
}

// reads are the verbs that change nothing.
var reads = map[string]bool{"get": true, "list": true, "watch": true}

// half is for how long, at most, the record of a refused install was half undone: a crash in that
// time wedges the deployment.
func half(t *testing.T, s Setting) (longest time.Duration) {
	t.Helper()
	r := sim.Explore(t, func(w *sim.World) {
		Begin(w, s).refuse(app, "app", "apps")
		w.Sleep(3 * time.Minute)
		longest = 0
		for _, d := range halfUndone(w.History()) {
			longest = max(longest, d)
		}
	}, sim.Runs(1), sim.Verify(0), sim.Strategy("sweep"))
	if r.Failure != nil {
		t.Fatal(r.Failure.Text())
	}
	return longest
}

// Waiting for the clean-up makes the window of a crash that wedges as long as the clean-up, up to
// the 30 s that it waits. Without waiting, it is as long as a few requests.
func TestWaitingWidensTheWindowOfACrash(t *testing.T) {
	for _, terminates := range []time.Duration{5 * time.Second, 13 * time.Second, 21 * time.Second, 45 * time.Second} {
		without := half(t, Setting{Variant: bundledeployment.V0, Terminates: terminates})
		with := half(t, Setting{Variant: bundledeployment.V1, Terminates: terminates})
		const text = "namespaces take %v: records are half undone for %v as reported, and %v with the wait"
		t.Logf(text, terminates, without, with)
		if without <= 0 || without > time.Second || with < min(terminates, cleanUpWait-time.Second) {
			t.Errorf(text, terminates, without, with)
		}
	}
}

// halfUndone is for how long each release record was in the state "uninstalling", which neither an
// install nor an upgrade nor a rollback of Helm gets past: as long as that takes, a crash wedges
// the deployment.
func halfUndone(h *history.History) (times []time.Duration) {
	v := view.New()
	records := view.Follow[metadata](v, history.Ref{Kind: "Secret"})
	v.Read(h)
	for _, record := range records.All() {
		undoing := func(o *metadata) bool { return o.Labels["status"] == "uninstalling" }
		if d := record.Held(0, h.Now(), undoing); d > 0 && !record.Exists() {
			times = append(times, d)
		}
	}
	return times
}
