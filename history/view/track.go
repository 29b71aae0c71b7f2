package view

import (
	"encoding/json"
	"fmt"
	"iter"
	"time"

	"github.com/wavetank/wavetank/history"
)

// Track is what happened to the objects that a pattern selects, decoded into T.
type Track[T any] struct {
	pattern history.Ref
	all     []*Object[T]
	byUID   map[identity]*Object[T]
	byRef   map[history.Ref]*Object[T]
	changed []*Object[T]
}

// identity tells objects of all clusters apart.
type identity struct{ cluster, uid string }

// Object is one object from its creation to its end. An object that is made again under the same
// name is another one.
type Object[T any] struct {
	Ref history.Ref
	UID string
	// States are what the server held, the oldest first. If the object is gone, the last one is
	// what was deleted.
	States []State[T]
}

// State is what the server held of an object from an event on.
type State[T any] struct {
	Event int // index of the event that committed it
	At    history.Time
	Value T
	JSON  []byte
	// Gone is set when the object was removed then. Value is what was removed.
	Gone bool
	// By is the actor that committed it, as "pipelines/2".
	By string
	// Reconcile is the reconcile that committed it, if it was one.
	Reconcile history.Reconcile
}

// Follow makes a view keep the objects that a pattern selects, decoded from JSON into T. Empty
// fields of the pattern select anything, so an empty pattern selects all objects. Call it before
// the view reads.
//
// Reading panics if an object cannot be decoded: T is not the type of these objects then.
func Follow[T any](v *View, pattern history.Ref) *Track[T] {
	if v.read > 0 {
		panic("view.Follow must be called before the view reads: it would miss what happened before")
	}
	t := &Track[T]{pattern: pattern, byUID: map[identity]*Object[T]{}, byRef: map[history.Ref]*Object[T]{}}
	v.followers = append(v.followers, t)
	return t
}

// All are the objects, in the order of their creation; also those that are gone.
func (t *Track[T]) All() []*Object[T] { return t.all }

// Live are the objects that exist, in the order of their creation.
func (t *Track[T]) Live() iter.Seq[*Object[T]] {
	return func(yield func(*Object[T]) bool) {
		for _, o := range t.all {
			if o.Exists() && !yield(o) {
				return
			}
		}
	}
}

// ByUID is the object of the operator's own cluster that has a UID; nil if there was none.
func (t *Track[T]) ByUID(uid string) *Object[T] { return t.byUID[identity{"", uid}] }

// Named is the object that has the reference now, or had it last; nil if there was none.
func (t *Track[T]) Named(ref history.Ref) *Object[T] { return t.byRef[ref] }

// Changed are the objects that the event changed which the view read last.
func (t *Track[T]) Changed() []*Object[T] { return t.changed }

func (t *Track[T]) begin() { t.changed = t.changed[:0] }

func (t *Track[T]) change(e *history.Event, c *history.Change) {
	if !t.selects(c.Ref) {
		return
	}
	s := State[T]{
		Event: e.Index, At: e.At, JSON: c.Object, Gone: c.Type == "DELETED", By: e.Actor(), Reconcile: e.Reconcile,
	}
	if err := json.Unmarshal(c.Object, &s.Value); err != nil {
		panic(fmt.Sprintf("view.Follow: %s cannot be decoded into %T: %v: %.80s", c.Ref, s.Value, err, c.Object))
	}
	id := identity{c.Ref.Cluster, c.UID}
	o := t.byUID[id]
	if o == nil {
		o = &Object[T]{Ref: c.Ref, UID: c.UID}
		t.all = append(t.all, o)
		t.byUID[id], t.byRef[c.Ref] = o, o
	}
	o.States = append(o.States, s)
	t.changed = append(t.changed, o)
}

func (t *Track[T]) selects(ref history.Ref) bool {
	p := t.pattern
	return (p.Cluster == "" || p.Cluster == ref.Cluster) && (p.Group == "" || p.Group == ref.Group) &&
		(p.Kind == "" || p.Kind == ref.Kind) && (p.Namespace == "" || p.Namespace == ref.Namespace) &&
		(p.Name == "" || p.Name == ref.Name)
}

// Latest is the latest state.
func (o *Object[T]) Latest() *State[T] { return &o.States[len(o.States)-1] }

// Previous is the state before the latest one; nil for a new object.
func (o *Object[T]) Previous() *State[T] {
	if len(o.States) < 2 {
		return nil
	}
	return &o.States[len(o.States)-2]
}

// Value is the content of the latest state.
func (o *Object[T]) Value() *T { return &o.Latest().Value }

// Exists reports whether the server still holds the object.
func (o *Object[T]) Exists() bool { return !o.Latest().Gone }

// Created is when the server stored it first.
func (o *Object[T]) Created() history.Time { return o.States[0].At }

// Removed is when the object went, and whether it did.
func (o *Object[T]) Removed() (history.Time, bool) {
	last := o.Latest()
	return last.At, last.Gone
}

// When is the state that the server held after an event; nil if the object was not there yet.
func (o *Object[T]) When(event int) *State[T] {
	for i := len(o.States) - 1; i >= 0; i-- {
		if o.States[i].Event <= event {
			return &o.States[i]
		}
	}
	return nil
}

// Between are the states that the server held at some time from one time to another, each with how
// much of that time it lasted.
func (o *Object[T]) Between(from, to history.Time) iter.Seq2[*State[T], time.Duration] {
	return func(yield func(*State[T], time.Duration) bool) {
		for i := range o.States {
			s, end := &o.States[i], to
			if i+1 < len(o.States) {
				end = min(to, o.States[i+1].At)
			}
			begin := max(s.At, from)
			if begin <= end && !yield(s, end-begin) {
				return
			}
		}
	}
}

// Held is for how long, from one time to another, the object was there and a condition held.
func (o *Object[T]) Held(from, to history.Time, condition func(*T) bool) (d time.Duration) {
	for s, lasted := range o.Between(from, to) {
		if !s.Gone && condition(&s.Value) {
			d += lasted
		}
	}
	return d
}
