// This file is about what a step follows that another step began: the first write of a reconcile,
// which often records what it is about to do, and the deletion of what something is in.

package reports

import "github.com/wavetank/wavetank/history"

// begun links the first writes of three reconciles: of the decision's, of the one before it if that
// failed, and of the one that the last end of an incarnation cut off.
func (x *tracing) begun() {
	d := x.decision()
	start, ok := x.dequeued[d]
	if !ok {
		return
	}
	for _, of := range []int{start, x.failedBefore(start), x.cutOff(x.endBefore(d))} {
		if w := x.firstWrite(of); w >= 0 && w < x.violation {
			x.link(w, x.violation, "the first write of a reconcile that led to it")
		}
	}
}

// firstWrite is the first request of reconcile start that changed something other than a status; -1
// if there is none.
func (x *tracing) firstWrite(start int) int {
	for i := start + 1; start >= 0 && i < len(x.h.Events); i++ {
		if of, ok := x.dequeued[i]; !ok || of != start {
			continue
		}
		switch e := &x.h.Events[i]; {
		case e.Kind == history.Done:
			return -1
		case e.Sub != "status" && x.changes(i) && !e.Chatter():
			return i
		}
	}
	return -1
}

// failedBefore is the beginning of the reconcile of the same key before reconcile start, if that
// failed; else -1.
func (x *tracing) failedBefore(start int) int {
	before := -1
	latestOf(x.done[x.h.Events[start].KeyID()], start, func(end int) {
		if x.h.Events[end].Outcome.Failed() {
			before = x.dequeued[end]
		}
	})
	return before
}

// deletion is what deleted the namespace whose content step i removes, or the Deployment with the
// name of the process that it ends; -1 if there is none.
func (x *tracing) deletion(i int) int {
	e := &x.h.Events[i]
	is := func(history.Ref) bool { return false }
	switch {
	case e.Kind == history.Stop:
		is = func(r history.Ref) bool { return r.Kind == "Deployment" && r.Group == "apps" && r.Name == e.Process }
	case e.Verb == "deletecollection" && e.Process == "namespace-controller":
		of := history.Ref{Cluster: e.Ref.Cluster, Kind: "Namespace", Name: e.Ref.Namespace}
		is = func(r history.Ref) bool { return r == of }
	}
	latest := -1
	for ref, writes := range x.writes {
		for _, w := range writes {
			if is(ref) && w < i && x.h.Events[w].Verb == "delete" {
				latest = max(latest, w)
			}
		}
	}
	return latest
}

// follows links the deletion that a step follows.
func (x *tracing) follows(i int) {
	if w := x.deletion(i); w >= 0 {
		x.link(w, i, "deleted what it belongs to")
	}
}
