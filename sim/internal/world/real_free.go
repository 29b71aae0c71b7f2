package world

import (
	"sort"
	"time"

	"github.com/wavetank/wavetank/models/apiserver"
)

// This file is for runs at a real API server without a script. Actions happen in the order in which
// they come, as in a run in a simulated cluster with the default choices.

// free reports whether the run has no script.
func (r *real) free() bool { return r != nil && r.Free != nil }

// begin has a free run end at its limit.
func (r *real) begin() {
	if r.free() {
		r.began = time.Now()
		time.AfterFunc(r.Free.Limit, r.core.sched.Wake)
	}
}

// quietMoment ends a free run that has taken too long, or whose server is not reached.
func (r *real) quietMoment() {
	if !r.free() || r.core.failure != nil || r.course.OverTime {
		return
	}
	if err := r.server.Broken(); err != nil {
		r.core.misuse("the real API server: %v", err)
	}
	if time.Since(r.began) >= r.Free.Limit {
		r.course.OverTime = true
		panic(stopRun{})
	}
}

// lag is how much later a watch event reaches the program of a free run. Events do not wait for one
// another.
func (r *real) lag(f apiserver.Frame) time.Duration {
	events, now := r.core.history.Events, r.core.sched.Now()
	at := now
	if i := sort.Search(len(events), func(i int) bool { return events[i].Server >= f.Revision }); i < len(events) {
		at = events[i].At
	}
	return max(0, at+r.Free.Lag-now)
}
