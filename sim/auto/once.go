package auto

import (
	"fmt"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/internal/word"
	"github.com/wavetank/wavetank/sim/internal/run"
)

// noEffectTwice holds if no request to an outside host has an effect twice. Only requests that
// carry the name or the UID of the object that is reconciled are judged. A second effect is no
// repetition if users have changed something in between, or if another effect with the same key has
// happened: what was closed may be opened again. Nor is it one if a timer asks for it and no fault
// was injected since, or if a program repeats it in the undisturbed run by itself: that is a
// heartbeat.
func noEffectTwice(calm *history.History) func(*history.History) error {
	return func(h *history.History) error {
		if again := repetition(h, nil); again == nil {
			return nil
		}
		beats := map[string]bool{}
		repetition(calm, func(first, second history.Effect) {
			if first.Process == second.Process && first.Incarnation == second.Incarnation {
				beats[first.Kind+" "+first.Key] = true
			}
		})
		var found error
		repetition(h, func(first, second history.Effect) {
			if found == nil && !beats[first.Kind+" "+first.Key] {
				found = fmt.Errorf("the effect %s of %s happened at %s by %s/%d and again at %s by %s/%d; the request "+
					"names %s, and users have changed nothing in between", first.Kind, first.Key,
					history.Clock(first.At), first.Process, first.Incarnation, history.Clock(second.At), second.Process,
					second.Incarnation, second.Reconcile.Key)
			}
		})
		return found
	}
}

// repetition calls f, if there is one, with each effect that comes again, and returns the last of
// them.
func repetition(h *history.History, f func(first, second history.Effect)) (again *history.Effect) {
	first := map[string]history.Effect{} // by request, kind and key, since the last edit
	kinds := map[string]string{}         // of the last effect, by key
	faults := map[string]int{}           // how many there were at the first effect
	all, next := h.Effects(""), 0
	timed, struck := map[history.ReconcileID]bool{}, 0
	for i := range h.Events {
		e := &h.Events[i]
		switch {
		case e.Process == run.User && len(e.Changes) > 0:
			clear(first)
		case e.Kind == history.Fault:
			struck++
		case e.Kind == history.Dequeue:
			timed[e.ReconcileID()] = e.Cause.Kind == history.CauseRequeueAfter
		}
		for ; next < len(all) && all[next].Event <= e.Index; next++ {
			x := all[next]
			if x.Event != e.Index || x.Unnamed() || !carriesName(e, h) {
				continue
			}
			if kinds[x.Key] != x.Kind {
				delete(first, x.Kind+" "+x.Key)
			}
			kinds[x.Key] = x.Kind
			id := x.Kind + " " + x.Key
			if before, ok := first[id]; ok && sameRequest(h, before, x) &&
				!(timed[e.ReconcileID()] && struck == faults[id]) {
				if again = &all[next]; f != nil {
					f(before, x)
				}
			}
			first[id], faults[id] = x, struck
		}
	}
	return again
}

func sameRequest(h *history.History, a, b history.Effect) bool {
	x, y := &h.Events[a.Event], &h.Events[b.Event]
	return x.Verb == y.Verb && x.Host == y.Host && x.Path == y.Path && string(x.Sent) == string(y.Sent)
}

// carriesName reports whether a request to the outside carries the name or the UID of the object
// that is reconciled.
func carriesName(e *history.Event, h *history.History) bool {
	name := e.Reconcile.Name
	if name == "" {
		return false
	}
	text := e.Path + " " + string(e.Sent)
	if word.Find(text, name, 0) >= 0 {
		return true
	}
	for _, o := range h.Live(func(r history.Ref) bool {
		return r.Name == name && r.Namespace == e.Reconcile.Namespace
	}) {
		if word.Find(text, o.UID, 0) >= 0 {
			return true
		}
	}
	return false
}
