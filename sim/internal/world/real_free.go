package world

import (
	"sort"
	"time"

	"github.com/wavetank/wavetank/models/apiserver"
	"github.com/wavetank/wavetank/sim/internal/run"
)

// This file is for runs at a real API server without a script. Actions happen in the order in which
// they come, as in a run in a simulated cluster with the default choices.

// freeRun is a run without a script. It owns when such a run ends, and how late watch events are.
type freeRun struct {
	*run.Free
	core   *core
	course *run.Course
	began  time.Time

	endIfBroken func() // ends the run if the server is not reached
}

// begin has the run end at its limit.
func (f *freeRun) begin() {
	if f != nil {
		f.began = time.Now()
		time.AfterFunc(f.Limit, f.core.sched.Wake)
	}
}

// quietMoment ends a run that has taken too long, or whose server is not reached.
func (f *freeRun) quietMoment() {
	if f == nil || f.core.failure != nil || f.course.OverTime {
		return
	}
	f.endIfBroken()
	if time.Since(f.began) >= f.Limit {
		f.course.OverTime = true
		panic(stopRun{})
	}
}

// lag is how much later a watch event reaches the program. Events do not wait for one another.
func (f *freeRun) lag(frame apiserver.Frame) time.Duration {
	events, now := f.core.history.Events, f.core.sched.Now()
	at := now
	reached := func(i int) bool { return events[i].Server >= frame.Revision }
	if i := sort.Search(len(events), reached); i < len(events) {
		at = events[i].At
	}
	return max(0, at+f.Lag-now)
}
