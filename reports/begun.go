// This file is about what a step follows that another step began: the first write of a reconcile,
// which often records what it is about to do, and the deletion of what something is in.

package reports

import "github.com/wavetank/wavetank/history"

// begun links the first writes of three reconciles: of the decision's, of the one before it if that
// failed, and of the one that the last end of an incarnation cut off.
func (t *tracing) begun() {
	d := t.decision()
	start, ok := t.dequeued[d]
	if !ok {
		return
	}
	for _, of := range []int{start, t.failedBefore(start), t.cutOff(t.endBefore(d))} {
		if w := t.firstWrite(of); w >= 0 && w < t.violation {
			t.link(w, t.violation, "the first write of a reconcile that led to it")
		}
	}
}

// firstWrite is the first request of reconcile start that changed something other than a status; -1
// if there is none.
func (f *finder) firstWrite(start int) int {
	for i := start + 1; start >= 0 && i < len(f.h.Events); i++ {
		if of, ok := f.dequeued[i]; !ok || of != start {
			continue
		}
		switch e := &f.h.Events[i]; {
		case e.Kind == history.Done:
			return -1
		case e.Sub != "status" && f.changes(i) && !e.Chatter():
			return i
		}
	}
	return -1
}

// failedBefore is the beginning of the reconcile of the same key before reconcile start, if that
// failed; else -1.
func (f *finder) failedBefore(start int) int {
	before := -1
	latestOf(f.done[f.h.Events[start].KeyID()], start, func(end int) {
		if f.h.Events[end].Outcome.Failed() {
			before = f.dequeued[end]
		}
	})
	return before
}

// deletion is what deleted the namespace whose content step i removes, or the Deployment with the
// name of the process that it ends; -1 if there is none.
func (f *finder) deletion(i int) int {
	e := &f.h.Events[i]
	is := func(history.Ref) bool { return false }
	switch {
	case e.Kind == history.Stop:
		is = func(r history.Ref) bool { return r.Kind == "Deployment" && r.Group == "apps" && r.Name == e.Process }
	case e.Verb == "deletecollection" && e.Process == "namespace-controller":
		of := history.Ref{Cluster: e.Ref.Cluster, Kind: "Namespace", Name: e.Ref.Namespace}
		is = func(r history.Ref) bool { return r == of }
	}
	latest := -1
	for ref, writes := range f.writes {
		for _, w := range writes {
			if is(ref) && w < i && f.h.Events[w].Verb == "delete" {
				latest = max(latest, w)
			}
		}
	}
	return latest
}

// follows links the deletion that a step follows.
func (t *tracing) follows(i int) {
	if w := t.deletion(i); w >= 0 {
		t.link(w, i, "deleted what it belongs to")
	}
}
