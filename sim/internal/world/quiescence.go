package world

import (
	"fmt"
	"slices"
	"time"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/sim/internal/process"
	"github.com/wavetank/wavetank/sim/internal/sched"
	"github.com/wavetank/wavetank/sim/internal/wire"
)

const (
	// quietPeriod is how long nothing at all may have happened: libraries poll with timers that the
	// harness does not see, cache synchronisation every 100 ms for one.
	quietPeriod = time.Second
	// idlePeriod is how long nothing may have happened but reconciles that change nothing, and
	// their Events. It counts where keys poll, because no quiet period comes there.
	idlePeriod = time.Minute
	// silentPeriod is how long a program must have been silent that has timers of its own.
	silentPeriod = longestBackOff
	// patience is how long nothing may have changed, where programs never fall silent: by then each
	// has tried whatever it had put off.
	patience = longestBackOff + idlePeriod
	// outsidePatience is how long an outside service may take until something changes.
	outsidePatience = 2 * longestBackOff
	// longestBackOff is the cap of controller-runtime's default rate limiter.
	longestBackOff = 1000 * time.Second
)

// quiescence decides when nothing is left to do.
type quiescence struct {
	sched    *sched.Scheduler
	procs    *process.Supervisor
	wire     *wire.Network
	history  *history.History
	builtins *builtins
	activity activity
}

// read takes in what has happened since it was called last.
func (q *quiescence) read() { q.activity.read(q.history, q.procs) }

// recovers marks the end of faults.
func (q *quiescence) recovers() {
	q.activity.recovery = moment{q.history.Len() - 1, q.sched.Now()}
}

// calm reports whether nothing is under way: every action that is left is idle chatter or a timer.
func (q *quiescence) calm() bool {
	return q.sched.Idle() && !slices.ContainsFunc(q.procs.Controllers(), process.Controller.IsBusy)
}

// quietAt is when nothing will have happened for the quiet period.
func (q *quiescence) quietAt() time.Duration { return q.activity.lastEvent + quietPeriod }

// reached reports whether nothing is left to do. If something is, and the passing of time alone
// could change that, again is when.
func (q *quiescence) reached() (ok bool, again time.Duration) {
	if !q.calm() || q.procs.Starting() != "" || q.procs.MissingWatch() != "" {
		return false, 0
	}
	changed, unchanged := q.activity.changed(), q.activity.unchangedSince()
	for _, c := range q.procs.Controllers() {
		fired := true
		c.EachTimer(func(t process.Timer) bool { fired = t.Fired > changed; return fired })
		if !fired {
			return false, 0
		}
	}
	if !q.builtins.retried(changed) {
		return false, 0
	}
	again = min(q.quietAt(), q.activity.lastOther+idlePeriod, unchanged+patience)
	for _, s := range q.wire.Watches.Lost() {
		if s.Tried <= changed {
			again = max(again, s.Until())
		}
	}
	for _, at := range q.lastSpoke() {
		again = max(again, min(at+silentPeriod, unchanged+patience))
	}
	if q.activity.awaitsOutside(q.procs) {
		again = max(again, unchanged+outsidePatience)
	}
	return q.sched.Now() >= again, again
}

// lastSpoke is when living programs with timers of their own last sent a request or received a
// reply. These are programs without a manager, and programs that work apart from its controllers.
func (q *quiescence) lastSpoke() (out []time.Duration) {
	for _, p := range q.procs.Processes() {
		l := p.Current()
		if l == nil {
			continue
		}
		at, ok := q.activity.spoke[p.Name]
		if l.Managed() {
			inferred, quiet := q.activity.beside[p.Name]
			known, woken := q.wire.Beside(p.Name)
			at, ok = max(inferred, known), quiet || woken
		}
		if ok {
			out = append(out, at)
		}
	}
	return out
}

// extended is the time limit of quiescence where programs with timers of their own or outside
// services must be waited for. begun is when recovery began.
func (q *quiescence) extended(limit, begun time.Duration) time.Duration {
	if len(q.lastSpoke()) == 0 && !q.activity.awaitsOutside(q.procs) {
		return limit
	}
	return max(limit, min(q.activity.wrote.At, begun+3*longestBackOff)+outsidePatience)
}

// dequeuesBefore are the delayed dequeues that are due by then.
func (q *quiescence) dequeuesBefore(until time.Duration) (out []string) {
	for _, c := range q.procs.Controllers() {
		for _, t := range c.Timers() {
			if t.Due <= until {
				due := history.Clock(t.Due)
				out = append(out, fmt.Sprintf("%s of %s %s, due %s", requeue(t.What), c.Name, t.Item, due))
			}
		}
	}
	return out
}

// longestTimer is the longest delay of a dequeue that is pending.
func (q *quiescence) longestTimer() (longest time.Duration) {
	for _, c := range q.procs.Controllers() {
		c.EachTimer(func(t process.Timer) bool { longest = max(longest, t.Delay); return true })
	}
	return longest
}

// backsOff reports whether a reflector, or a key whose last reconcile failed, has yet to make its
// next attempt.
func (q *quiescence) backsOff() (yes bool) {
	if q.procs.MissingWatch() != "" || len(q.wire.Watches.Lost()) > 0 {
		return true
	}
	changed := q.activity.changed()
	for _, c := range q.procs.Controllers() {
		c.EachTimer(func(t process.Timer) bool {
			yes = yes || t.What == history.CauseBackOff && t.Fired <= changed
			return !yes
		})
	}
	return yes
}

// requeue names a timer of a work queue.
func requeue(timer history.CauseKind) string {
	if timer == history.CauseBackOff {
		return "backoff"
	}
	return "RequeueAfter"
}
