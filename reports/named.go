// This file names steps and reconciles in a paragraph.

package reports

import (
	"fmt"
	"slices"
	"strings"

	"github.com/wavetank/wavetank/history"
)

// wording owns the words for steps and reconciles, which depend on what was named before.
type wording struct {
	*requests
	texts map[int]string // lines of events
	steps map[int]bool   // that a sentence has named
	told  map[int]bool   // dequeues of reconciles of which a sentence has named a step
}

// step is an event with its time and its actor.
func (w *wording) step(i int) string {
	w.steps[i] = true
	if start, ok := w.dequeued[i]; ok {
		w.told[start] = true
	}
	e := &w.h.Events[i]
	text := fmt.Sprintf("at %s: %s %s", history.Moment(e.At), e.Actor(), w.texts[i])
	if d := w.deletion(i); d >= 0 && !w.steps[d] {
		text += ", after " + w.step(d)
	}
	return text
}

// reconcile names the reconcile that began with an event: "that reconcile" if the sentences are
// about no other, or else as the story does.
func (w *wording) reconcile(start int) string {
	for other := range w.told {
		if other != start {
			return "reconcile " + w.h.Events[start].Reconcile.String() + w.incarnation(start)
		}
	}
	return "that reconcile"
}

// ends reports how a reconcile ended, as a line of the story does.
func (w *wording) ends(start int, how string, add func(string, ...any)) {
	name := w.reconcile(start)
	add("%s%s %s.", strings.ToUpper(name[:1]), name[1:], how)
}

// incarnation is whose reconcile it is, if the process had another incarnation before the
// violation: each counts its reconciles from 1.
func (w *wording) incarnation(start int) string {
	if w.restarted(start) {
		return " of " + w.h.Events[start].Actor()
	}
	return ""
}

// restarted reports whether the process of an event had another incarnation.
func (w *wording) restarted(i int) bool {
	e := &w.h.Events[i]
	return slices.ContainsFunc(w.h.Events[:w.violation], func(o history.Event) bool {
		return o.Process == e.Process && o.Incarnation > 0 && o.Incarnation != e.Incarnation
	})
}
