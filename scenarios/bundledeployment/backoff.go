// This file holds the properties of a deployment that cannot be installed: whether it settles into
// one attempt for each period of back-off, and whether its status says why.

package bundledeployment

import (
	"fmt"
	"time"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/scenarios/internal/properties"
)

const (
	// periods are how many in a row must be as they should.
	periods = 5
	// firstSleep and longestSleep are those of the work queue's default rate limiter; in between
	// they double.
	firstSleep, longestSleep = 5 * time.Millisecond, 1000 * time.Second
)

// sleep is how long a deployment sleeps after so many failures.
func sleep(failures int) time.Duration {
	doubled := min(max(failures-1, 0), 18) // 18 times are more than the longest sleep
	return min(firstSleep<<doubled, longestSleep)
}

// enough is after how many failures the sleep is longer than the clean-up takes.
func (r *Record) enough() int {
	n := 1
	for sleep(n) <= r.cleanUp {
		n++
	}
	return n
}

// attempts is how many attempts were made in these reconciles.
func attempts(in []*reconcile) (n int) {
	for _, r := range in {
		n += r.attempts
	}
	return n
}

// settled are the measured reconciles from where on app has settled: from the first attempt that a
// timer began, after so many failures that the sleep before it had to be longer than a clean-up
// takes, and was. It is empty if there was none yet. Failures that are no attempts count in the
// timer alone. It does not matter who keeps the time, the work queue or the operator itself.
func (r *Record) settled() []*reconcile {
	var before *reconcile // with the attempt before
	failures := 0
	all := r.since(r.changed)
	for i, next := range all {
		if next.attempts == 0 {
			continue
		}
		due := before != nil && max(sleep(failures), next.Wait) > r.cleanUp
		if due && next.Began >= r.measured && next.Timed && next.Incarnation == before.Incarnation &&
			next.slept(before) > r.cleanUp {
			return all[i:]
		}
		failures, before = failures+next.attempts, next
	}
	return nil
}

// restless says that app does not come to rest: since measuring began, or the operator started, it
// has had the failures after which it should sleep longer than the clean-up takes, and five more
// attempts and one for each fault, none of them after such a sleep.
func (r *Record) restless() error {
	d, n := r.of(app), 0
	for _, next := range r.since(r.measured) {
		if next.Incarnation == d.last().Incarnation {
			n += next.attempts
		}
	}
	if n == 0 || n < r.enough()+periods+r.faults(r.measured, d.last().Began) {
		return nil
	}
	return fmt.Errorf("%s: %d attempts since %s, the latest at %s, and never a sleep longer than the clean-up takes, "+
		"%v, which was due after %d", app, n, history.Clock(r.measured), history.Clock(d.last().Began), r.cleanUp,
		r.enough())
}

// faults is how many faults were injected in a time, or so shortly before that they still have an
// effect.
func (r *Record) faults(from, to history.Time) (n int) {
	for _, at := range r.injected {
		if at >= from-lag && at <= to {
			n++
		}
	}
	return n
}

// period is the time from one timer to the next.
type period struct {
	from, to *reconcile
	attempts int
}

// periodsOf are the complete periods of a settled app, and the open one, which ends with the latest
// reconcile.
func (r *Record) periodsOf(settled []*reconcile) (complete []period, open period) {
	var tried history.Time // the last attempt
	for i, next := range settled {
		open.to = next
		if i == 0 {
			open.from = next
		} else if r.begins(settled[i-1], next, tried) {
			complete, open = append(complete, open), period{from: next, to: next}
		}
		open.attempts += next.attempts
		tried = max(tried, next.tried)
	}
	return complete, open
}

// begins reports whether a reconcile begins a period. A timer with which the operator looks whether
// a clean-up has ended begins none. An attempt whose time has come does, if a fault wakes the
// operator just before its timer.
func (r *Record) begins(before, next *reconcile, tried history.Time) bool {
	wanted := before.After > 0 && next.attempts > 0 && next.tried >= before.Began+before.After
	return next.Timed && next.slept(before) > r.cleanUp || wanted && next.tried-tried > r.cleanUp
}

// judged is a property of the reconciles of an app that has settled, as it should.
func (r *Record) judged(holds func(settled []*reconcile) error) properties.Judge {
	return func(*history.History) error {
		settled := r.settled()
		if settled == nil {
			if err := r.restless(); err != nil || !r.over {
				return err
			}
			return fmt.Errorf("%s: %d attempts since %s, and never a sleep longer than the clean-up takes, %v", app,
				attempts(r.since(r.measured)), history.Clock(r.measured), r.cleanUp)
		}
		if err := holds(settled); err != nil {
			return err
		}
		if complete, _ := r.periodsOf(settled); r.over && len(complete) < periods {
			return fmt.Errorf("%s: it has settled at %s, and after %d periods it has stopped trying", app,
				history.Clock(settled[0].Began), len(complete))
		}
		return nil
	}
}

// settles (S0-L1): once it sleeps longer than the clean-up takes, there is one attempt for each
// period of back-off.
func (r *Record) settles(settled []*reconcile) error {
	complete, _ := r.periodsOf(settled)
	for i, p := range complete {
		if p.attempts != 1 {
			return fmt.Errorf("%s: %d attempts between the timers at %s and %s, settled period %d", app, p.attempts,
				history.Clock(p.from.Began), history.Clock(p.to.Began), i+1)
		}
	}
	return nil
}

// restrained (S0-L1 while faults are injected): there is at most one attempt more in a period than
// faults. A fault counts in each period in which it may have an effect.
func (r *Record) restrained(settled []*reconcile) error {
	complete, open := r.periodsOf(settled)
	for _, p := range append(complete, open) {
		if n := r.faults(p.from.Began, p.to.Began); p.attempts > 1+n {
			return fmt.Errorf("%s: %d attempts from the timer at %s to %s, and %d faults", app, p.attempts,
				history.Clock(p.from.Began), history.Clock(p.to.Began), n)
		}
	}
	return nil
}

// backoffGrows (S0-L2): each attempt counts one failure. From the begin of an attempt to that of
// the next one passes at least the sleep after so many failures, and the sleep itself is not more
// than twice what passed the time before. What an attempt takes, as long as requests are or a
// clean-up, lies between the two measures, so neither needs a margin. A restart may make who counts
// forget.
func (r *Record) backoffGrows(settled []*reconcile) error {
	var was *reconcile
	var failures int
	var gap time.Duration
	all := r.since(r.changed)
	for i, next := range all {
		switch {
		case next.attempts == 0:
			continue
		case was == nil || next.Incarnation != was.Incarnation:
			failures, gap = 0, 0
		case i > len(all)-len(settled):
			now := next.Began - was.Began
			if now < sleep(failures) || gap > 0 && next.slept(was) > 2*gap {
				return fmt.Errorf("%s: the attempt at %s came %v after the one before, %d failures, and that %v "+
					"after its own; one failure doubles it, from %v to %v", app, history.Clock(next.Began), now,
					failures, gap, firstSleep, longestSleep)
			}
			gap = now
		}
		failures, was = failures+next.attempts, next
	}
	return nil
}

// quiet (S0-A2): once it has settled, the status is not written any more. The attempt with which it
// settles may still write: the one before it met what was left of its own clean-up, and the status
// says that until there is better news.
func (r *Record) quiet(settled []*reconcile) error {
	for _, next := range settled[1:] {
		if next.writes > 0 {
			return fmt.Errorf("%s: at %s its status was written, although it had settled at %s and nothing was new",
				app, history.Clock(next.Began), history.Clock(settled[0].Began))
		}
	}
	return nil
}

// actionable (S0-A1): for 95 % of the time since it has settled, over five periods or more, the
// status names the cause.
func (r *Record) actionable(*history.History) error {
	from, long := r.judgedFrom()
	if n := len(r.injected); n > 0 { // a status that the server does not take cannot name anything
		if after := r.since(r.injected[n-1]); len(after) > 0 {
			from = max(from, after[0].Began)
		} else {
			from = r.now
		}
	}
	switch now := r.now; {
	case !long && r.over:
		return fmt.Errorf("%s: it has never settled for %d periods, so nothing can be said of its status", app, periods)
	case long && now-from >= time.Minute:
		if named := r.namedCause(from, now); named < (now-from)*95/100 {
			return fmt.Errorf("%s: of the %v since %s the status named the cause for %v", app, now-from,
				history.Clock(from), named)
		}
	}
	return nil
}

// judgedFrom is from when on the status of app is judged, and whether that is long ago. If it does
// not come to rest, it is judged from when it should have, once it has made as many attempts as
// there are periods.
func (r *Record) judgedFrom() (from history.Time, long bool) {
	if settled := r.settled(); settled != nil {
		complete, _ := r.periodsOf(settled)
		return settled[0].Began, len(complete) >= periods
	}
	if r.restless() == nil {
		return 0, false
	}
	all := r.since(r.measured)
	for i, next := range all {
		if attempts(all[:i+1]) >= r.enough() {
			return next.Began, true
		}
	}
	return 0, false
}
