// Package store is the storage beneath the API model: versioned tables over one revision counter,
// with an append-only history of every change.
//
// It plays the part that etcd and the watch cache play under kube-apiserver, and knows nothing
// about verbs, HTTP or Kubernetes objects: values are opaque. There is one write path,
// [Store.Commit]; it is the only place where the revision rises and where history grows. Tables
// keep their keys in order, so that the cost of a write does not depend on how much is stored.
//
// It is not safe for concurrent use, keeps no clock, starts no goroutine, and does not survive the
// process.
package store

import (
	"iter"
	"sort"
	"strings"
)

// Op says what a committed change did to its key.
type Op uint8

// The three operations a history is made of.
const (
	Added Op = iota + 1
	Modified
	Deleted
)

// Store is a set of tables that share one revision counter and one history.
type Store[V any] struct {
	revision  int64
	compacted int64
	trimmed   int64
	tables    map[string]*Table[V]
	log       []*Event[V]
}

// Event is one committed change.
type Event[V any] struct {
	Op       Op
	Table    *Table[V]
	Key      string
	Revision int64
	// Value is the value after the change; for Deleted, the last state carrying the revision of the
	// deletion.
	Value V
	// Previous is the value before the change; the zero value for Added.
	Previous V
}

// Item is one stored value.
type Item[V any] struct {
	Key      string
	Revision int64
	Value    V
}

// Table holds the values of one collection, ordered by key.
type Table[V any] struct {
	// Name identifies the table within its store.
	Name string

	store  *Store[V]
	items  map[string]*Item[V]
	keys   keys
	events []*Event[V]
	// base is the number of events dropped from the front of events by compaction: positions handed
	// out are absolute.
	base int
	// lost is the newest change that was forgotten under each first part of a key; "" stands for
	// all.
	lost map[string]int64
}

// New returns an empty store at revision first.
func New[V any](first int64) *Store[V] {
	return &Store[V]{revision: first, tables: map[string]*Table[V]{}}
}

// Table returns the table of that name, made empty when it does not exist yet.
func (s *Store[V]) Table(name string) *Table[V] {
	t := s.tables[name]
	if t == nil {
		t = &Table[V]{Name: name, store: s, items: map[string]*Item[V]{}, lost: map[string]int64{}}
		s.tables[name] = t
	}
	return t
}

// Values yields all current values, in no order.
func (s *Store[V]) Values() iter.Seq[V] {
	return func(yield func(V) bool) {
		for _, t := range s.tables {
			for _, item := range t.items {
				if !yield(item.Value) {
					return
				}
			}
		}
	}
}

// Revision is the revision of the newest change.
func (s *Store[V]) Revision() int64 { return s.revision }

// Compacted is the mark below which nothing can be followed.
func (s *Store[V]) Compacted() int64 { return s.compacted }

// Trimmed is the mark below which states cannot be read.
func (s *Store[V]) Trimmed() int64 { return s.trimmed }

// Commit performs one change. It takes the next revision and asks build for the value at that
// revision. It stores the value under key, or removes key, and appends the change to history. It is
// the only write path.
func (s *Store[V]) Commit(t *Table[V], key string, remove bool, build func(revision int64) V) *Event[V] {
	item, exists := t.items[key]
	if remove && !exists {
		panic("store: removal of a key that is not stored: " + t.Name + " " + key)
	}
	s.revision++
	e := &Event[V]{Op: Added, Table: t, Key: key, Revision: s.revision, Value: build(s.revision)}
	switch {
	case remove:
		e.Op, e.Previous = Deleted, item.Value
		delete(t.items, key)
		t.keys.remove(key)
	case exists:
		e.Op, e.Previous = Modified, item.Value
		item.Value, item.Revision = e.Value, e.Revision
	default:
		t.items[key] = &Item[V]{Key: key, Revision: e.Revision, Value: e.Value}
		t.keys.insert(key)
	}
	t.events = append(t.events, e)
	s.log = append(s.log, e)
	return e
}

// Compact forgets the changes up to and including revision. No reader can follow from before it
// afterwards. Marks never move back and never pass the newest revision.
func (s *Store[V]) Compact(revision int64) {
	s.compacted = max(s.compacted, min(revision, s.revision))
	s.Trim(revision)
}

// Trim is Compact for readers that would miss a change. A reader of keys without a forgotten change
// does not notice.
func (s *Store[V]) Trim(revision int64) {
	revision = min(revision, s.revision)
	if revision <= s.trimmed {
		return
	}
	s.trimmed = revision
	s.log = after(s.log, revision)
	for _, t := range s.tables {
		kept := after(t.events, revision)
		gone := t.events[:len(t.events)-len(kept)]
		for _, e := range gone {
			t.lost[""], t.lost[firstPart(e.Key)] = e.Revision, e.Revision
		}
		t.base += len(gone)
		t.events = kept
	}
}

// firstPart is the key up to its first slash: the namespace, for what has one.
func firstPart(key string) string {
	first, _, _ := strings.Cut(key, "/")
	return first
}

// Lost reports whether a change of this table after revision, of a key with the prefix, has been
// forgotten. It may say so of a prefix that is longer than the first part of a key because of
// another key with that part.
func (t *Table[V]) Lost(prefix string, revision int64) bool {
	return t.lost[firstPart(prefix)] > revision
}

// after copies the events later than revision, so that the forgotten ones can be collected.
func after[V any](events []*Event[V], revision int64) []*Event[V] {
	n := firstAfter(events, revision)
	return append([]*Event[V](nil), events[n:]...)
}

func firstAfter[V any](events []*Event[V], revision int64) int {
	return sort.Search(len(events), func(i int) bool { return events[i].Revision > revision })
}

// History is the changes of all tables after revision since, oldest first.
func (s *Store[V]) History(since int64) []*Event[V] {
	return s.log[firstAfter(s.log, since):]
}

// Get returns the current value of key.
func (t *Table[V]) Get(key string) (V, bool) {
	if item, ok := t.items[key]; ok {
		return item.Value, true
	}
	var zero V
	return zero, false
}

// Len is the number of stored keys.
func (t *Table[V]) Len() int { return len(t.items) }

// Range yields the current values whose keys have the prefix and are greater than after ("" for
// all), in key order.
func (t *Table[V]) Range(prefix, after string) iter.Seq2[string, V] {
	return func(yield func(string, V) bool) {
		t.keys.ascend(prefix, after, func(key string) bool { return yield(key, t.items[key].Value) })
	}
}

// At returns the values with the prefix as they were at a past revision, in key order. The caller
// has checked that the revision is neither compacted nor in the future.
func (t *Table[V]) At(revision int64, prefix, after string) []Item[V] {
	// Undoing the later changes from the newest to the oldest leaves, for each key that changed,
	// its state back then.
	type past struct {
		value  V
		exists bool
	}
	undone := map[string]past{}
	changed := t.events[firstAfter(t.events, revision):]
	for i := len(changed) - 1; i >= 0; i-- {
		e := changed[i]
		undone[e.Key] = past{value: e.Previous, exists: e.Op != Added}
	}
	var out []Item[V]
	for key, value := range t.Range(prefix, after) {
		if _, was := undone[key]; !was {
			out = append(out, Item[V]{Key: key, Value: value})
		}
	}
	for key, p := range undone {
		if p.exists && strings.HasPrefix(key, prefix) && key > after {
			out = append(out, Item[V]{Key: key, Value: p.value})
		}
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Key < out[j].Key })
	return out
}

// After is the position of the first change of this table later than revision.
func (t *Table[V]) After(revision int64) int { return t.base + firstAfter(t.events, revision) }

// End is the position after the newest change of this table.
func (t *Table[V]) End() int { return t.base + len(t.events) }

// First is the position of the first change that is not forgotten.
func (t *Table[V]) First() int { return t.base }

// Event returns the change at a position; lost is true when compaction has forgotten it, and the
// event is nil when the position is at the end.
func (t *Table[V]) Event(position int) (e *Event[V], lost bool) {
	switch i := position - t.base; {
	case i < 0:
		return nil, true
	case i >= len(t.events):
		return nil, false
	default:
		return t.events[i], false
	}
}
