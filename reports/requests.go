// This file finds requests of programs that a paragraph is about.

package reports

import (
	"slices"

	"github.com/wavetank/wavetank/history"
)

const (
	// maxSiblings is how many requests from one line a paragraph names, besides the last one.
	maxSiblings = 2
	fewAlike    = 3 // equal requests from which on they are counted
)

// requests owns the search for events that a paragraph is about.
type requests struct{ *unseen }

// siblings are the last requests that changed something by a step's line of the program, about
// objects of the same kind: one for each object.
func (r *requests) siblings(d int) (out []int) {
	b, told := &r.h.Events[d], map[history.Ref]bool{}
	for i := d - 1; i >= 0 && len(out) < maxSiblings; i-- {
		a := &r.h.Events[i]
		if a.Source == b.Source && a.Verb == b.Verb && a.Ref.Kind == b.Ref.Kind && a.Host == b.Host && r.changes(i) &&
			!told[a.Ref] {
			out, told[a.Ref] = append(out, i), true
		}
	}
	return out
}

// alike are earlier requests like a step, from the same line of the program, about the same
// object and in reconciles of the same key, if there are several.
func (r *requests) alike(d int) (out []int) {
	b := &r.h.Events[d]
	for i := range d {
		a := &r.h.Events[i]
		if a.Kind == b.Kind && a.Source == b.Source && a.Ref == b.Ref && a.Verb == b.Verb && a.Path == b.Path &&
			a.Reconcile.Key == b.Reconcile.Key {
			out = append(out, i)
		}
	}
	if len(out) < fewAlike {
		return nil
	}
	return out
}

// telling are the writes of an object, without its first creation by a user.
func (r *requests) telling(ref history.Ref) (out []int) {
	for first, i := range r.writes[ref] {
		if e := &r.h.Events[i]; first > 0 || e.Source != "" || e.Verb != "create" {
			out = append(out, i)
		}
	}
	return out
}

// latest is the last request of a program that changed something or failed. Requests of caches
// count only if there is no other; -1 if there is none.
func (r *requests) latest() int {
	ofCache := -1
	for i := r.violation - 1; i >= 0; i-- {
		e := &r.h.Events[i]
		switch {
		case e.Kind != history.Request || e.Chatter() || e.Incarnation == 0 || !r.changes(i) && !refused(e):
		case e.Source != "":
			return i
		case ofCache < 0:
			ofCache = i
		}
	}
	return ofCache
}

// reply is the reply to request i before the violation; -1 if there is none.
func (r *requests) reply(i int) int {
	for j := i + 1; j < r.violation; j++ {
		if e := &r.h.Events[j]; e.Kind == history.Reply && e.Call == i {
			return j
		}
	}
	return -1
}

// unchanging are the last requests in reconciles of objects that the sentence names, if these
// reconciles have changed nothing.
func (t *tracing) unchanging() (out []int) {
	last, changed := map[history.Key]int{}, map[history.Key]bool{}
	for i := range t.violation {
		e := &t.h.Events[i]
		if e.Kind == history.Request && e.Source != "" && !e.Chatter() && !e.Reconcile.None() {
			last[e.Reconcile.Key] = i
			changed[e.Reconcile.Key] = changed[e.Reconcile.Key] || t.changes(i)
		}
	}
	for key, i := range last {
		of := func(ref history.Ref) bool { return ref.Namespace == key.Namespace && ref.Name == key.Name }
		if !changed[key] && slices.ContainsFunc(t.named, of) {
			out = append(out, i)
		}
	}
	slices.Sort(out)
	return out[max(0, len(out)-maxSubjects):]
}
