package property

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"

	"github.com/wavetank/wavetank/history"
)

// NoFutileRequeue holds if a timer causes at most most consecutive reconciles of a key that change
// nothing and read nothing new. For Always. Timers are RequeueAfter and the back-off of an error or
// of Requeue. Controllers that are named in polling are not judged.
//
//   - A change is one of an object other than Leases and Events, or an effect outside the
//     cluster. A write that changes nothing does not count.
//   - Something new is an answer that differs from the answer in the reconcile before, from the
//     API server or an outside host. Of a list the items are compared. A watch event is new for
//     all keys of its incarnation, because reads from a cache cannot be observed.
//   - The count starts again after a disturbance, and after a reconcile with another cause,
//     such as a watch event. So a back-off is not judged while faults are injected.
//
// Timers fire once in [World.Settle] when the world is quiescent. Let time pass with [World.Sleep]:
// most times the longest period, and ten more for a back-off that still grows.
//
// It is not a default property. With 20 requeues allowed it saw no violation in 126 to 208 runs of
// each operator in examples/ and of four reference scenarios. The fifth scenario, which polls every
// minute, violated it in all of 176 runs. It reports polling by design: a periodic repair of drift,
// an outside service that is asked until it is ready, a deadline that is waited for in steps.
//
// [World.Settle]: https://pkg.go.dev/github.com/wavetank/wavetank/sim#World.Settle
// [World.Sleep]: https://pkg.go.dev/github.com/wavetank/wavetank/sim#World.Sleep
func NoFutileRequeue(most int, polling ...string) Property {
	return perRun(func() judge {
		q := &requeues{most: most, polling: polling, keys: map[string]map[history.Key]*requeued{},
			outside: map[string]map[string]uint64{}}
		return judge{event: q.event}
	})
}

// requeues follows the keys of all incarnations.
type requeues struct {
	most    int
	polling []string
	keys    map[string]map[history.Key]*requeued // by incarnation and key
	// answers to requests outside of reconciles, by incarnation and request
	outside map[string]map[string]uint64
	effects int // how many of the effects were read
}

// requeued is what is known of a key: its reconcile under way and those before it.
type requeued struct {
	reconcile history.Reconcile // that is under way
	timed     bool              // a timer led to it
	changed   bool              // it or another writer has changed something
	answers   []string          // what it has read
	before    []string          // what the reconcile before had read, in order
	judged    bool              // there was a reconcile before
	futile    int               // reconciles in a row
	since     history.Time
}

func (r *requeues) event(h *history.History, e *history.Event) error {
	left := r.effect(h, e)
	if disturbs(e) {
		clear(r.keys)
	}
	if e.Kind == history.Start {
		delete(r.outside, (&history.Event{Process: e.Process, Incarnation: e.Incarnation - 1}).Actor())
	}
	if e.Incarnation == 0 {
		return nil
	}
	key := r.keys[e.Actor()][e.Reconcile.Key]
	switch e.Kind {
	case history.Deliver:
		if !e.Ref.Chatter() && e.Verb != "BOOKMARK" {
			r.reset(e.Actor())
		}
	case history.Dequeue:
		r.begin(e)
	case history.Request:
		r.request(key, e, left || changes(e))
	case history.Done:
		if key != nil && key.reconcile == e.Reconcile {
			return r.done(key, e)
		}
	}
	return nil
}

// effect reports whether something left the cluster during an event.
func (r *requeues) effect(h *history.History, e *history.Event) (left bool) {
	for all := h.Effects(""); r.effects < len(all) && all[r.effects].Event <= e.Index; r.effects++ {
		left = left || all[r.effects].Event == e.Index
	}
	return left
}

// reset resets the counts of all keys of an incarnation.
func (r *requeues) reset(who string) {
	for _, k := range r.keys[who] {
		k.changed = true
	}
}

func (r *requeues) begin(e *history.Event) {
	if slices.Contains(r.polling, e.Reconcile.Controller) {
		return
	}
	who, name := e.Actor(), e.Reconcile.Key
	if r.keys[who] == nil {
		r.keys[who] = map[history.Key]*requeued{}
	}
	k := r.keys[who][name]
	if k == nil {
		k = &requeued{}
		r.keys[who][name] = k
	}
	k.reconcile, k.timed, k.answers = e.Reconcile, e.Cause.Timer(), nil
	if k.futile == 0 {
		k.since = e.At
	}
}

// request records a request, sent by a reconcile or outside of reconciles.
func (r *requeues) request(k *requeued, e *history.Event, changed bool) {
	asked := strings.Join([]string{e.Verb, e.Ref.Group, e.Ref.String(), e.Sub, e.Host, e.Path}, " ")
	switch {
	case e.Verb == "watch" || e.Ref.Chatter():
	case !e.Reconcile.None():
		if k != nil && k.reconcile == e.Reconcile {
			k.changed = k.changed || changed
			k.answers = append(k.answers, fmt.Sprintf("%s %d %x", asked, e.Code, answer(e)))
		}
	default:
		known := r.outside[e.Actor()]
		if known == nil {
			known = map[string]uint64{}
			r.outside[e.Actor()] = known
		}
		sum := answer(e)
		if old, ok := known[asked]; changed || !ok || old != sum {
			r.reset(e.Actor())
		}
		known[asked] = sum
	}
}

// done judges a reconcile that has ended.
func (r *requeues) done(k *requeued, e *history.Event) error {
	slices.Sort(k.answers)
	same := k.judged && slices.Equal(k.answers, k.before)
	again := e.Outcome.Again()
	if again && k.timed && !k.changed && same {
		k.futile++
	} else {
		k.futile = 0
	}
	k.before, k.judged, k.changed = k.answers, true, false
	k.reconcile = history.Reconcile{}
	if breaks("NoFutileRequeue: one futile reconcile too many", k.futile > r.most) {
		return fmt.Errorf("%s %s was reconciled %d times in a row because of a timer, from %s to %s, and each time it "+
			"changed nothing and read nothing new; reconcile %q ended with %q; %s", e.Actor(), e.Reconcile.Key,
			k.futile,
			history.Clock(k.since), history.Clock(e.At), e.Reconcile.String(), e.Outcome.String(), instead(e.Outcome))
	}
	return nil
}

// instead describes what to do about a requeue without effect.
func instead(outcome history.Outcome) string {
	if outcome.Kind == history.OutcomeFailure {
		return "an error that only a change can end is a reconcile.TerminalError"
	}
	return "what it waits for can be watched, or its controller polls by design and is named as an exception"
}

// answer is a fingerprint of what a request was answered. A list's own version changes with every
// write anywhere, so it does not count.
func answer(e *history.Event) uint64 {
	body := e.Received
	if e.Verb == "list" {
		var list struct{ Items json.RawMessage }
		if json.Unmarshal(body, &list) == nil {
			body = list.Items
		}
	}
	f := fnv.New64a()
	f.Write(bytes.TrimSpace(body))
	return f.Sum64()
}
