package reports

import (
	"fmt"
	"slices"
	"sort"

	"github.com/wavetank/wavetank/history"
)

// Chain is what led to the violation, as far as the history shows it:
//
//   - the creation, the deletion and the last write of the objects that its sentence names,
//   - effects outside the cluster that happened twice, or that the sentence names,
//   - the last writes of the objects that the property looked at, and the request at which the
//     violation was noticed,
//   - earlier requests with the same effect, and earlier writes of others to the same object,
//   - the reconciles that made these requests, what they had read, what had failed in them, and
//     what triggered them,
//   - the writes that a cache did not contain yet,
//   - the faults, crashes, stops and lost replies in between,
//   - the first writes of the reconcile that decided and of those that failed or ended before it,
//   - the last reconcile, if it changed nothing after the step that decided,
//   - the deletion of a namespace whose content goes, or of the Deployment of a program that ends.
//
// It is empty if there is no violation. The links are ordered by To, then From.
func Chain(h *history.History) []Link {
	u := newTracing(h)
	if u.violation < 0 {
		return nil
	}
	u.trace()
	sort.Slice(u.links, func(i, j int) bool {
		a, b := u.links[i], u.links[j]
		return a.To < b.To || a.To == b.To && a.From < b.From
	})
	return u.links
}

func (u *unseen) trace() {
	u.subjects()
	read := slices.Clone(u.h.Events[u.violation].Read)
	slices.SortFunc(read, history.Ref.Compare)
	if read = slices.Compact(read); len(read) <= mostRead {
		for _, ref := range read {
			u.last(u.writes[ref], u.violation, "the last write of what the property looked at")
		}
	}
	for i := u.violation - 1; i >= 0; i-- {
		if e := &u.h.Events[i]; u.changes(i) && !e.Chatter() {
			u.link(i, u.violation, "the last change before the violation")
			break
		}
	}
	u.background()
	u.follow()
	u.begun()
	u.follow()
	if i := u.unneeded(u.decision()); i >= 0 {
		u.link(i, u.violation, "the last reconcile before it changed nothing")
	}
	u.missed()
}

// follow links what led to the events that are queued.
func (t *tracing) follow() {
	for len(t.queue) > 0 {
		i := t.queue[0]
		t.queue = t.queue[1:]
		switch e := &t.h.Events[i]; e.Kind {
		case history.Request:
			t.request(i)
		case history.Dequeue:
			t.reconcile(i, e)
		case history.Done:
			t.ended(i, e)
		case history.Crash, history.Fault, history.Stop:
			t.struck(i, e)
			t.lost(i)
		case history.Deliver:
			if w, ok := t.write[commit{e.Ref.Cluster, e.Revision}]; ok && e.Verb != "LIST" {
				t.link(w, i, deliveredAfter(e.At-t.h.Events[w].At))
			}
		}
	}
}

func deliveredAfter(after history.Time) string {
	if after == 0 {
		return "delivered at once"
	}
	return fmt.Sprintf("delivered after %v", after)
}

// maxDisturbances is how many faults and ends of incarnations a run may have for each of them to be
// linked to the violation.
const maxDisturbances = 12

// background links the last reconcile if it had failed, the last request that failed although its
// reconcile ended without an error, and the last one that failed in a program without reconciles,
// unless it was repeated with success. If there are few faults and ends of incarnations, as in a
// shrunk story, it links all of them, because the story needs each.
func (t *tracing) background() {
	var disturbances []int
	last, swallowed, refusedLast := -1, -1, -1
	for i := range t.violation {
		switch e := &t.h.Events[i]; e.Kind {
		case history.Fault, history.Crash, history.Stop, history.Upgrade:
			disturbances = append(disturbances, i)
		case history.Request:
			switch _, ok := t.dequeued[i]; {
			case ok || e.Incarnation == 0 || e.Source == "" || e.Chatter():
			case refused(e):
				refusedLast = i
			case refusedLast >= 0 && repeats(e, &t.h.Events[refusedLast]):
				refusedLast = -1
			}
		case history.Done:
			last = i
			for _, j := range t.inside[t.dequeued[i]] {
				if r := &t.h.Events[j]; e.Outcome.OK() && j < i && r.Kind == history.Request && refused(r) {
					swallowed = j
				}
			}
		}
	}
	if swallowed >= 0 {
		t.link(swallowed, t.violation, "failed, and its reconcile ended without an error")
	}
	if refusedLast >= 0 {
		t.link(refusedLast, t.violation, "failed, and was not repeated with success")
	}
	if last >= 0 && t.h.Events[last].Outcome.Failed() {
		t.link(last, t.violation, "the last reconcile before it had failed")
	}
	if len(disturbances) <= maxDisturbances {
		for _, i := range disturbances {
			t.link(i, t.violation, "happened before")
		}
	}
}

// repeats reports whether a request is another attempt at an earlier one.
func repeats(e, earlier *history.Event) bool {
	return e.Source == earlier.Source && e.Verb == earlier.Verb && e.Ref == earlier.Ref
}

// request follows a request to the reconcile that sent it, with what had failed in it before, and
// to what others wrote to the object.
func (t *tracing) request(i int) {
	if start, ok := t.dequeued[i]; ok {
		t.link(start, i, "this reconcile sent it")
		for _, j := range t.inside[start] {
			if e := &t.h.Events[j]; failed(e) || e.Kind == history.Fault {
				t.link(j, i, "came before it in this reconcile")
			}
		}
	}
	t.follows(i)
	e := &t.h.Events[i]
	for _, c := range e.Changes {
		writes := t.writes[c.Ref]
		if n := sort.SearchInts(writes, i); n > 0 && t.h.Events[writes[n-1]].Actor() != e.Actor() {
			t.link(writes[n-1], i, "wrote the same object before")
		}
	}
	if w, ok := t.write[commit{e.Ref.Cluster, e.Revision}]; ok && len(e.Changes) == 0 && e.Revision != 0 {
		t.link(w, i, "is what it read")
	}
	for _, e := range t.effects[i] {
		for _, j := range t.same[t.identity(e)] {
			if j < i {
				t.link(j, i, fmt.Sprintf("the same %s, made before", e.Kind))
				t.between(j, i)
			}
		}
	}
}

// between links the crash of the incarnation that made request j to the reconcile of a later
// incarnation that made it again.
func (t *tracing) between(j, i int) {
	a, b := &t.h.Events[j], &t.h.Events[i]
	start, ok := t.dequeued[i]
	if c, killed := t.crash[a.Actor()]; ok && killed && a.Process == b.Process && a.Incarnation < b.Incarnation {
		t.link(j, c, "not recorded when it was killed")
		t.link(c, start, "its memory was lost")
	}
}

// reconcile follows a dequeue to the writes that its cache did not contain, and to what triggered
// it.
func (t *tracing) reconcile(i int, e *history.Event) {
	for _, s := range e.Seen {
		if w, ok := t.write[commit{s.Ref.Cluster, s.Server}]; ok && s.Server != 0 {
			t.link(w, i, fmt.Sprintf("not in its cache yet, which held rv %d of %s", s.Cache, s.Ref))
		}
		if w, ok := t.write[commit{s.Ref.Cluster, s.Cache}]; ok && s.Cache != 0 {
			t.link(w, i, fmt.Sprintf("stale read of %s", s.Ref))
		}
	}
	actor := e.Actor()
	if e.Incarnation > 1 && e.Cause.Kind == history.CauseInitialList {
		before := fmt.Sprintf("%s/%d", e.Process, e.Incarnation-1)
		if c, killed := t.crash[before]; killed {
			t.link(c, i, "its memory was lost")
		}
	}
	switch {
	case e.Cause.Kind == history.CauseWatch || e.Cause.Kind == history.CauseInitialList:
		t.last(t.delivered[actor+" "+e.Cause.Object], i, "triggered it")
	case e.Cause.Timer():
		t.last(t.done[e.KeyID()], i, "requested a requeue")
	}
}

// ended follows the end of a failed reconcile to its begin, to what failed in it, and to the faults
// that caused that.
func (t *tracing) ended(i int, e *history.Event) {
	if e.Outcome.OK() {
		return
	}
	if start, ok := t.dequeued[i]; ok {
		t.link(start, i, "is this reconcile")
	}
	var fault int
	for _, j := range t.inside[t.dequeued[i]] {
		switch k := t.h.Events[j].Kind; {
		case j >= i:
		case k == history.Fault:
			fault = j
			t.link(j, i, "was injected in it")
		case fault > 0 && k == history.Reply:
			t.link(fault, j, "lost its reply")
			t.link(j, i, "made it fail")
		default:
			t.link(j, i, "made it fail")
		}
	}
}

func onChain(h *history.History) map[int]bool {
	on := map[int]bool{}
	for _, l := range Chain(h) {
		on[l.From], on[l.To] = true, true
	}
	return on
}
