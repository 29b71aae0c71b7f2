// This file is for runs in which two actions change places. Where the two are about objects that
// have nothing to do with one another, the world must end as in the order that was drawn.

package auto

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/sim/internal/run"
	"github.com/wavetank/wavetank/sim/internal/world"
	"github.com/wavetank/wavetank/sim/property"
)

// orderLabel is whose choice it is which two actions change places.
const orderLabel = "order"

// drawOrder lets two neighbours change places: two objects that are created first, or two actions
// on objects. None do by default, nor in a run in which users do not wait for the operator.
func drawOrder(w *world.World, p *plan) {
	var swaps []func() string
	first, actions := p.first, p.actions
	for k := range max(0, len(first)-1) {
		swaps = append(swaps, func() string {
			first[k], first[k+1] = first[k+1], first[k]
			return fmt.Sprintf("create %s before %s", first[k], first[k+1])
		})
	}
	last := -1
	for i, a := range actions {
		if a.what == nothing {
			continue
		}
		if before := last; before >= 0 && actions[before].onObject() && a.onObject() {
			swaps = append(swaps, func() string {
				actions[before], actions[i] = actions[i], actions[before]
				return fmt.Sprintf("%s before %s", actions[before].label, actions[i].label)
			})
		}
		last = i
	}
	if p.hurried {
		return
	}
	if n := w.Choose(orderLabel, "which change places", len(swaps)+1, 3); n > 0 {
		w.Drew(orderLabel, swaps[n-1]())
	}
}

// sameInAnyOrder holds when the world is in the state of a run in which two actions are done in the
// other order. Both runs that are compared are without faults: a run that faults have led elsewhere
// is not judged. Objects may have exchanged values: who comes first gets the first port. Then one
// of them may go, so from there on the runs are not judged.
func sameInAnyOrder(drawn, exchanged *history.History) func(*history.History) error {
	inOrder, undisturbed := property.CrashSafe(drawn), property.CrashSafe(exchanged)
	values := false // objects have exchanged them
	return func(h *history.History) error {
		if drawn == exchanged || !sameDraws(h.Draws(), exchanged.Draws()) {
			return nil
		}
		here := actionsOf(h)
		at, ok := exchange(here, drawn.Draws())
		if !ok {
			return nil
		}
		err := inOrder(h)
		var differs interface{ Exchanged() bool }
		values = values || errors.As(err, &differs) && differs.Exchanged()
		if err == nil || values || undisturbed(h) != nil ||
			!independent(h, here[at], here[at+1]) ||
			!independent(drawn, drawn.Draws()[at], drawn.Draws()[at+1]) || !sameSpecs(h, drawn) {
			return nil
		}
		return fmt.Errorf("users did %q before %q, and in the other order, here called undisturbed, the world ends "+
			"in another state, though neither object names, selects or owns the other: %w",
			here[at].Value, here[at+1].Value, err)
	}
}

// actionsOf are the draws that say what users did.
func actionsOf(h *history.History) (out []history.Draw) {
	for _, d := range h.Draws() {
		if d.Label != orderLabel {
			out = append(out, d)
		}
	}
	return out
}

// sameDraws reports whether users have done in the one run what they do in the other.
func sameDraws(here, there []history.Draw) bool {
	if len(here) > len(there) {
		return false
	}
	for i, d := range here {
		if !sameDraw(d, there[i]) {
			return false
		}
	}
	return true
}

func sameDraw(a, b history.Draw) bool { return a.Label == b.Label && a.Value == b.Value }

// exchange is where two neighbours stand in the other order than in another run, if nothing else
// differs.
func exchange(here, there []history.Draw) (at int, ok bool) {
	for i := range min(len(here), len(there)) {
		if sameDraw(here[i], there[i]) {
			continue
		}
		if i+1 >= len(here) || i+1 >= len(there) || !sameDraw(here[i], there[i+1]) || !sameDraw(here[i+1], there[i]) {
			return 0, false
		}
		return i, sameDraws(here[i+2:], there[i+2:])
	}
	return 0, false
}

// independent reports whether the objects of two actions, and what belongs to them, have nothing to
// do with one another in the whole run.
func independent(h *history.History, one, other history.Draw) bool {
	a, b := targets(h, one), targets(h, other)
	if len(a) == 0 || len(b) == 0 {
		return false
	}
	changes := changesOf(h)
	return !related(belongings(changes, a), belongings(changes, b))
}

// targets are the objects that users changed in an action. The world had settled before it.
func targets(h *history.History, d history.Draw) map[history.Ref]bool {
	out := map[history.Ref]bool{}
	for i := d.Event - 1; i >= 0 && h.Events[i].Kind != history.Settled; i-- {
		e := &h.Events[i]
		for _, c := range e.Changes {
			if e.Process == run.User {
				out[c.Ref] = true
			}
		}
	}
	return out
}

// sameSpecs reports whether the objects that users have made, and that exist in both runs, ask for
// the same when both runs have settled as often.
func sameSpecs(h, other *history.History) bool {
	n, _ := settles(h, -1)
	_, until := settles(other, n)
	there := map[history.Ref][]byte{}
	byUser := map[history.Ref]bool{}
	for i := range other.Events[:until+1] {
		e := &other.Events[i]
		for _, c := range e.Changes {
			if delete(there, c.Ref); c.Type != "DELETED" {
				there[c.Ref] = c.Object
			}
			if c.Type == "ADDED" {
				byUser[c.Ref] = e.Process == run.User
			}
		}
	}
	for ref, object := range there {
		here, ok := h.Find(ref)
		if ok && byUser[ref] && !reflect.DeepEqual(askedFor(here.JSON), askedFor(object)) {
			return false
		}
	}
	return true
}

// askedFor is an object without what the server and the operator say about it.
func askedFor(object []byte) map[string]any {
	out := map[string]any{}
	if json.Unmarshal(object, &out) == nil {
		delete(out, "metadata")
		delete(out, "status")
	}
	return out
}
