package apiserver

import (
	"bytes"
	"errors"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/wavetank/wavetank/models/apiserver/internal/store"
)

// maxStored is etcd's limit on one write (--max-request-bytes). Real objects are stored in a denser encoding when they
// are built-in, so the model refuses some that would just fit.
const maxStored = 1536 * 1024

// commit stores a draft: the only place, with remove, where a request changes the store. The draft becomes the stored
// object. A draft equal to what is stored is no change: no new revision, no event.
func (c *call) commit(draft, old *object) (*object, error) {
	sent := draft
	draft = draft.in(c.kind.storage)
	if sent == draft { // a conversion prunes
		draft.readBack()
	}
	if old != nil {
		draft.meta.ResourceVersion = old.meta.ResourceVersion
	}
	if old != nil && !draft.owned && draft.written == nil {
		draft.owned, draft.written, draft.owners = old.owned, old.written, old.owners // not a client's write
	}
	draft.json = draft.encodeOver(old)
	if sent != draft {
		if raw := draft.held(sent.converted(draft.ver)); !bytes.Equal(raw, draft.held(draft.rest)) {
			draft.raw = raw
		}
	}
	if old != nil && draft.sameAs(old) {
		return old, nil
	}
	if len(draft.json) > maxStored && !c.applied && len(draft.meta.ManagedFields) > 0 {
		// What is too large to be stored is stored without its ownership if that helps (endpoints/handlers/rest.go,
		// isTooLargeError). An apply without ownership would be none.
		draft.meta.ManagedFields = nil
		draft.json = draft.encode()
		if old != nil && draft.sameAs(old) {
			return old, nil
		}
	}
	if len(draft.json) > maxStored {
		return nil, errors.New("etcdserver: request is too large")
	}
	if old == nil {
		// The first encoding has no place for the revision yet.
		draft.json = nil
	}
	if c.dryRun {
		return c.pretend(draft, old), nil
	}
	draft.committedAt = c.s.options.Now()
	e := c.s.store.Commit(c.table(), draft.key(), false, draft.seal)
	c.record(e)
	c.committed(draft, false)
	return draft, nil
}

// held is what a store holds of an object with the given content, without its revision.
func (o *object) held(rest map[string]any) []byte {
	meta := *o.meta
	meta.ResourceVersion = ""
	return (&object{ver: o.ver, meta: &meta, rest: rest}).encode()
}

// sameAs says that to store the draft would change nothing.
func (o *object) sameAs(old *object) bool {
	if o.unpruned || old.unpruned {
		return false
	}
	if o.raw == nil && old.raw == nil {
		return bytes.Equal(o.json, old.json)
	}
	raw, was := o.raw, old.raw
	if raw == nil {
		raw = o.held(o.rest)
	}
	if was == nil {
		was = old.held(old.rest)
	}
	return bytes.Equal(raw, was)
}

// encodeOver encodes a draft. When nothing but the times of its managed fields differs from the old object, those are put
// back, so that it is seen to be no change.
func (o *object) encodeOver(old *object) []byte {
	if old == nil || !onlyTimesDiffer(o.meta.ManagedFields, old.meta.ManagedFields) {
		return o.encode()
	}
	entries := o.meta.ManagedFields
	o.meta.ManagedFields = old.meta.ManagedFields
	if raw := o.encode(); bytes.Equal(raw, old.json) {
		return raw
	}
	o.meta.ManagedFields = entries
	return o.encode()
}

// pretend is the answer to a dry run: the object as it would be stored, without a new revision.
func (c *call) pretend(draft, old *object) *object {
	if draft.json == nil {
		draft.json = draft.encode()
	}
	if old != nil {
		draft.revision = old.revision
	}
	return draft
}

// remove deletes a stored object; the event carries its last state at the revision of the deletion.
func (c *call) remove(o *object) *object {
	if c.dryRun {
		return o
	}
	e := c.s.store.Commit(c.table(), o.key(), true, func(revision int64) *object {
		last := o.at(revision)
		last.committedAt = c.s.options.Now()
		return last
	})
	c.record(e)
	c.committed(e.Value, true)
	return e.Value
}

// committed does what a write brings about at once: definitions change what is served.
func (c *call) committed(o *object, removed bool) {
	if _, ok := o.typed.(*apiextensionsv1.CustomResourceDefinition); ok {
		c.definitionCommitted(o, removed)
	}
	if removed {
		c.instanceRemoved()
	}
}

// record adds a committed change to the response.
func (c *call) record(e *store.Event[*object]) {
	c.changes = append(c.changes, changeOf(e, c.s))
}

var operations = map[store.Op]string{store.Added: "ADDED", store.Modified: "MODIFIED", store.Deleted: "DELETED"}

func changeOf(e *store.Event[*object], s *Server) Change {
	o := e.Value
	change := Change{
		Type:      operations[e.Op],
		Group:     o.ver.kind.group,
		Version:   o.ver.name,
		Kind:      o.ver.kind.kind,
		Resource:  o.ver.kind.plural,
		Namespace: o.meta.Namespace,
		Name:      o.meta.Name,
		UID:       string(o.meta.UID),
		Revision:  e.Revision,
		Time:      o.committedAt,
		Object:    o.json,
	}
	if e.Previous != nil {
		change.Previous = e.Previous.json
	}
	return change
}
