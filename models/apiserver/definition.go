package apiserver

import (
	"errors"
	"fmt"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wavetank/wavetank/models/apiserver/internal/object"
	"github.com/wavetank/wavetank/models/apiserver/internal/registry"
)

// What writes of definitions bring about: a definition changes what is served, and its instances go
// with it.

// Install serves custom types: it stores each definition, established at once, or replaces the
// stored one. Definitions are shared between servers and must not be changed afterwards: their
// schemas are compiled once per process.
func (s *Server) Install(crds ...*apiextensionsv1.CustomResourceDefinition) error {
	for _, crd := range crds {
		if err := s.install(crd); err != nil {
			return fmt.Errorf("install %s: %w", crd.Name, err)
		}
	}
	return nil
}

func (s *Server) install(crd *apiextensionsv1.CustomResourceDefinition) error {
	w := s.internalWrite(registry.Definitions(), crd.Name, &effects{})
	old, exists := w.lookup(crd.Name)
	if !exists {
		return w.installPrepared(crd)
	}
	draft := object.DraftOf(registry.DecodeDefinition(registry.EncodeDefinition(crd)), w.ver)
	draft.Meta.ResourceVersion, draft.Meta.UID = old.Meta.ResourceVersion, ""
	_, err := w.replace(draft, old, "")
	return err
}

// installPrepared stores a definition as established, in one change: a real server writes it three
// times in the second after its creation.
func (w *write) installPrepared(crd *apiextensionsv1.CustomResourceDefinition) error {
	p := registry.Prepare(crd)
	if p.Err != nil {
		return p.Err
	}
	draft := p.Draft(metav1.NewTime(w.s.now()), w.s.generator.uid())
	draft.CommittedAt = w.s.options.Now()
	w.record(w.s.store.Commit(w.table(), draft.Key(), false, func(revision int64) *object.Object {
		return draft.SealJoined(revision, p.Spec)
	}))
	w.s.registry.Put(p.Kind)
	return nil
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

// deleteDefinition marks a definition; its instances go first
// (apiextensions-apiserver's pkg/registry/customresourcedefinition/etcd.go).
func (w *write) deleteDefinition(o *object.Object, opts *metav1.DeleteOptions) (*object.Object, bool, error) {
	crd := o.Typed.(*apiextensionsv1.CustomResourceDefinition)
	if why := failedPrecondition(opts.Preconditions, o.Meta); why != "" {
		err := errors.New("precondition failed: " + why)
		return nil, false, apierrors.NewConflict(w.kind.GroupResource(), crd.Name, err)
	}
	if crd.DeletionTimestamp != nil {
		return w.deleteObject(o, opts)
	}
	draft := o.Draft()
	now := metav1.NewTime(w.s.now())
	draft.Meta.DeletionTimestamp = &now
	if !slices.Contains(draft.Meta.Finalizers, cleanupFinalizer) {
		draft.Meta.Finalizers = append(draft.Meta.Finalizers, cleanupFinalizer)
	}
	status := &draft.Typed.(*apiextensionsv1.CustomResourceDefinition).Status
	status.Conditions = append(status.Conditions, apiextensionsv1.CustomResourceDefinitionCondition{
		Type: apiextensionsv1.Terminating, Status: apiextensionsv1.ConditionTrue, LastTransitionTime: now,
		Reason:  "InstanceDeletionPending",
		Message: "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon",
	})
	stored, err := w.commit(draft, o)
	return stored, false, err
}

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

// definitionTerminates says that a custom kind's definition is being deleted: nothing new can be
// created.
func (w *write) definitionTerminates() bool {
	if w.kind.Builtin {
		return false
	}
	o, exists := w.s.definitionOf(w.kind)
	return exists && o.Meta.DeletionTimestamp != nil
}
