// This file holds the properties of a deployment that cannot be installed: whether it settles into
// one attempt for each period of back-off, and whether its status says why.

package bundledeployment

import (
	"fmt"
	"time"

	"github.com/wavetank/wavetank/controllers/bundledeployment"
	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/scenarios/internal/properties"
	"github.com/wavetank/wavetank/sim/property"
)

const (
	// periods is how many attempts are expected after one with which a deployment settles.
	periods = 5
	// settlesWithin is how long a deployment may take until its sleeps are longer than a clean-up.
	settlesWithin = 10 * time.Minute
	// firstSleep and maxSleep are the first and the longest delay of the work queue's default rate
	// limiter. Each delay is twice the one before.
	firstSleep, maxSleep = 5 * time.Millisecond, 1000 * time.Second
)

// sleep is how long a deployment sleeps after so many failures.
func sleep(failures int) time.Duration {
	doubled := min(max(failures-1, 0), 18) // 18 times are more than the longest sleep
	return min(firstSleep<<doubled, maxSleep)
}

// attempts is how many attempts were made in these reconciles.
func attempts(in []*reconcile) (n int) {
	for _, r := range in {
		n += r.attempts
	}
	return n
}

// tries describes the attempts at app. An attempt begins when its release record is created, and
// the next one may not follow before the sleep after so many failures is over. It does not matter
// which of the two keeps the time, the work queue or the operator. Sleeps that are not longer than
// a clean-up are not judged. If no extra attempt is allowed for a fault, neither are the two that
// follow one that is not longer than an attempt: a timer that fires during an attempt was set after
// the attempt before, and the queue keeps it although the next sleep is longer. Faults have ended
// at a time, and had effects for as long as lag.
func (w *World) tries(lag time.Duration, ended func() history.Time) property.Attempts {
	failures := 0 // with the last attempt
	return property.Attempts{
		Of: func(e *history.Event) string {
			if n := w.attempted[e.Index]; n > 0 {
				failures = n
				return app
			}
			return ""
		},
		Period: func(all []property.Attempt) time.Duration {
			n, before := failures, time.Duration(0)
			if w.setting.Variant == bundledeployment.V4 { // its records count, from before they are created
				n, before = 0, slowRequests
				for _, a := range all {
					if a.At >= w.changed {
						n++
					}
				}
			}
			attempt := w.cleanUp
			if len(w.faults) == 0 { // a fault that is to show something may strike in these sleeps
				attempt += slowRequests
			}
			if sleep(n) <= w.cleanUp || lag == 0 && sleep(n-2) <= attempt {
				return 0
			}
			return sleep(n) - before
		},
		Longest: maxSleep + 2*w.cleanUp + cleanUpWait, Lag: lag, Ended: ended,
	}
}

// settled are the measured reconciles from the one on with which app settles: the first attempt
// after a sleep, by the failures in this incarnation or by the operator's own count, that has to be
// longer than a clean-up takes.
func (r *Record) settled() []*reconcile {
	var before *reconcile // with the attempt before
	failures := 0
	all := r.since(r.changed)
	for i, next := range all {
		if next.attempts == 0 {
			continue
		}
		if before != nil && before.Incarnation != next.Incarnation {
			before, failures = nil, 0
		}
		if before != nil && next.Began >= r.measured && max(sleep(failures), next.Wait) > r.cleanUp {
			return all[i:]
		}
		failures, before = failures+next.attempts, next
	}
	return nil
}

// judged judges the reconciles from the one on with which app settles. It is a violation if fewer
// attempts than expected follow.
func (r *Record) judged(holds func(settled []*reconcile) error) properties.Judge {
	return func(*history.History) error {
		settled := r.settled()
		if len(settled) > 0 {
			if err := holds(settled); err != nil {
				return err
			}
		}
		if n := attempts(settled); r.over && n <= periods {
			return fmt.Errorf("%s: since %s there were %d attempts after sleeps longer than the clean-up takes, %v; "+
				"more than %d are expected", app, history.Clock(r.measured), n, r.cleanUp, periods)
		}
		return nil
	}
}

// backoffGrows (S0-L2): each attempt counts one failure. The time between the beginnings of two
// attempts is at least the sleep after so many failures. The sleep itself is at most twice the time
// between the two attempts before. An attempt's own duration lies between the two measures, so
// neither needs a margin. A restart may reset the count.
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
					failures, gap, firstSleep, maxSleep)
			}
			gap = now
		}
		failures, was = failures+next.attempts, next
	}
	return nil
}

// quiet (S0-A2): once app has settled, its status is not written any more. The attempt with which
// it settles may still write, because the attempt before may have met the remains of a clean-up and
// reported that.
func (r *Record) quiet(settled []*reconcile) error {
	for _, next := range settled[1:] {
		if next.writes > 0 {
			return fmt.Errorf("%s: at %s its status was written, although it had settled at %s and nothing was new",
				app, history.Clock(next.Began), history.Clock(settled[0].Began))
		}
	}
	return nil
}

// actionable (S0-A1): for 95 % of the time, from some time after the last change or fault on, the
// status names the cause. property.ActionableStatus would start again at each write of the
// namespace controller, which every clean-up causes.
func (r *Record) actionable(*history.History) error {
	from := r.measured + settlesWithin
	if r.now < from+time.Minute {
		return nil
	}
	if named := r.namedCause(from, r.now); named < (r.now-from)*95/100 {
		return fmt.Errorf("%s: of the %v since %s the status named the cause for %v", app, r.now-from,
			history.Clock(from), named)
	}
	return nil
}
