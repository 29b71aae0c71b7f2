package property

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/wavetank/wavetank/history"
)

// Settles holds if no program under test changes anything later than within (virtual time) after
// the last disturbance. For Always. The default property "settles" fails at the end of a world that
// never becomes quiescent. This one fails sooner and names the writer.
//
// Choose within longer than the delays that the scenario allows: the lag of a stale cache, and the
// longest back-off or RequeueAfter after which an operator may rightly have work left.
func Settles(within time.Duration) Property {
	return perRun(func() judge {
		var last *history.Event
		var disturbed disturbances
		return judge{event: func(h *history.History, e *history.Event) error {
			switch {
			case disturbed.by(e):
				c := *e
				last = &c
			case last != nil && e.Incarnation > 0 && changes(e) &&
				breaks("Settles: a change long after the last disturbance", e.At-last.At > within):
				return fmt.Errorf("%s, %v after the last disturbance (%s); %v are allowed", what(e), e.At-last.At,
					what(last), within)
			}
			return nil
		}}
	})
}

// IdempotentAtRest holds if a reconcile of a settled world changes nothing, inside or outside the
// cluster. For Always. Outside the cluster, only what a model reports with [history.AddEffect]
// counts as a change, because a request may ask for something, or set what is set already.
//
// The check applies from a Settle until the next change by a writer that is not under test, or the
// next fault other than RacingRequeue. A change outside the cluster counts from when a program sees
// it: a request gets another answer than the same request got before, and no program has changed
// anything there in between. Times in answers are not compared, nor are answers that always differ.
// A reconcile that RequeueAfter asked for may act, because it waits for time to pass. A reconcile
// of one object may change another object that other writers have created, and have changed since
// the program first did: a program need not watch what is not its own.
//
// To have everything reconciled once more, stop the process. Its next incarnation reconciles every
// object that it lists:
//
//	w.Settle()
//	w.Stop("operator")
//	w.Settle()
func IdempotentAtRest() Property {
	return perRun(func() judge {
		rest := history.Time(-1) // when it settled; negative if the world is not quiescent
		timed := map[history.ReconcileID]bool{}
		effects := 0
		var objects upkeep
		var elsewhere outside
		return judge{event: func(h *history.History, e *history.Event) error {
			left := false // something left the cluster during this event
			for all := h.Effects(""); effects < len(all) && all[effects].Event <= e.Index; effects++ {
				left = left || all[effects].Event == e.Index && !all[effects].Unnamed()
			}
			run := e.ReconcileID()
			if elsewhere.news(e) {
				rest = -1
			}
			switch e.Kind {
			case history.Settled:
				rest = e.At
				objects.settled = maps.Clone(objects.kept)
			case history.Fault:
				if !e.Injection.Is("RacingRequeue") {
					rest = -1
				}
			case history.Dequeue:
				timed[run] = e.Cause.Kind == history.CauseRequeueAfter
			case history.Done:
				delete(timed, run)
			case history.Request:
				switch {
				case !left && !changes(e):
				case e.Incarnation == 0:
					rest = -1
				case !left && objects.restores(e):
				case breaks("IdempotentAtRest: a change at rest", rest >= 0 && !e.Reconcile.None() && !timed[run]):
					return fmt.Errorf("%s in reconcile %q, though the world had settled at %s and nothing has "+
						"disturbed it since",
						what(e), e.Reconcile.String(), history.Clock(rest))
				}
			}
			objects.take(e)
			return nil
		}}
	})
}

// upkeep is who has made objects, and who keeps them as they are.
type upkeep struct {
	foreign map[history.Ref]bool // others than the programs under test have made it
	kept    map[history.Ref]bool // a program has changed it, and no other writer since
	spoilt  map[history.Ref]bool // another writer has, once
	settled map[history.Ref]bool // kept, when the world settled
}

func (u *upkeep) take(e *history.Event) {
	if u.kept == nil {
		u.foreign, u.kept, u.spoilt = map[history.Ref]bool{}, map[history.Ref]bool{}, map[history.Ref]bool{}
	}
	for _, c := range e.Changes {
		others := e.Incarnation == 0
		if c.Type == "ADDED" {
			u.foreign[c.Ref] = others
		}
		u.spoilt[c.Ref] = u.spoilt[c.Ref] || others && u.kept[c.Ref]
		u.kept[c.Ref] = !others && !u.spoilt[c.Ref]
	}
}

// restores reports whether a reconcile only changes objects that it is not about, that others have
// made and that the program does not keep.
func (u *upkeep) restores(e *history.Event) bool {
	return !slices.ContainsFunc(e.Changes, func(c history.Change) bool {
		about := c.Ref.Namespace == e.Reconcile.Namespace && c.Ref.Name == e.Reconcile.Name
		return !c.Ref.Chatter() && (c.Type != "MODIFIED" || about || !u.foreign[c.Ref] || u.settled[c.Ref])
	})
}

// NoHotLoop holds if no key is dequeued more than most times within a period of virtual time
// without a reason. For Always. Reasons are: each change by a writer that is not under test; each
// answer by which a program learns, outside of its reconciles, of a change outside the cluster;
// each fault; each creation of an object that a writer not under test has deleted; and, for each
// object and program, the first change of each type (created, modified, deleted). A reason counts
// in its period and for up to five periods after it, because news may come late. A loop soon has no
// more reasons: it changes the same objects again and again, or nothing.
//
// The default property allows 100 dequeues within 10 s. client-go's default limiter of the classic
// queue (10 per second, burst 100) grants this to all keys of a controller together; here it is for
// one key. A key that always fails, from controller-runtime's first back-off of 5 ms, is dequeued
// 11 times in 10 s. A RequeueAfter of 100 ms or more never violates the property.
func NoHotLoop(most int, within time.Duration) Property {
	return perRun(func() judge {
		incarnations := map[string]map[history.Key]*loop{}
		return judge{event: func(h *history.History, e *history.Event) error {
			switch e.Kind {
			case history.Start:
				delete(incarnations, (&history.Event{Process: e.Process, Incarnation: e.Incarnation - 1}).Actor())
				return nil
			default:
				return nil
			case history.Dequeue:
			}
			actor, key := e.Actor(), e.Reconcile.Key
			if incarnations[actor] == nil {
				incarnations[actor] = map[history.Key]*loop{}
			}
			l := incarnations[actor][key]
			if l == nil {
				l = &loop{}
				incarnations[actor][key] = l
			}
			l.dequeues = append(l.dequeues, e.At)
			for e.At-l.dequeues[0] >= within {
				l.dequeues = l.dequeues[1:]
			}
			if len(l.dequeues) <= most || len(l.dequeues) <= most+l.explained && e.At-l.looked < within/10 {
				return nil // the reasons found a moment ago are enough
			}
			first := l.dequeues[0]
			events := h.From(max(0, first-5*within))
			l.explained, l.looked = reasons(events[:e.Index-events[0].Index]), e.At
			if breaks("NoHotLoop: more dequeues than reasons", len(l.dequeues)-l.explained > most) {
				return fmt.Errorf("%s was dequeued %d times from %s to %s, the last time because of %s, "+
					"and only %d changes or faults can have been reasons",
					actor+" "+key.String(), len(l.dequeues), history.Clock(first), history.Clock(e.At), e.Cause,
					l.explained)
			}
			return nil
		}}
	})
}

// loop is what NoHotLoop knows of a key.
type loop struct {
	dequeues  []history.Time // when the latest dequeues were
	explained int            // how many of them had a reason, when it was last counted
	looked    history.Time   // when that was
}

// reasons counts what may have led to dequeues.
func reasons(events []history.Event) (n int) {
	type change struct {
		program, sort string
		ref           history.Ref
	}
	seen := map[change]bool{}
	var elsewhere outside
	taken := map[history.Ref]bool{} // its last change was a deletion by anybody but the programs
	for i := range events {
		e := &events[i]
		if changed := elsewhere.changes(e) > 0; e.Kind == history.Fault || changed && e.Reconcile.None() {
			n++
		}
		for _, c := range e.Changes {
			this := change{e.Process, c.Type, c.Ref}
			if e.Incarnation == 0 || !seen[this] || c.Type == "ADDED" && taken[c.Ref] {
				n++
			}
			seen[this] = true
			taken[c.Ref] = c.Type == "DELETED" && e.Incarnation == 0
		}
	}
	return n
}
