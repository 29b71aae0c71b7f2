// This file holds the properties of how soon something is tried again, and how often.

package throttle

import (
	"fmt"
	"slices"
	"time"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/sim/property"
)

// schedule is the original's, in seconds. The last of the fifteen delays is for all later failures.
var schedule = []time.Duration{1, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 233, 377, 610}

const (
	firstPart           = 1596 * time.Second // all fifteen
	mostCalls           = 15                 // in this time
	longest             = 610 * time.Second
	longestKubeletDelay = 5 * time.Minute  // before a program starts that ends again and again
	lag                 = 30 * time.Second // of an injected delay, at most
)

// kubeletDelay is how long the kubelet waits before it starts a program that has ended so many
// times.
func kubeletDelay(ends int) time.Duration {
	return min(10*second<<min(ends-1, 5), longestKubeletDelay)
}

// delay is the n-th of the schedule, from 0.
func delay(n int) time.Duration { return schedule[max(0, min(n, len(schedule)-1))] * second }

// reached is the number of the delay that is due some time after the first failure.
func reached(since time.Duration) int {
	for n := range schedule {
		if since -= delay(n); since < 0 {
			return n
		}
	}
	return len(schedule)
}

// bounded: a handler is called for one object no more often than the schedule allows. The time that
// the calls take is the tolerance.
func (r *Record) bounded(o *example) error {
	rows := map[int][]history.Time{} // of calls, by handler
	for _, c := range o.calls {
		row := rows[c.serial]
		if len(row) > 0 && o.allStored(row[len(row)-1], c.at) {
			row = nil
		}
		row = append(row, c.at)
		rows[c.serial] = row
		switch n, since := len(row), c.at-row[0]; {
		case since < firstPart && n > mostCalls:
			return fmt.Errorf("the handler of %s was called %d times within %v", o, n, since)
		case since >= firstPart && c.at-row[n-2] < longest-second:
			return fmt.Errorf("the handler of %s was called again after %v, %v after the first time", o,
				c.at-row[n-2], since)
		}
	}
	return nil
}

// allStored reports whether every write in between was stored. Then the row has ended: the next
// call is the handler's own retry, because one of its requests has failed.
func (o *example) allStored(from, to history.Time) bool {
	during := func(w write) bool { return w.request.At > from && w.request.At < to }
	return slices.ContainsFunc(o.writes, during) &&
		!slices.ContainsFunc(o.writes, func(w write) bool { return during(w) && w.request.Code >= 400 })
}

// scheduled: the n-th call of a handler for one generation comes no sooner than the schedule has
// it, counted from the first. The schedule must survive a restart, so time without the operator
// counts.
func (r *Record) scheduled(o *example) error {
	rows := map[change][]history.Time{}
	for _, c := range o.calls {
		row := append(rows[c.change], c.at)
		rows[c.change] = row
		due := -second
		for n := range len(row) - 1 {
			due += delay(n)
		}
		if since := c.at - row[0]; since < due {
			return fmt.Errorf("call %d of the handler of %s came %v after the first, "+
				"and %v sooner than the schedule has it", len(row), o, since, due-since)
		}
	}
	return nil
}

// tries are the attempts of the operator, by object. The period after the n-th depends on the
// number of attempts and on the time since the first, and is at most the kubelet's longest delay.
// remembers is set if a restart must not reset the schedule.
func (r *Record) tries(remembers bool) property.Attempts {
	return property.Attempts{
		Of: func(e *history.Event) string { return r.attempts[e.Index] },
		Period: func(all []property.Attempt) time.Duration {
			last, first, n := all[len(all)-1], all[0], len(all)-1
			if remembers { // but not attempts of which it may not know, because it was ended
				n -= count(r.incarnations[:last.Incarnation-1], (*incarnation).blameless)
			} else {
				i := slices.IndexFunc(all, func(a property.Attempt) bool { return a.Incarnation == last.Incarnation })
				first, n = all[i], n-i
			}
			return min(delay(n), delay(reached(last.At-first.At)-1), longestKubeletDelay)
		},
		Longest: longest, Lag: lag, Ended: func() history.Time { return r.ended },
	}
}

// recovered: once nothing is refused any more, every object is handled within the delay that the
// schedule has reached, or the kubelet's back-off if the operator ends, although no event occurs.
func (r *Record) recovered(o *example) error {
	handled := !slices.ContainsFunc(r.due(o), func(c change) bool { return !r.shows(o, c) })
	if r.allowed == 0 || len(o.refused) == 0 || handled {
		return nil
	}
	due := delay(reached(r.allowed - o.refused[0].heard))
	if len(r.incarnations) > 1 {
		due = kubeletDelay(len(r.incarnations) - 1)
	}
	if late := r.now - r.allowed; late > due+soon {
		return fmt.Errorf("%v after nothing is refused any more, %s has not been handled", late, o)
	}
	return nil
}

// oneAttempt is how long a client may repeat a request that the server could not perform.
const oneAttempt = 3*leg + leg/2

// next is when the operator tried again after some time: a call of a handler, or another write that
// was refused.
func (o *example) next(after history.Time) (history.Time, bool) {
	for _, c := range o.calls {
		if c.at > after {
			return c.at, true
		}
	}
	for _, r := range o.refused {
		if r.heard > after && r.request.Sub == "" && !(couldNot(r.code) && r.heard <= after+oneAttempt) {
			return r.heard, true
		}
	}
	return 0, false
}

// startsOver: after a success, the delay between the first two failing attempts is the first of the
// schedule. A success is a change of the spec after which nothing was refused.
func (r *Record) startsOver(o *example) error {
	const calls = 6 * leg // the end of the first attempt, what is said of it, a read and the way
	before := history.Time(-1)
	for _, refused := range o.refused {
		next, tried := o.next(refused.heard)
		if !tried || refused.request.Sub != "" {
			continue
		}
		succeeded := func(w write) bool {
			return before < w.request.At && w.request.At < refused.heard && w.request.Code < 400 && w.outcome
		}
		d := next - refused.heard
		if before >= 0 && slices.ContainsFunc(o.writes, succeeded) && (d < second || d > second+window+calls) {
			return fmt.Errorf("after a success, the second attempt at %s came %v after the first, "+
				"not after the first delay", o, d)
		}
		before = refused.heard
	}
	return nil
}
