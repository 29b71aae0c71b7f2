package reports

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/internal/story"
)

const (
	maxLacking   = 2 // objects that a note names
	maxUnrelated = 3 // objects without a known relation to the violation; if there are more, none is named
)

// gap is a write that a cache had not received, and the event with which it did; -1 if it never
// did.
type gap struct {
	ref            history.Ref
	write, arrival int
}

// lacking says what the cache of an incarnation had not received when reconcile i began, a sentence
// for each.
func (u *unseen) lacking(i int) (out []string) {
	for _, g := range u.gaps(i) {
		out = append(out, u.lacks(g))
	}
	return out
}

// missed links the reconciles of the chain to the writes that their caches lacked.
func (u *unseen) missed() {
	for i := range u.violation {
		if u.h.Events[i].Kind == history.Dequeue && u.on(i) {
			for _, g := range u.gaps(i) {
				u.link(g.write, i, "not in its cache yet")
			}
		}
	}
	u.queue = nil
}

// gaps are writes that the cache of an incarnation had not received when reconcile i began. Objects
// come first that have to do with the violation: those that its sentence names, those that the
// property read, those that the chain writes, and those that the same program wrote.
func (u *unseen) gaps(i int) []gap {
	e := &u.h.Events[i]
	inLine := func(ref history.Ref) bool { // of the reconcile
		return slices.ContainsFunc(e.Seen, func(s history.Seen) bool { return s.Ref == ref })
	}
	return first(slices.DeleteFunc(u.gapsAt(i, e), func(g gap) bool { return inLine(g.ref) }), maxLacking)
}

// gapsAt are the gaps at event i of the cache of the incarnation of an event.
func (u *unseen) gapsAt(i int, e *history.Event) []gap {
	about := u.about(e.Process)
	var related, others []gap
	for ref := range u.writes {
		writes := u.writesBefore(ref, i)
		if len(writes) == 0 || ref.Chatter() {
			continue
		}
		w := writes[len(writes)-1]
		switch arrival, late := u.arrival(e, ref, w, i); {
		case late && about[ref]:
			related = append(related, gap{ref, w, arrival})
		case late:
			others = append(others, gap{ref, w, arrival})
		}
	}
	if len(others) > maxUnrelated {
		others = nil
	}
	for _, gaps := range [][]gap{related, others} {
		newestFirst := func(a, b gap) int { return cmp.Or(b.write-a.write, a.ref.Compare(b.ref)) }
		slices.SortFunc(gaps, newestFirst)
	}
	return slices.Concat(related, others)
}

// delay notes which watch events the choices of a story delay.
func (u *unseen) delay(choices []story.Choice) {
	u.delayed = map[string]bool{}
	for _, c := range choices {
		if c.Kind == story.Inject {
			u.delayed[c.Who+" "+c.What] = true
		}
	}
}

// about are the objects that may have to do with the violation.
func (u *unseen) about(process string) map[history.Ref]bool {
	out := map[history.Ref]bool{}
	for _, ref := range u.named {
		out[ref] = true
	}
	if read := u.h.Events[u.violation].Read; len(read) <= mostRead {
		for _, ref := range read {
			out[ref] = true
		}
	}
	for ref, writes := range u.writes {
		for _, w := range writes {
			if u.on(w) || u.h.Events[w].Process == process {
				out[ref] = true
			}
		}
	}
	return out
}

// arrival is the event with which an incarnation received write w, -1 if it never did, and whether
// that was after event i. Caches may select objects. So a write that never arrived counts only if
// the incarnation had received the object before, had written it, or if a fault delays the event.
func (u *unseen) arrival(e *history.Event, ref history.Ref, w, i int) (at int, late bool) {
	revision := u.revision(w, ref)
	known, watched := u.delayed[e.Process+" "+ref.String()], false
	for _, j := range u.delivered[e.Actor()+" "+ref.Kind] {
		d := &u.h.Events[j]
		whole := d.Verb == "LIST"
		watched = watched || j < i
		if d.Ref != ref && !whole || d.Ref.Cluster != ref.Cluster || d.Ref.Group != ref.Group {
			continue
		}
		if d.Revision >= revision {
			return j, j > i && watched
		}
		known = known || !whole || slices.ContainsFunc(initialObjects(d), func(o listed) bool { return o.ref == ref })
	}
	for _, own := range u.writes[ref] {
		known = known || u.h.Events[own].Actor() == e.Actor()
	}
	return -1, known && watched
}

// listed is an object of an initial list.
type listed struct {
	ref      history.Ref
	revision int64
}

// initialObjects reads the objects of an initial list from its frames.
func initialObjects(e *history.Event) (out []listed) {
	dec := json.NewDecoder(bytes.NewReader(e.Received))
	for {
		var frame struct {
			Type   string
			Object struct {
				Metadata struct {
					Name, Namespace string
					ResourceVersion int64 `json:",string"`
				}
			}
		}
		if dec.Decode(&frame) != nil {
			return out
		}
		if o := frame.Object.Metadata; frame.Type == "ADDED" {
			ref := e.Ref
			ref.Namespace, ref.Name = o.Namespace, o.Name
			out = append(out, listed{ref, o.ResourceVersion})
		}
	}
}

// lacks is the sentence about a write that a cache had not received.
func (f *finder) lacks(g gap) string {
	e := &f.h.Events[g.write]
	how, done := "did not have the newest "+g.ref.String(), "written"
	for _, c := range e.Changes {
		switch {
		case c.Ref != g.ref:
		case c.Type == "ADDED":
			how, done = "lacked "+g.ref.String(), "created"
		case c.Type == "DELETED" || strings.HasPrefix(e.Verb, "delete"):
			how, done = "did not know of the deletion of "+g.ref.String(), "deleted"
		}
	}
	when := "the event did not arrive before the violation"
	if g.arrival >= 0 && g.arrival < f.violation {
		when = "the event arrived at " + history.Moment(f.h.Events[g.arrival].At)
		if f.unused(g.arrival) {
			when += ", and no reconcile began after it"
		}
	}
	return fmt.Sprintf("its cache %s, %s at %s by %s; %s", how, done, history.Moment(e.At), e.Actor(), when)
}

// unused reports whether an incarnation began no reconcile after event i, although there was time
// for one.
func (f *finder) unused(i int) bool {
	e := &f.h.Events[i]
	for j := i + 1; j < f.violation; j++ {
		o := &f.h.Events[j]
		if began := o.Kind == history.Dequeue; o.Actor() == e.Actor() &&
			(began || o.Kind == history.Crash || o.Kind == history.Stop) {
			return false
		}
	}
	return f.h.Events[f.violation].At-e.At >= slow
}
