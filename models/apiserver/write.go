package apiserver

import (
	"errors"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/wavetank/wavetank/models/apiserver/internal/object"
	"github.com/wavetank/wavetank/models/apiserver/internal/registry"
	"github.com/wavetank/wavetank/models/apiserver/internal/store"
)

// maxStored is etcd's limit on one write (--max-request-bytes). Real objects are stored in a denser
// encoding when they are built-in, so the model refuses some that would just fit.
const maxStored = 1536 * 1024

// write is a request that writes, with its options. Like the request, it never changes.
type write struct {
	*request
	writeOptions
	// body is the request's body as JSON.
	body []byte
	// upsert says that an update or an apply has found nothing and creates the object.
	upsert bool
	// applied says that the draft is the result of an apply.
	applied bool
}

// createWrite reads what a create says: its body, then its options.
func (r *request) createWrite() (*write, error) {
	body, err := r.jsonBody()
	if err != nil {
		return nil, err
	}
	options, err := r.createOptions()
	return &write{request: r, writeOptions: options, body: body}, err
}

// updateWrite reads what an update says: its options, then its body.
func (r *request) updateWrite() (*write, error) {
	options, err := r.updateOptions()
	if err != nil {
		return nil, err
	}
	body, err := r.jsonBody()
	return &write{request: r, writeOptions: options, body: body}, err
}

// internalWrite is a write that the server makes of its own accord.
func (s *Server) internalWrite(k *registry.Kind, name string, e *effects) *write {
	return &write{request: &request{
		Request: &Request{}, s: s, info: Info{Name: name}, kind: k, ver: k.Storage, effects: e,
	}}
}

// decoder reads objects as the write's options say.
func (w *write) decoder() object.Decoder {
	return object.Decoder{Validation: w.validation, Known: registry.Known, Warn: w.warn}
}

// note is what is kept of the write over an old object.
func (w *write) note(old *object.Object) *object.Note {
	return &object.Note{
		Before: old, Time: w.s.now(), Manager: w.manager, Agent: w.Header.Get("User-Agent"), Version: w.ver,
		Verb: w.info.Verb, Subresource: w.info.Subresource, Media: w.Header.Get("Content-Type"), Body: w.body,
	}
}

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

// committed does what a write brings about at once: definitions change what is served.
func (w *write) committed(o *object.Object, removed bool) {
	if _, ok := o.Typed.(*apiextensionsv1.CustomResourceDefinition); ok {
		w.definitionCommitted(o, removed)
	}
	if removed {
		w.instanceRemoved()
	}
}

// record adds a committed change to the response.
func (w *write) record(e *store.Event[*object.Object]) {
	w.changes = append(w.changes, changeOf(e))
}

var operations = map[store.Op]string{store.Added: "ADDED", store.Modified: "MODIFIED", store.Deleted: "DELETED"}

func changeOf(e *store.Event[*object.Object]) Change {
	o := e.Value
	change := Change{
		Type:      operations[e.Op],
		Group:     o.Version.Type.Group,
		Version:   o.Version.Name,
		Kind:      o.Version.Type.Kind,
		Resource:  o.Version.Type.Plural,
		Namespace: o.Meta.Namespace,
		Name:      o.Meta.Name,
		UID:       string(o.Meta.UID),
		Revision:  e.Revision,
		Time:      o.CommittedAt,
		Object:    o.JSON,
	}
	if e.Previous != nil {
		change.Previous = e.Previous.JSON
	}
	return change
}
