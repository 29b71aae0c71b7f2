// This file holds the properties of a deployment that cannot be installed: whether it settles into
// one attempt for each period of back-off, and whether its status says why.

package bundledeployment

import (
	"fmt"
	"time"

	"github.com/wavetank/wavetank/history"
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
	d := firstSleep
	for ; failures > 1 && d < longestSleep; failures-- {
		d *= 2
	}
	return min(d, longestSleep)
}

// enough is after how many failures the sleep is longer than the clean-up takes.
func (r *Record) enough() int {
	n := 1
	for sleep(n) <= r.cleanUp {
		n++
	}
	return n
}

// since are the reconciles that began at a time or later.
func (d *deployment) since(t history.Time) []*reconcile {
	i := len(d.reconciles)
	for i > 0 && d.reconciles[i-1].Began >= t {
		i--
	}
	return d.reconciles[i:]
}

// attempts is how many attempts were made in these reconciles.
func attempts(in []*reconcile) (n int) {
	for _, r := range in {
		n += r.attempts
	}
	return n
}

// settled are the measured reconciles from where on a deployment has settled: from the first
// attempt that a timer began, after so many failures that the sleep before it had to be longer than
// a clean-up takes, and was. It is empty if there was none yet. Failures that are no attempts count
// in the timer alone. It does not matter who keeps the time, the work queue or the operator itself.
func (r *Record) settled(d *deployment) []*reconcile {
	var before *reconcile // with the attempt before
	failures := 0
	all := d.since(r.changed)
	for i, next := range all {
		if next.attempts == 0 {
			continue
		}
		due := before != nil && max(sleep(failures), next.Wait) > r.cleanUp
		if due && next.Began >= r.measured && next.Timed && next.Incarnation == before.Incarnation &&
			next.Began-before.until(next.Began) > r.cleanUp {
			return all[i:]
		}
		failures, before = failures+next.attempts, next
	}
	return nil
}

// restless says that a deployment does not come to rest: since measuring began, or the operator
// started, it has had the failures after which it should sleep longer than the clean-up takes, and
// five more attempts and one for each fault, none of them after such a sleep.
func (r *Record) restless(d *deployment) error {
	n := 0
	for _, next := range d.since(r.measured) {
		if next.Incarnation == d.last().Incarnation {
			n += next.attempts
		}
	}
	if n == 0 || n < r.enough()+periods+r.faults(r.measured, d.last().Began) {
		return nil
	}
	return fmt.Errorf("%s: %d attempts since %s, the latest at %s, and never a sleep longer than the clean-up takes, "+
		"%v, which was due after %d", d.name, n, history.Clock(r.measured), history.Clock(d.last().Began), r.cleanUp,
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

// periodsOf are the periods of a settled deployment. The last one is not complete. A timer with
// which the operator looks whether a clean-up has ended begins no period. An attempt whose time has
// come does, if a fault wakes the operator just before its timer.
func (r *Record) periodsOf(settled []*reconcile) (out []period) {
	var tried history.Time // the last attempt
	for i, next := range settled {
		begins := i == 0
		if !begins {
			before := settled[i-1]
			timed := next.Timed && next.Began-before.until(next.Began) > r.cleanUp
			begins = timed || before.wanted(next) && next.tried-tried > r.cleanUp
		}
		if begins {
			if n := len(out); n > 0 {
				out[n-1].to = next
			}
			out = append(out, period{from: next})
		}
		out[len(out)-1].attempts += next.attempts
		tried = max(tried, next.tried)
	}
	return out
}

// wanted says whether a reconcile has asked for the attempt of the next one by then, whoever woke
// the operator.
func (r *reconcile) wanted(next *reconcile) bool {
	return r.After > 0 && next.attempts > 0 && next.tried >= r.Began+r.After
}

// complete are the periods that are.
func (r *Record) complete(settled []*reconcile) []period {
	all := r.periodsOf(settled)
	return all[:max(len(all)-1, 0)]
}

// judge judges the reconciles of a deployment that has settled.
func (r *Record) judge(d *deployment, holds func([]*reconcile) error) error {
	settled := r.settled(d)
	if settled == nil {
		if err := r.restless(d); err != nil || !r.over {
			return err
		}
		return fmt.Errorf("%s: %d attempts since %s, and never a sleep longer than the clean-up takes, %v", d.name,
			attempts(d.since(r.measured)), history.Clock(r.measured), r.cleanUp)
	}
	if err := holds(settled); err != nil {
		return err
	}
	if n := len(r.complete(settled)); r.over && n < periods {
		return fmt.Errorf("%s: it has settled at %s, and after %d periods it has stopped trying", d.name,
			history.Clock(settled[0].Began), n)
	}
	return nil
}

// settles (S0-L1): once it sleeps longer than the clean-up takes, there is one attempt for each
// period of back-off.
func (r *Record) settles(d *deployment) error {
	return r.judge(d, func(settled []*reconcile) error {
		for i, p := range r.complete(settled) {
			if p.attempts != 1 {
				return fmt.Errorf("%s: %d attempts between the timers at %s and %s, settled period %d", d.name,
					p.attempts, history.Clock(p.from.Began), history.Clock(p.to.Began), i+1)
			}
		}
		return nil
	})
}

// restrained (S0-L1 while faults are injected): there is at most one attempt more in a period than
// faults. A fault counts in each period in which it may have an effect.
func (r *Record) restrained(d *deployment) error {
	return r.judge(d, func(settled []*reconcile) error {
		for _, p := range r.periodsOf(settled) {
			to := d.last().Began
			if p.to != nil {
				to = p.to.Began
			}
			if n := r.faults(p.from.Began, to); p.attempts > 1+n {
				return fmt.Errorf("%s: %d attempts from the timer at %s to %s, and %d faults", d.name, p.attempts,
					history.Clock(p.from.Began), history.Clock(to), n)
			}
		}
		return nil
	})
}

// backoffGrows (S0-L2): each attempt counts one failure. From the begin of an attempt to that of
// the next one passes at least the sleep after so many failures, and the sleep itself is not more
// than twice what passed the time before. What an attempt takes, as long as requests are or a
// clean-up, lies between the two measures, so neither needs a margin. A restart may make who counts
// forget.
func (r *Record) backoffGrows(d *deployment) error {
	return r.judge(d, func(settled []*reconcile) error {
		all := d.since(r.changed)
		var was *reconcile
		var failures int
		var gap time.Duration
		for i, next := range all {
			if was != nil && next.Incarnation != was.Incarnation {
				failures, was, gap = 0, nil, 0
			}
			if next.attempts == 0 {
				continue
			}
			if was != nil && i > len(all)-len(settled) {
				now, slept := next.Began-was.Began, next.Began-was.until(next.Began)
				if now < sleep(failures) || gap > 0 && slept > 2*gap {
					return fmt.Errorf("%s: the attempt at %s came %v after the one before, %d failures, and that %v "+
						"after its own; one failure doubles it, from %v to %v", d.name, history.Clock(next.Began), now,
						failures, gap, firstSleep, longestSleep)
				}
				gap = now
			}
			failures, was = failures+next.attempts, next
		}
		return nil
	})
}

// actionable (S0-A1): for 95 % of the time since it has settled, over five periods or more, the
// status names the cause.
func (r *Record) actionable(d *deployment) error {
	from, long := r.judgedFrom(d)
	if n := len(r.injected); n > 0 { // a status that the server does not take cannot name anything
		if after := d.since(r.injected[n-1]); len(after) > 0 {
			from = max(from, after[0].Began)
		} else {
			from = r.now
		}
	}
	switch now := r.now; {
	case !long && r.over:
		return fmt.Errorf("%s: it has never settled for %d periods, so nothing can be said of its status", d.name,
			periods)
	case long && now-from >= time.Minute:
		if named := r.namedCause(d.name, from, now); named < (now-from)*95/100 {
			return fmt.Errorf("%s: of the %v since %s the status named the cause for %v", d.name, now-from,
				history.Clock(from), named)
		}
	}
	return nil
}

// judgedFrom is from when on the status of a deployment is judged, and whether that is long ago.
// One that does not come to rest is judged from when it should have, once it has made as many
// attempts as there are periods.
func (r *Record) judgedFrom(d *deployment) (from history.Time, long bool) {
	if settled := r.settled(d); settled != nil {
		return settled[0].Began, len(r.complete(settled)) >= periods
	}
	all := d.since(r.measured)
	if len(all) == 0 || r.restless(d) == nil {
		return 0, false
	}
	for i, next := range all {
		if attempts(all[:i+1]) >= r.enough() {
			return next.Began, true
		}
	}
	return 0, false
}

// quiet (S0-A2): once it has settled, the status is not written any more. The attempt with which it
// settles may still write: the one before it met what was left of its own clean-up, and the status
// says that until there is better news.
func (r *Record) quiet(d *deployment) error {
	return r.judge(d, func(settled []*reconcile) error {
		for _, next := range settled[1:] {
			if next.writes > 0 {
				return fmt.Errorf("%s: at %s its status was written, although it had settled at %s and nothing was new",
					d.name, history.Clock(next.Began), history.Clock(settled[0].Began))
			}
		}
		return nil
	})
}
