// This file is about faults and the ends of incarnations: what they follow, and what they cut off.

package reports

import (
	"slices"

	"github.com/wavetank/wavetank/history"
)

// struck follows the end of an incarnation to what it last changed and to the fault that caused it.
// It follows a fault to the request that it was injected at. A fault and what it causes are events
// of the same step.
func (x *tracing) struck(i int, e *history.Event) {
	x.follows(i)
	if e.Kind != history.Fault {
		if j := x.changedLast(i); j >= 0 {
			x.link(j, i, "the last that it changed")
		}
	}
	for j := i - 1; j >= 0 && x.h.Events[j].Step == e.Step; j-- {
		switch k := x.h.Events[j].Kind; {
		case e.Kind != history.Fault && k == history.Fault:
			x.link(j, i, "caused it")
			return
		case e.Kind == history.Fault && k == history.Request:
			x.link(j, i, "it was injected at this request")
			return
		}
	}
	for j := i + 1; e.Kind == history.Fault && j < x.violation && x.h.Events[j].Step == e.Step; j++ {
		if x.h.Events[j].Kind == history.Request && x.meet(j) {
			x.link(i, j, "was injected at it")
			return
		}
	}
}

// changedLast is the last request with which an incarnation changed something before event i; -1 if
// there is none.
func (x *tracing) changedLast(i int) int {
	for j := i - 1; j >= 0; j-- {
		e := &x.h.Events[j]
		if x.changes(j) && e.Actor() == x.h.Events[i].Actor() && !e.Chatter() {
			return j
		}
	}
	return -1
}

// lost follows a fault to the reply that its reconcile did not get, or its program if that has no
// reconciles.
func (x *tracing) lost(i int) {
	start, ok := x.dequeued[i]
	if x.h.Events[i].Kind != history.Fault {
		return
	}
	after := x.inside[start]
	if !ok { // the program has no reconciles
		after = nil
		for j := i + 1; j < x.violation && after == nil; j++ {
			if e := &x.h.Events[j]; e.Kind == history.Reply && failed(e) && e.Actor() == x.h.Events[i].Actor() {
				after = []int{j}
			}
		}
	}
	for _, j := range after {
		if j > i && x.h.Events[j].Kind == history.Reply && failed(&x.h.Events[j]) {
			if x.meet(j) {
				x.link(i, j, "lost its reply")
			}
			return
		}
	}
}

// endBefore is the last end of an incarnation of the program before event i, of its own or of an
// earlier one; -1 if there is none. A program that is asked to stop may still send requests.
func (x *tracing) endBefore(i int) int {
	e := &x.h.Events[i]
	for j := i - 1; j >= 0; j-- {
		o := &x.h.Events[j]
		if o.Process == e.Process && (o.Kind == history.Crash || o.Kind == history.Stop) {
			return j
		}
	}
	return -1
}

// cutOff is the beginning of the last reconcile that was under way at the end of an incarnation; -1
// if there is none.
func (x *tracing) cutOff(end int) int {
	for i := end - 1; i >= 0; i-- {
		if x.h.Events[i].Kind != history.Dequeue || x.h.Events[i].Actor() != x.h.Events[end].Actor() {
			continue
		}
		ended := func(j int) bool { return j < end && x.h.Events[j].Kind == history.Done }
		if !slices.ContainsFunc(x.inside[i], ended) {
			return i
		}
	}
	return -1
}
