// This file exists for the properties of the story, with their numbers.

package throttle

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/wavetank/wavetank/history"
)

// The numbers of the schedule 1, 1, 2, 3, 5, 8, … 610 s: how often in its first part, and how
// seldom after.
const (
	firstPart = 1596 * time.Second
	mostCalls = 15
	longest   = 610 * time.Second
)

// Bounded: a handler is called for one object no more often than the schedule allows, give or take
// the time that the calls take.
func (b *Record) Bounded(h *history.History) error {
	b.take(h)
	for _, o := range b.order {
		for serial := range b.handlers {
			if err := o.bounded(fmt.Sprint(serial)); err != nil {
				return err
			}
		}
	}
	return nil
}

func (o *example) bounded(serial string) error {
	calls := o.callsOf(serial)
	first := 0
	for i, at := range calls {
		if i > 0 && o.stored(calls[i-1], at) {
			first = i
		}
		since := at - calls[first]
		switch n := i - first + 1; {
		case since < firstPart && n > mostCalls:
			return fmt.Errorf("the handler of %s was called %d times within %v", o.name, n, since)
		case since >= firstPart && at-calls[i-1] < longest-second:
			return fmt.Errorf("the handler of %s was called again after %v, %v after the first time", o.name,
				at-calls[i-1], since)
		}
	}
	return nil
}

// stored says that all that was written meanwhile was stored. Then the row has come to an end:
// whatever call follows is the handler's own way of trying again, because a request of its own has
// failed.
func (o *example) stored(from, to history.Time) bool {
	wrote := false
	for _, w := range o.writes {
		if w.at > from && w.at < to {
			if !w.stored {
				return false
			}
			wrote = true
		}
	}
	return wrote
}

func (o *example) callsOf(serial string) (at []history.Time) {
	for _, c := range o.calls {
		if c.serial == serial {
			at = append(at, c.at)
		}
	}
	return at
}

// schedule is the original's, in seconds.
var schedule = []time.Duration{1, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 233, 377, 610}

// Scheduled: the n-th call of a handler for one generation comes no sooner than the schedule has
// it, counted from the first, whatever time the operator was down. It is what a schedule can
// promise that goes on after a restart.
func (b *Record) Scheduled(h *history.History) error {
	b.take(h)
	for _, o := range b.order {
		calls := map[change][]history.Time{}
		for _, c := range o.calls {
			calls[c.change] = append(calls[c.change], c.at)
		}
		for _, c := range o.calls { // in order
			due := -second
			for i, at := range calls[c.change] {
				if since := at - calls[c.change][0]; since < due {
					return fmt.Errorf("call %d of the handler of %s came %v after the first, "+
						"and %v sooner than the schedule has it",
						i+1, o.name, since, due-since)
				}
				due += schedule[min(i, len(schedule)-1)] * time.Second
			}
			delete(calls, c.change)
		}
	}
	return nil
}

// OncePerIncarnation: one incarnation of the operator calls a handler once for each change of an
// object, and the next incarnation begins no sooner than the kubelet lets it.
func (b *Record) OncePerIncarnation(h *history.History) error {
	b.take(h)
	for _, o := range b.order {
		for i, c := range o.calls {
			if slices.ContainsFunc(o.calls[:i],
				func(before call) bool { return before.change == c.change && before.incarnation == c.incarnation }) {
				return fmt.Errorf("incarnation %d of the operator called a handler of %s twice for generation %d",
					c.incarnation, o.name, c.generation)
			}
		}
	}
	for i := 1; i < len(b.incarnations); i++ {
		if pause := b.incarnations[i].began - b.incarnations[i-1].ended; pause < kubeletDelay(i) {
			return fmt.Errorf("incarnation %d of the operator began %v after the end of the last one", i+1, pause)
		}
	}
	return nil
}

// Isolated: what an object whose name begins with "healthy" needs is done within the batch window
// and what calls take, from the event on that says it, and the operator does not end because of an
// object.
func (b *Record) Isolated(h *history.History) error {
	if err := b.NoEnd(h); err != nil {
		return err
	}
	const calls = 4 * leg // the end of the last one, an intent there and back, and the way to the call log
	for _, o := range b.order {
		switch {
		case !strings.HasPrefix(o.name, "healthy") || o.gone:
		case o.heard > 0 && o.wrote == 0 && h.Now() > o.heard+window+leg:
			return fmt.Errorf("nothing has been written to %s %v after the operator heard of it", o.name,
				h.Now()-o.heard)
		case o.ready > 0 && len(o.calls) == 0 && h.Now() > o.ready+window+calls:
			return fmt.Errorf("the handler of %s has not been called %v after the event that says that it can be",
				o.name, h.Now()-o.ready)
		}
	}
	return nil
}

// Newest: when handlers are called, the spec that they are called for is the newest, or was 5 s
// ago.
func (b *Record) Newest(h *history.History) error {
	b.take(h)
	for _, o := range b.order {
		for _, c := range o.calls {
			if next, replaced := o.asked[c.generation+1]; replaced && c.at > next+soon {
				return fmt.Errorf("the handler of %s was called for generation %d, %v after that was replaced", o.name,
					c.generation, c.at-next)
			}
		}
	}
	return nil
}

// EffectOnce: a handler makes one child for each change of an object.
func (b *Record) EffectOnce(h *history.History) error {
	b.take(h)
	for _, o := range b.order {
		for _, c := range o.calls {
			if n := o.children[c.change]; n > 1 {
				return fmt.Errorf("the handler of %s has made %d children for generation %d", o.name, n, c.generation)
			}
		}
	}
	return nil
}

// Called: every handler of every object has made its child for the object's generation.
func (b *Record) Called(h *history.History) error {
	return b.each(h, func(o *example, c change, _ string) error {
		if o.children[c] == 0 {
			return fmt.Errorf("no handler has made a child for generation %d of %s", c.generation, o.name)
		}
		return nil
	})
}

// Handled: and the status shows it.
func (b *Record) Handled(h *history.History) error {
	if err := b.Called(h); err != nil {
		return err
	}
	return b.each(h, func(o *example, c change, handler string) error {
		if o.latest.Status.Handlers[handler] == nil {
			return fmt.Errorf("the status of %s does not show what its handler has made for generation %d", o.name,
				c.generation)
		}
		return nil
	})
}

// each goes through the objects that are to stay, and the handlers that are for them.
func (b *Record) each(h *history.History, judge func(o *example, c change, handler string) error) error {
	b.take(h)
	for _, o := range b.order {
		for i, id := range b.handlers {
			if o.gone || o.latest.Metadata.DeletionTimestamp != nil || id == long && o.latest.Spec.Replicas == nil {
				continue
			}
			if err := judge(o, change{o.latest.Metadata.Generation, fmt.Sprint(i)}, id); err != nil {
				return err
			}
		}
	}
	return nil
}

// Recovered: once nothing is refused any more, every object is handled within the delay that the
// schedule has come to, or the kubelet's back-off if the operator ends, though nobody touches it.
func (b *Record) Recovered(h *history.History) error {
	return b.each(h, func(o *example, c change, handler string) error {
		if b.allowed == 0 || len(o.refused) == 0 || o.latest.Status.Handlers[handler] != nil {
			return nil
		}
		due := delayAfter(b.allowed - o.refused[0].at)
		if len(b.incarnations) > 1 {
			due = kubeletDelay(len(b.incarnations) - 1)
		}
		if late := h.Now() - b.allowed; late > due+soon {
			return fmt.Errorf("%v after nothing is refused any more, %s has not been handled", late, o.name)
		}
		return nil
	})
}

// longestKubeletDelay is how long the kubelet waits, at most, before it starts a program that ends
// again and again.
const longestKubeletDelay = 5 * time.Minute

// kubeletDelay is how long it waits before it starts a program that has ended so many times.
func kubeletDelay(ends int) time.Duration {
	wait := 10 * time.Second
	for range ends - 1 {
		wait = min(2*wait, longestKubeletDelay)
	}
	return wait
}

// delayAfter is the delay that the schedule has come to some time after the first failure.
func delayAfter(since time.Duration) time.Duration {
	for _, d := range schedule {
		if since -= d * time.Second; since < 0 {
			return d * time.Second
		}
	}
	return longest
}

// HandledSoon: an edit of the spec is handled within a minute.
func (b *Record) HandledSoon(h *history.History) error { return b.handledWithin(h, time.Minute) }

// HandledAtAll: within five minutes, and what calls take.
func (b *Record) HandledAtAll(h *history.History) error {
	return b.handledWithin(h, 5*time.Minute+soon)
}

func (b *Record) handledWithin(h *history.History, patience time.Duration) error {
	b.take(h)
	for _, o := range b.order {
		g := o.latest.Metadata.Generation
		until, made := o.made[g]
		if !made {
			until = h.Now()
		}
		if late := until - o.asked[g]; g > 1 && late > patience {
			return fmt.Errorf("%v after generation %d of %s came to be, no handler had made a child for it", late, g,
				o.name)
		}
	}
	return nil
}

// NeverSilent: when a write was refused for good, the object or an Event about it says so before
// the operator tries again; if it does not try again, within ten seconds.
func (b *Record) NeverSilent(h *history.History) error {
	b.take(h)
	for _, o := range b.order {
		for _, r := range o.refused {
			at := r.at + 10*second
			if next, ok := o.attempt(r.at); ok {
				at = min(at, next)
			}
			if h.Now() >= at && !o.reports(r.message, at) {
				return fmt.Errorf("at %s a write to %s was refused, "+
					"and %v later nothing on or about the object says so: %s",
					history.Clock(r.at), o.name, at-r.at, r.message)
			}
		}
	}
	return nil
}

// oneAttempt is how long a client may go on with a request that the server could not perform.
const oneAttempt = 3*leg + leg/2

// attempt is when the operator tried again after some time: a call of a handler, or another write
// that was refused.
func (o *example) attempt(after history.Time) (history.Time, bool) {
	for _, c := range o.calls {
		if c.at > after {
			return c.at, true
		}
	}
	for _, r := range o.refused {
		if r.at > after && !r.status && !(couldNot(r.code) && r.at <= after+oneAttempt) {
			return r.at, true
		}
	}
	return 0, false
}

// Actionable: for 95 % of the time from a second after the first refusal, the object or an Event
// about it says what is refused and where, as long as it is refused. It judges when the workload is
// over.
func (b *Record) Actionable(h *history.History) error {
	b.take(h)
	for _, o := range b.order {
		if !b.over || len(o.refused) == 0 {
			continue
		}
		from, to, said := o.refused[0].at+second, h.Now(), time.Duration(0)
		if b.allowed > 0 {
			to = b.allowed
		}
		for at := from; at < to; at += second {
			if o.reports(o.refused[0].message, at) {
				said += second
			}
		}
		if all := to - from; said < all*95/100 {
			return fmt.Errorf("for %v of %v nothing on or about %s said what was refused: %s", all-said, all, o.name,
				o.refused[0].message)
		}
	}
	return nil
}

// StartsOver: after a success, the second attempt comes the first delay after the first one that
// fails: no sooner, and later only by what gathering events and calls take. A success is a change
// of the spec after which nothing was refused.
func (b *Record) StartsOver(h *history.History) error {
	b.take(h)
	const calls = 6 * leg // the end of the first attempt, what is said of it, a read and the way
	for _, o := range b.order {
		before := history.Time(-1)
		for _, r := range o.refused {
			next, tried := o.attempt(r.at)
			if !tried || r.status {
				continue
			}
			if d := next - r.at; before >= 0 && o.succeeded(before, r.at) && (d < second || d > second+window+calls) {
				return fmt.Errorf("after a success, the second attempt at %s came %v after the first, "+
					"not after the first delay", o.name, d)
			}
			before = r.at
		}
	}
	return nil
}

// succeeded says whether an outcome was written down between two times.
func (o *example) succeeded(from, to history.Time) bool {
	return slices.ContainsFunc(o.writes, func(w write) bool {
		return from < w.at && w.at < to && w.stored && strings.Contains(w.sent, `\"success\":true`)
	})
}

// KeepsForeign: a finalizer that somebody else put on an object stays there.
func (b *Record) KeepsForeign(h *history.History) error {
	b.take(h)
	for _, o := range b.order {
		if o.name == held && b.foreign && !o.gone &&
			!strings.Contains(strings.Join(o.latest.Metadata.Finalizers, " "), foreignFinalizer) {
			return fmt.Errorf("%s has lost the finalizer of another controller; it has %v", o.name,
				o.latest.Metadata.Finalizers)
		}
	}
	return nil
}

const foreignFinalizer = "example.com/held"
