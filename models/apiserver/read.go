package apiserver

import (
	"iter"
	"sort"
	"time"

	"github.com/wavetank/wavetank/models/apiserver/internal/object"
)

// Lookup returns the stored object of a kind by name, encoded in its storage version; the bytes are
// not to be changed.
func (s *Server) Lookup(group, kind, namespace, name string) ([]byte, bool) {
	k := s.registry.ByKind(group, kind)
	if k == nil {
		return nil, false
	}
	if !k.Namespaced {
		namespace = ""
	}
	o, ok := s.table(k.Type).Get(object.Key(namespace, name))
	if !ok {
		return nil, false
	}
	return o.JSON, true
}

// Objects yields the stored objects of a kind, ordered by namespace and name. The server must not
// be written to meanwhile.
func (s *Server) Objects(group, kind string) iter.Seq[Object] {
	return func(yield func(Object) bool) {
		k := s.registry.ByKind(group, kind)
		if k == nil {
			return
		}
		for _, o := range s.table(k.Type).Range("", "") {
			out := Object{
				Namespace: o.Meta.Namespace,
				Name:      o.Meta.Name,
				UID:       string(o.Meta.UID),
				Revision:  o.Revision,
				JSON:      o.JSON,
			}
			if !yield(out) {
				return
			}
		}
	}
}

// Revision is the revision of the newest change.
func (s *Server) Revision() int64 { return s.store.Revision() }

// History yields the changes after revision since, oldest first, as far as they have not been
// compacted.
func (s *Server) History(since int64) iter.Seq[Change] {
	return func(yield func(Change) bool) {
		for _, e := range s.store.History(since) {
			if !yield(changeOf(e)) {
				return
			}
		}
	}
}

// Compact forgets history up to a revision: lists at older revisions and watches that have not
// passed it expire.
func (s *Server) Compact(revision int64) { s.store.Compact(revision) }

// Trim forgets the changes that were committed longer ago than an age, and the states before them.
// Unlike [Server.Compact] it shows only to those who would miss one: lists at older revisions, and
// watches of a namespace (or of everything) in which one has been forgotten.
func (s *Server) Trim(age time.Duration) {
	before := s.options.Now().Add(-age)
	log := s.store.History(s.store.Trimmed())
	if n := sort.Search(len(log), func(i int) bool { return !log[i].Value.CommittedAt.Before(before) }); n > 0 {
		s.store.Trim(log[n-1].Revision)
	}
	for o := range s.store.Values() {
		o.Settle(before)
	}
}

// Compacted is the revision up to which history has been forgotten.
func (s *Server) Compacted() int64 { return s.store.Compacted() }

// KindOf is the kind that a resource name stands for, "" when it is not served.
func (s *Server) KindOf(group, resource string) string {
	if k := s.registry.ByResource(group, resource); k != nil {
		return k.Kind
	}
	return ""
}
