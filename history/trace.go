package history

import (
	"fmt"
	"hash/fnv"
	"io"
	"slices"
)

// Trace is a fingerprint of the history that ignores the order of independent events of one instant
// (Mazurkiewicz, 1977). Two runs with the same trace can continue in the same way: every program
// has seen the same at the same times, and the server holds the same. Step numbers, and the
// server's revision at events that do not read it, are left out.
func (h *History) Trace() uint64 {
	f := fnv.New64a()
	for at := 0; at < len(h.Events); {
		end := at
		for end < len(h.Events) && h.Events[end].At == h.Events[at].At {
			end++
		}
		for _, e := range canonical(h.Events[at:end]) {
			e.fingerprint(f)
		}
		at = end
	}
	for _, e := range h.effects {
		fmt.Fprintf(f, "%s %s %s\n", e.Kind, e.Key, e.Detail)
	}
	return f.Sum64()
}

// canonical orders the events of one instant: of those that may come next, the one whose actor has
// the smallest name does.
func canonical(events []Event) []*Event {
	left := make([]*Event, len(events))
	for i := range events {
		left[i] = &events[i]
	}
	out := make([]*Event, 0, len(events))
	for len(left) > 0 {
		best := 0
		for i := 1; i < len(left); i++ {
			free := !slices.ContainsFunc(left[:i], func(before *Event) bool { return dependent(before, left[i]) })
			if free && left[i].Actor() < left[best].Actor() {
				best = i
			}
		}
		out = append(out, left[best])
		left = slices.Delete(left, best, best+1)
	}
	return out
}

// dependent reports whether the order of two events of one instant may matter.
func dependent(a, b *Event) bool {
	if a.Actor() == b.Actor() || a.barrier() || b.barrier() {
		return true
	}
	if a.Host != "" || b.Host != "" {
		return a.Host == b.Host
	}
	if !a.Write() && !b.Write() {
		return false
	}
	w, other := a, b
	if !w.Write() {
		w, other = b, a
	}
	switch {
	case other.Write(), other.Kind == Dequeue, other.Kind == Deliver && other.Ref.Name == "":
		return true // revisions are those of the whole server
	case other.Kind == Request || other.Kind == Deliver:
		return other.Ref.Name == "" || slices.ContainsFunc(w.Changes, func(c Change) bool { return c.Ref == other.Ref })
	}
	return false
}

// barrier reports whether an event is about the whole world.
func (e *Event) barrier() bool {
	switch e.Kind {
	case Request, Reply, Deliver, Dequeue, Done:
		return false
	}
	return true
}

func (e *Event) fingerprint(w io.Writer) {
	fmt.Fprintf(w, "%d %s %s %s %s %s %s %s %s ", e.At, e.Kind, e.Actor(), e.Reconcile, e.Verb, e.Ref, e.Sub, e.Host,
		e.Path)
	fmt.Fprintf(w, "%d %d %s %s %s %v %d\n", e.Code, e.Revision, e.Cause, e.Outcome, e.Remark(), e.Seen, e.Wait)
	for _, b := range [][]byte{e.Sent, e.Received} {
		_, _ = w.Write(b)
	}
	for i := range e.Changes {
		_, _ = w.Write(e.Changes[i].Object)
	}
}
