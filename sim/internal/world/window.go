package world

import (
	"fmt"
	"time"

	"github.com/wavetank/wavetank/sim/internal/run"
	"github.com/wavetank/wavetank/sim/result"
)

// window is what a run with sim.Window knows of the record that it has let go.
type window struct {
	*core
	kept     time.Duration  // since when the record is kept
	outcomes []run.Outcomes //  of reconciles that are no longer kept
	objects  run.Objects    // of users, as far as events are no longer kept
	sites    run.Sites      // likewise
	compared int            // events that were compared with the first run of a doubled one
}

// forget lets go of the record before the window. It waits until the window has passed once more,
// so that each event is moved once.
func (w *window) forget() {
	size := w.settings.Window
	if size == 0 || w.sched.Now() < w.kept+2*size {
		return
	}
	w.judge.readBefore(w.history)
	w.compareWithFirst()
	w.kept = w.sched.Now() - size
	events := w.history.Events
	w.history.Forget(w.kept)
	forgotten := events[:len(events)-len(w.history.Events)]
	w.objects.Read(forgotten)
	w.sites.Read(forgotten)
	for _, o := range run.OutcomesOf(forgotten) {
		w.outcomes = run.AddOutcomes(w.outcomes, o)
	}
	w.wire.Hosts.Trim(size)
	w.procs.Reap(w.sched.Quiesce)
}

// compareWithFirst ends the second run of a doubled one at the first event that is not as in the
// first run.
func (w *window) compareWithFirst() {
	first := w.settings.First
	if first == nil {
		return
	}
	if at := w.history.Departs(w.compared, first); at >= 0 {
		w.fail(&result.Ending{Kind: result.Nondeterminism, Message: fmt.Sprintf(
			"event %d is not as it was in the first run: %s", at, w.history.Since(at)[0].String())})
	}
	w.compared = w.history.Len()
}
