// This file holds the properties, by name. Those of how soon something is tried again are in
// backoff.go.

package throttle

import (
	"bytes"
	"cmp"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/history/view"
	"github.com/wavetank/wavetank/scenarios/internal/properties"
	"github.com/wavetank/wavetank/sim/property"
)

// The names of the properties.
const (
	bounded            = "handlers are called no more often than the schedule allows"
	scheduled          = "no call of a handler comes sooner than the schedule has it"
	restrained         = "a period has at most one attempt more than faults"
	settles            = "there is one attempt for each period of back-off"
	oncePerIncarnation = "one incarnation calls the handlers of an object once"
	isolated           = "a healthy object is handled within the batch window"
	noEnd              = "the operator does not end because of an object"
	effectOnce         = "a handler makes one child for each change"
	calledOnce         = "a handler is called once for each change"
	neverAgain         = "no handler is called again for the same change"
	notVanished        = "no handler is called for what has vanished"
	insists            = "what the server could not do is asked for again at once"
	noFailure          = "a conflict is no failure"
	called             = "every object gets its child"
	handled            = "every object is handled"
	handledSoon        = "an edit is handled within a minute"
	handledAtAll       = "an edit is handled within five minutes"
	newest             = "no handler is called for a spec that has long been replaced"
	recovered          = "what is allowed again is handled without an event"
	neverSilent        = "what is refused is said within one attempt"
	actionable         = "the object says what is refused"
	noZombie           = "an operator that no longer watches ends"
	startsOver         = "after a success the delays start over"
	keepsForeign       = "a foreign finalizer stays"
)

// declare declares properties of each object, or of the operator.
func (s *World) declare(names ...string) {
	r := s.Record
	each := func(judge func(*example) error) properties.Judge {
		return properties.Each(func() iter.Seq[*example] { return slices.Values(r.examples) }, judge)
	}
	properties.Set{Read: r.read, Always: map[string]properties.Judge{
		bounded: each(r.bounded), scheduled: each(r.scheduled),
		restrained: property.AttemptsBounded(r.tries(true)), settles: property.AttemptsSettle(r.tries(false)),
		oncePerIncarnation: func(h *history.History) error {
			return cmp.Or(r.keepsToTheKubelet(h), each(r.oncePerIncarnation)(h))
		},
		isolated: func(h *history.History) error { return cmp.Or(r.noEnd(h), each(r.isolated)(h)) },
		noEnd:    r.noEnd, noZombie: r.noZombie, effectOnce: each(r.effectOnce), calledOnce: each(r.calledOnce),
		neverAgain:  property.AtMostOnce(callEffect),
		notVanished: each(r.notVanished), insists: each(r.insists), noFailure: each(r.noFailure),
		handledSoon: each(r.handledWithin(time.Minute)), handledAtAll: each(r.handledWithin(5*time.Minute + soon)),
		newest: each(r.newest), recovered: each(r.recovered), neverSilent: each(r.neverSilent),
		actionable: each(r.actionable), startsOver: each(r.startsOver), keepsForeign: each(r.keepsForeign),
	}, Eventually: map[string]properties.Judge{called: each(r.called), handled: each(r.handled)},
	}.Declare(s.World, names...)
}

// Bounds: window is how long the operator gathers events, leg the longest time of a request or a
// reply, soon the time of a finalizer, an intent and a handler.
const (
	window = 100 * time.Millisecond
	leg    = 500 * time.Millisecond
	second = time.Second
	soon   = 5 * time.Second
)

// noEnd: the operator does not end because of an object. It may be killed, or find itself unable to
// watch.
func (r *Record) noEnd(*history.History) error {
	for _, i := range r.incarnations {
		if i.Over && !i.blameless() {
			return fmt.Errorf("%s has ended, and with it the work on every object: %s", i, i.Outcome)
		}
	}
	return nil
}

// noZombie: an incarnation whose watch is refused for good does not ask again, and one that does
// not watch any more, and does not ask to, ends within 5 s.
func (r *Record) noZombie(*history.History) error {
	for _, i := range r.incarnations {
		if i.insists {
			return fmt.Errorf("%s was refused its watch at %s, and asked again instead of ending", i,
				history.Clock(i.refused))
		}
		if !i.Over && i.deaf != 0 && r.now > i.deaf+5*second {
			return fmt.Errorf("%s has not watched since %s and still runs", i, history.Clock(i.deaf))
		}
	}
	return nil
}

// oncePerIncarnation: one incarnation of the operator calls a handler once for each change.
func (r *Record) oncePerIncarnation(o *example) error {
	for i, c := range o.calls {
		same := func(before call) bool { return before.change == c.change && before.incarnation == c.incarnation }
		if slices.ContainsFunc(o.calls[:i], same) {
			return fmt.Errorf("incarnation %d of the operator called a handler of %s twice for generation %d",
				c.incarnation, o, c.generation)
		}
	}
	return nil
}

// keepsToTheKubelet: the next incarnation begins no sooner than the kubelet lets it.
func (r *Record) keepsToTheKubelet(*history.History) error {
	for n := 1; n < len(r.incarnations); n++ {
		if pause := r.incarnations[n].Began - r.incarnations[n-1].Ended; pause < kubeletDelay(n) {
			return fmt.Errorf("%s began %v after the end of the last incarnation", r.incarnations[n], pause)
		}
	}
	return nil
}

// isolated: what an object whose name begins with "healthy" needs is done within the batch window
// and what calls take, from the event on that says it.
func (r *Record) isolated(o *example) error {
	const calls = 4 * leg // the end of the last one, an intent there and back, and the way to the call log
	switch {
	case !strings.HasPrefix(o.Ref.Name, "healthy") || !o.Exists():
	case o.heard > 0 && len(o.writes) == 0 && r.now > o.heard+window+leg:
		return fmt.Errorf("nothing has been written to %s %v after the operator heard of it", o, r.now-o.heard)
	case o.ready > 0 && len(o.calls) == 0 && r.now > o.ready+window+calls:
		return fmt.Errorf("the handler of %s has not been called %v after the event that says that it can be",
			o, r.now-o.ready)
	}
	return nil
}

// newest: when handlers are called, the spec that they are called for is the newest, or was 5 s
// ago.
func (r *Record) newest(o *example) error {
	for _, c := range o.calls {
		if newer := o.asked[c.generation:]; len(newer) > 0 && c.at > newer[0]+soon {
			return fmt.Errorf("the handler of %s was called for generation %d, %v after that was replaced", o,
				c.generation, c.at-newer[0])
		}
	}
	return nil
}

// effectOnce: a handler makes one child for each change of an object.
func (r *Record) effectOnce(o *example) error {
	for _, c := range o.calls {
		if n := o.made(c.change); n > 1 {
			return fmt.Errorf("the handler of %s has made %d children for generation %d", o, n, c.generation)
		}
	}
	return nil
}

// calledOnce: a handler is called once for each change of an object, and once more only if a
// request of it failed or the operator ended meanwhile. neverAgain allows no exception.
func (r *Record) calledOnce(o *example) error {
	last := map[change]call{}
	for _, c := range o.calls {
		before, again := last[c.change]
		last[c.change] = c
		if !again {
			continue
		}
		since := r.incarnations[before.incarnation-1 : c.incarnation]
		if since[0].failed < before.at && !slices.ContainsFunc(since[:len(since)-1], (*incarnation).blameless) {
			return fmt.Errorf("the handler of %s was called again for generation %d, %v after the last time",
				o, c.generation, c.at-before.at)
		}
	}
	return nil
}

// notVanished: no handler is called for an object that is not there any more, and was not while the
// operator asked.
func (r *Record) notVanished(o *example) error {
	at, gone := o.Removed()
	for _, c := range o.calls {
		if late := c.at - at; gone && late > 2*leg {
			return fmt.Errorf("the handler of %s was called for generation %d, %v after it had gone", o,
				c.generation, late)
		}
	}
	return nil
}

// insists: a write that was answered with 429 or 5xx is sent again within a second, until that has
// been so three times in a row.
func (r *Record) insists(o *example) error {
	const again = 2*second + leg // 429 says when, which is in a second
	row := 0
	for i, w := range o.writes {
		if !couldNot(w.code) {
			row = 0
			continue
		}
		row++
		same := func(n write) bool {
			return bytes.Equal(n.request.Sent, w.request.Sent) && n.request.At <= w.heard+again
		}
		if row < 3 && r.now > w.heard+again && !slices.ContainsFunc(o.writes[i+1:], same) {
			return fmt.Errorf("at %s a write to %s was answered with %d, and not sent again",
				history.Clock(w.request.At), o, w.code)
		}
	}
	return nil
}

func couldNot(code int) bool { return code == 429 || code >= 500 }

// noFailure: after a 409 the operator reads the newest version at once, or writes because of an
// event of it.
func (r *Record) noFailure(o *example) error {
	for _, w := range o.writes {
		soon := func(at history.Time) bool { return w.heard <= at && at <= w.heard+window+leg }
		wrote := func(n write) bool { return n.request.Code < 400 && soon(n.request.At) }
		if w.code == 409 && o.Exists() && r.now > w.heard+window+leg && !slices.ContainsFunc(o.reads, soon) &&
			!slices.ContainsFunc(o.writes, wrote) {
			return fmt.Errorf("at %s a write to %s was answered with 409, "+
				"and within %v the operator has not read the object", history.Clock(w.heard), o, window+leg)
		}
	}
	return nil
}

// called: every handler of an object that is to stay has made its child for its generation.
func (r *Record) called(o *example) error {
	for _, c := range r.due(o) {
		if o.made(c) == 0 {
			return fmt.Errorf("no handler has made a child for generation %d of %s", c.generation, o)
		}
	}
	return nil
}

// handled: and the status shows it.
func (r *Record) handled(o *example) error {
	if err := r.called(o); err != nil {
		return err
	}
	for _, c := range r.due(o) {
		if !r.shows(o, c) {
			return fmt.Errorf("the status of %s does not show what its handler has made for generation %d", o,
				c.generation)
		}
	}
	return nil
}

// due is what handlers are for, if the object is to stay, and shows whether the status has it.
func (r *Record) due(o *example) (all []change) {
	now := o.Value()
	for i, id := range r.handlers {
		if o.Exists() && now.DeletionTimestamp == nil && (id != long || now.Spec.Replicas != nil) {
			all = append(all, change{now.Generation, i})
		}
	}
	return all
}

func (r *Record) shows(o *example, c change) bool {
	return o.Value().Status.Handlers[r.handlers[c.serial]] != nil
}

// handledWithin: an edit of the spec is handled in time.
func (r *Record) handledWithin(patience time.Duration) func(*example) error {
	return func(o *example) error {
		g, until := o.Value().Generation, r.now
		if i := slices.IndexFunc(o.children, func(made call) bool { return made.generation == g }); i >= 0 {
			until = o.children[i].at
		}
		if late := until - o.asked[g-1]; g > 1 && late > patience {
			return fmt.Errorf("%v after generation %d of %s was created, no handler had made a child for it", late, g,
				o)
		}
		return nil
	}
}

// neverSilent: when a write was refused for good, the object or an Event about it says so before
// the operator tries again; if it does not try again, within ten seconds.
func (r *Record) neverSilent(o *example) error {
	for _, refused := range o.refused {
		at := refused.heard + 10*second
		if next, ok := o.next(refused.heard); ok {
			at = min(at, next)
		}
		if r.now >= at && !r.reports(o, refused.message, at) {
			return fmt.Errorf("at %s a write to %s was refused, "+
				"and %v later nothing on or about the object says so: %s",
				history.Clock(refused.heard), o, at-refused.heard, refused.message)
		}
	}
	return nil
}

// actionable: for 95 % of the time from a second after the first refusal, the object or an Event
// about it says what is refused and where, as long as it is refused. It is judged at the end.
func (r *Record) actionable(o *example) error {
	if !r.over || len(o.refused) == 0 {
		return nil
	}
	message, from, to := o.refused[0].message, o.refused[0].heard+second, r.now
	if r.allowed > 0 {
		to = r.allowed
	}
	event, ok := r.event(o, message)
	if event = max(event, from); !ok || event > to {
		event = to
	}
	said := to - event + o.Held(from, event, func(s *object) bool { return strings.Contains(s.says(), message) })
	if all := to - from; said < all*95/100 {
		return fmt.Errorf("for %v of %v nothing on or about %s said what was refused: %s", all-said, all, o, message)
	}
	return nil
}

// keepsForeign: a finalizer of another controller stays on its object, and keeps it.
func (r *Record) keepsForeign(o *example) error {
	has := func(s view.State[object]) bool { return slices.Contains(s.Value.Finalizers, foreignFinalizer) }
	if slices.ContainsFunc(o.States, has) && (!o.Exists() || !has(*o.Latest())) {
		return fmt.Errorf("%s has lost the finalizer of another controller; it has %v", o, o.Value().Finalizers)
	}
	return nil
}
