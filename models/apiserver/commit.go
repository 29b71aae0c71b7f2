package apiserver

import (
	"errors"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wavetank/wavetank/models/apiserver/internal/object"
	"github.com/wavetank/wavetank/models/apiserver/internal/registry"
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

// deleteObject follows registry/generic/registry/store.go (Delete) and registry/rest/delete.go
// (BeforeDelete). It returns the last or marked state and whether the object is gone.
func (w *write) deleteObject(o *object.Object, opts *metav1.DeleteOptions) (*object.Object, bool, error) {
	if err := w.kind.CheckPreconditions(opts.Preconditions, o); err != nil {
		return nil, false, err
	}
	// An object is read in the version of the request, and what that does not know is lost when it
	// is written again.
	draft := o.In(w.ver).Draft()
	graceful, pending := w.kind.BeginGraceful(draft, opts, w.s.now())
	if pending {
		return o, false, nil
	}
	finalizers := w.kind.PropagationFinalizers(draft.Meta, opts)
	draft.Meta.Finalizers = finalizers
	if !graceful && len(finalizers) == 0 {
		return w.remove(o), true, nil
	}
	if !graceful {
		registry.MarkDeleting(draft.Meta, w.s.now())
	}
	stored, err := w.commit(draft, o)
	if err != nil {
		return nil, false, err
	}
	if len(finalizers) > 0 || !graceful || *draft.Meta.DeletionGracePeriodSeconds > 0 {
		return stored, false, nil
	}
	return w.remove(stored), true, nil
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
		w.definitionCommitted(o, removed)
	}
	if removed {
		w.instanceRemoved()
	}
}

// definitionCommitted keeps the registry in step with the stored definitions and, as the
// controllers of a real server do a moment later, establishes new ones.
func (w *write) definitionCommitted(o *object.Object, removed bool) {
	crd := o.Typed.(*apiextensionsv1.CustomResourceDefinition)
	if removed {
		w.s.registry.Remove(crd)
		return
	}
	w.s.registry.Put(registry.KindOfDefinition(crd))
	if crd.DeletionTimestamp != nil {
		w.cleanUpInstances(o)
		return
	}
	if registry.Established(crd) {
		return
	}
	draft := o.Draft()
	registry.Establish(draft.Typed.(*apiextensionsv1.CustomResourceDefinition), metav1.NewTime(w.s.now()))
	if _, err := w.commit(draft, o); err != nil {
		panic("apiserver: a definition could not be established: " + err.Error())
	}
}

const cleanupFinalizer = apiextensionsv1.CustomResourceCleanupFinalizer

// cleanUpInstances deletes the instances of a terminating definition; the definition goes with the
// last of them. A real server's finalizer controller does so a moment later; the model does it in
// the same request, and again when an instance goes.
func (w *write) cleanUpInstances(o *object.Object) {
	crd := o.Typed.(*apiextensionsv1.CustomResourceDefinition)
	k := w.s.registry.ByResource(crd.Spec.Group, crd.Spec.Names.Plural)
	if k == nil || k.Builtin || !slices.Contains(crd.Finalizers, cleanupFinalizer) {
		return
	}
	instances := w.s.internalWrite(k, "", w.effects)
	var all []*object.Object
	for _, instance := range instances.table().Range("", "") {
		all = append(all, instance)
	}
	if len(all) == 0 {
		w.finishDefinition(o)
	}
	for _, instance := range all {
		if _, _, err := instances.deleteObject(instance, &metav1.DeleteOptions{}); err != nil {
			panic("apiserver: an instance of a terminating definition could not be deleted: " + err.Error())
		}
	}
}

// finishDefinition takes the cleanup finalizer off a definition whose instances are gone.
func (w *write) finishDefinition(o *object.Object) {
	draft := o.Draft()
	var kept []string
	for _, f := range draft.Meta.Finalizers {
		if f != cleanupFinalizer {
			kept = append(kept, f)
		}
	}
	draft.Meta.Finalizers = kept
	if len(kept) == 0 {
		w.remove(o)
		return
	}
	if _, err := w.commit(draft, o); err != nil {
		panic("apiserver: a terminating definition could not be updated: " + err.Error())
	}
}

// instanceRemoved lets a terminating definition go with its last instance.
func (w *write) instanceRemoved() {
	if w.kind.Builtin || w.table().Len() > 0 {
		return
	}
	o, exists := w.s.definitionOf(w.kind)
	if exists && o.Meta.DeletionTimestamp != nil && slices.Contains(o.Meta.Finalizers, cleanupFinalizer) {
		w.s.internalWrite(registry.Definitions(), "", w.effects).finishDefinition(o)
	}
}

// definitionOf is the stored definition of a custom kind.
func (s *Server) definitionOf(k *registry.Kind) (*object.Object, bool) {
	return s.table(registry.Definitions().Type).Get(k.Plural + "." + k.Group)
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
