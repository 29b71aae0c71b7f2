// This file is about faults and the ends of incarnations: what they follow, and what they cut off.

package reports

import (
	"slices"

	"github.com/wavetank/wavetank/history"
)

// struck follows the end of an incarnation to what it last changed and to the fault that caused it.
// It follows a fault to the request that it was injected at. A fault and what it causes are events
// of the same step.
func (t *tracing) struck(i int, e *history.Event) {
	t.follows(i)
	if e.Kind != history.Fault {
		if j := t.changedLast(i); j >= 0 {
			t.link(j, i, "the last that it changed")
		}
	}
	for j := i - 1; j >= 0 && t.h.Events[j].Step == e.Step; j-- {
		switch k := t.h.Events[j].Kind; {
		case e.Kind != history.Fault && k == history.Fault:
			t.link(j, i, "caused it")
			return
		case e.Kind == history.Fault && k == history.Request:
			t.link(j, i, "it was injected at this request")
			return
		}
	}
	for j := i + 1; e.Kind == history.Fault && j < t.violation && t.h.Events[j].Step == e.Step; j++ {
		if t.h.Events[j].Kind == history.Request && t.meet(j) {
			t.link(i, j, "was injected at it")
			return
		}
	}
}

// changedLast is the last request with which an incarnation changed something before event i; -1 if
// there is none.
func (f *finder) changedLast(i int) int {
	for j := i - 1; j >= 0; j-- {
		e := &f.h.Events[j]
		if f.changes(j) && e.Actor() == f.h.Events[i].Actor() && !e.Chatter() {
			return j
		}
	}
	return -1
}

// lost follows a fault to the reply that its reconcile did not get, or its program if that has no
// reconciles.
func (t *tracing) lost(i int) {
	start, ok := t.dequeued[i]
	if t.h.Events[i].Kind != history.Fault {
		return
	}
	after := t.inside[start]
	if !ok { // the program has no reconciles
		after = nil
		for j := i + 1; j < t.violation && after == nil; j++ {
			if e := &t.h.Events[j]; e.Kind == history.Reply && failed(e) && e.Actor() == t.h.Events[i].Actor() {
				after = []int{j}
			}
		}
	}
	for _, j := range after {
		if j > i && t.h.Events[j].Kind == history.Reply && failed(&t.h.Events[j]) {
			if t.meet(j) {
				t.link(i, j, "lost its reply")
			}
			return
		}
	}
}

// endBefore is the last end of an incarnation of the program before event i, of its own or of an
// earlier one; -1 if there is none. A program that is asked to stop may still send requests.
func (f *finder) endBefore(i int) int {
	e := &f.h.Events[i]
	for j := i - 1; j >= 0; j-- {
		o := &f.h.Events[j]
		if o.Process == e.Process && (o.Kind == history.Crash || o.Kind == history.Stop) {
			return j
		}
	}
	return -1
}

// cutOff is the beginning of the last reconcile that was under way at the end of an incarnation; -1
// if there is none.
func (f *finder) cutOff(end int) int {
	for i := end - 1; i >= 0; i-- {
		if f.h.Events[i].Kind != history.Dequeue || f.h.Events[i].Actor() != f.h.Events[end].Actor() {
			continue
		}
		ended := func(j int) bool { return j < end && f.h.Events[j].Kind == history.Done }
		if !slices.ContainsFunc(f.inside[i], ended) {
			return i
		}
	}
	return -1
}
