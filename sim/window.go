package sim

import (
	"fmt"

	"github.com/wavetank/wavetank/sim/internal/run"
	"github.com/wavetank/wavetank/sim/result"
)

// forget lets go of the record before the window. It waits until the window has passed once more, so that each event is
// moved once.
func (w *World) forget() {
	window := w.settings.Window
	if window == 0 || w.sched.Now() < w.kept+2*window {
		return
	}
	for _, p := range append(w.pack[:len(w.pack):len(w.pack)], w.properties...) {
		if p.kind == result.Eventually { // takes in what is about to go
			w.judging, w.judged = true, p
			_ = p.holds(w.history)
		}
	}
	w.judging, w.judged = false, nil
	w.compareWithFirst()
	w.kept = w.sched.Now() - window
	events := w.history.Events
	w.history.Forget(w.kept)
	for _, o := range run.OutcomesOf(events[:len(events)-len(w.history.Events)]) {
		w.outcomes = run.AddOutcomes(w.outcomes, o)
	}
	w.wire.Trim(window)
	w.procs.Reap(w.sched.Quiesce)
}

// compareWithFirst ends the second run of a doubled one at the first event that is not as in the first run.
func (w *World) compareWithFirst() {
	if w.settings.First == nil {
		return
	}
	if at := w.history.Departs(w.compared, w.settings.First); at >= 0 {
		w.fail(&result.Ending{Kind: result.Nondeterminism,
			Message: fmt.Sprintf("event %d is not as it was in the first run: %s", at, w.history.Since(at)[0].String())})
	}
	w.compared = w.history.Len()
}
