package apiserver

import (
	"errors"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/wavetank/wavetank/models/apiserver/internal/object"
	"github.com/wavetank/wavetank/models/apiserver/internal/store"
)

// maxStored is etcd's limit on one write (--max-request-bytes). Real objects are stored in a denser
// encoding when they are built-in, so the model refuses some that would just fit.
const maxStored = 1536 * 1024

// commit stores a draft: the only place, with remove, where a request changes the store. The draft
// becomes the stored object. A draft equal to what is stored is no change: no new revision, no
// event.
func (w *write) commit(draft, old *object.Object) (*object.Object, error) {
	draft = draft.ToStore(old)
	if old != nil && draft.SameAs(old) {
		return old, nil
	}
	if len(draft.JSON) > maxStored && !w.applied && len(draft.Meta.ManagedFields) > 0 {
		// What is too large to be stored is stored without its ownership if that helps
		// (endpoints/handlers/rest.go, isTooLargeError). An apply without ownership would be none.
		draft.Meta.ManagedFields = nil
		draft.JSON = draft.Encode()
		if old != nil && draft.SameAs(old) {
			return old, nil
		}
	}
	if len(draft.JSON) > maxStored {
		return nil, errors.New("etcdserver: request is too large")
	}
	if old == nil {
		// The first encoding has no place for the revision yet.
		draft.JSON = nil
	}
	if w.dryRun {
		return w.pretend(draft, old), nil
	}
	draft.CommittedAt = w.s.options.Now()
	e := w.s.store.Commit(w.table(), draft.Key(), false, draft.Seal)
	if old != nil {
		old.Superseded()
	}
	w.record(e)
	w.committed(draft, false)
	return draft, nil
}

// pretend is the answer to a dry run: the object as it would be stored, without a new revision.
func (w *write) pretend(draft, old *object.Object) *object.Object {
	if draft.JSON == nil {
		draft.JSON = draft.Encode()
	}
	if old != nil {
		draft.Revision = old.Revision
	}
	return draft
}

// remove deletes a stored object; the event carries its last state at the revision of the deletion.
func (w *write) remove(o *object.Object) *object.Object {
	if w.dryRun {
		return o
	}
	e := w.s.store.Commit(w.table(), o.Key(), true, func(revision int64) *object.Object {
		last := o.At(revision)
		last.CommittedAt = w.s.options.Now()
		return last
	})
	o.Superseded()
	w.record(e)
	w.committed(e.Value, true)
	return e.Value
}

// finishDeletion removes the object that an update has released. The event carries the last stored
// state, the reply the object as it was sent, in the version in which it was sent.
func (w *write) finishDeletion(draft, old *object.Object) *object.Object {
	w.remove(old)
	draft.Meta.ResourceVersion = old.Meta.ResourceVersion
	draft.JSON = draft.Encode()
	return draft
}

// committed does what a write brings about at once: definitions change what is served.
func (w *write) committed(o *object.Object, removed bool) {
	if _, ok := o.Typed.(*apiextensionsv1.CustomResourceDefinition); ok {
		w.definitions().committed(o, removed)
	}
	if removed && !w.kind.Builtin && w.table().Len() == 0 {
		w.definitions().lastRemoved(w.kind)
	}
}

// record adds a committed change to the response.
func (w *write) record(e *store.Event[*object.Object]) {
	w.changes = append(w.changes, changeOf(e))
}
