// This file holds the properties of a controller whose orders are refused: whether it waits longer
// each time, and whether it settles into one order for each period of back-off.

package promotion

import (
	"fmt"
	"slices"
	"time"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/history/view"
)

const (
	// firstBackOff and longestBackOff are those of controller-runtime's queues.
	firstBackOff, longestBackOff = 5 * time.Millisecond, 1000 * time.Second
	// periods are how many must be as they should after faults.
	periods = 5
)

// backOff is what controller-runtime's queues put a key off for after n failures in a row.
func backOff(n int) time.Duration { return min(firstBackOff<<min(n-1, 20), longestBackOff) }

// refused says whether an order was answered, and not with what was hoped for.
func refused(c *view.Call) bool { return c.Reply != nil && c.Reply.Code/100 != 2 }

// posts takes in an event. An order of the same promotion must not follow sooner on one that was
// refused than the queue would allow after as many failures.
func (r *Record) posts(e *history.Event) {
	o, orders := orderOf(e)
	if !orders {
		return
	}
	calls, before := r.view.Of(e).Calls, r.posted[o.Key()]
	if n := len(before); n > 0 && refused(before[n-1]) && r.tooSoon == nil {
		if since, wait := e.At-before[n-1].Reply.At, backOff(n); since < wait {
			r.tooSoon = fmt.Errorf("the %s was ordered again %v after order %d had been refused, not %v", o,
				since, n, wait)
		}
	}
	r.posted[o.Key()] = append(before, calls[len(calls)-1])
}

// spaced (S4-L2): who has been refused waits before the next order, twice as long each time and at
// least as long as the queue would.
func (r *Record) spaced(h *history.History) error {
	r.read(h)
	return r.tooSoon
}

// restingOrders are the orders of the only promotion that has been ordered, from the first one on
// that came after a sleep longer than the longest lag: it has settled. Sleeps in which the process
// was away do not count, nor those that faults may have prolonged.
func (r *Record) restingOrders() []*view.Call {
	for _, calls := range r.posted {
		for i := 1; i < len(calls); i++ {
			before, next := calls[i-1], &calls[i].Request
			same := next.Incarnation == before.Request.Incarnation
			disturbed := slices.ContainsFunc(r.injected, func(at history.Time) bool {
				return at > before.Request.At && at < next.At
			})
			if next.At >= r.from && same && !disturbed && sleptUntil(before, next.At) > lag {
				return calls[i:]
			}
		}
	}
	return nil
}

// sleptUntil is the time from the answer to an order, or from the order itself if the answer was
// lost, to a later one.
func sleptUntil(before *view.Call, at history.Time) time.Duration {
	if before.Reply != nil && before.Reply.At <= at {
		return at - before.Reply.At
	}
	return at - before.Request.At
}

// restrained: while faults are injected, there is at most one order more than faults in any time as
// long as the longest lag, once it has settled. A fault counts for as long as it may have an
// effect.
func (r *Record) restrained(h *history.History) error {
	r.read(h)
	resting := r.restingOrders()
	for i, c := range resting {
		from, orders, faults := c.Request.At, 0, 0
		for _, next := range resting[i:] {
			if next.Request.At < from+lag {
				orders++
			}
		}
		for _, at := range r.injected {
			if at >= from-lag && at <= from+lag {
				faults++
			}
		}
		if orders > 1+faults {
			return fmt.Errorf("%d orders within %v from %s on, and %d faults", orders, lag, history.Clock(from), faults)
		}
	}
	return nil
}

// settles: when no fault is injected any more, there is one order for each period of back-off, and
// none is as short as the longest lag again.
func (r *Record) settles(h *history.History) error {
	r.read(h)
	if r.faulty {
		return nil
	}
	resting := r.restingOrders()
	for i := 1; i < len(resting); i++ {
		if slept := sleptUntil(resting[i-1], resting[i].Request.At); slept <= lag {
			return fmt.Errorf("the order at %s came %v after the one before, although it had settled at %s",
				history.Clock(resting[i].Request.At), slept, history.Clock(resting[0].Request.At))
		}
	}
	if n := max(len(resting)-1, 0); r.over && n < periods {
		return fmt.Errorf("it has ordered %d times since %s, and after %d periods it has stopped", len(resting),
			history.Clock(r.from), n)
	}
	return nil
}
