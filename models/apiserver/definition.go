package apiserver

import (
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wavetank/wavetank/models/apiserver/internal/object"
	"github.com/wavetank/wavetank/models/apiserver/internal/registry"
)

// definitions keeps what is served in step with the stored definitions of custom types.
type definitions struct {
	s       *Server
	effects *effects
}

func (w *write) definitions() *definitions { return &definitions{w.s, w.effects} }

// committed keeps the registry in step with the stored definitions and, as the
// controllers of a real server do a moment later, establishes new ones.
func (d *definitions) committed(o *object.Object, removed bool) {
	crd := o.Typed.(*apiextensionsv1.CustomResourceDefinition)
	if removed {
		d.s.registry.Remove(crd)
		return
	}
	d.s.registry.Put(registry.KindOfDefinition(crd))
	if crd.DeletionTimestamp != nil {
		d.cleanUp(o)
		return
	}
	if registry.Established(crd) {
		return
	}
	draft := o.Draft()
	registry.Establish(draft.Typed.(*apiextensionsv1.CustomResourceDefinition), metav1.NewTime(d.s.now()))
	if _, err := d.internalWrite().commit(draft, o); err != nil {
		panic("apiserver: a definition could not be established: " + err.Error())
	}
}

const cleanupFinalizer = apiextensionsv1.CustomResourceCleanupFinalizer

// cleanUp deletes the instances of a terminating definition; the definition goes with the
// last of them. A real server's finalizer controller does so a moment later; the model does it in
// the same request, and again when an instance goes.
func (d *definitions) cleanUp(o *object.Object) {
	crd := o.Typed.(*apiextensionsv1.CustomResourceDefinition)
	k := d.s.registry.ByResource(crd.Spec.Group, crd.Spec.Names.Plural)
	if k == nil || k.Builtin || !slices.Contains(crd.Finalizers, cleanupFinalizer) {
		return
	}
	instances := d.s.internalWrite(k, "", d.effects)
	var all []*object.Object
	for _, instance := range instances.table().Range("", "") {
		all = append(all, instance)
	}
	if len(all) == 0 {
		d.finish(o)
	}
	for _, instance := range all {
		if _, _, err := (&deletion{instances, &metav1.DeleteOptions{}}).ofObject(instance); err != nil {
			panic("apiserver: an instance of a terminating definition could not be deleted: " + err.Error())
		}
	}
}

// finish takes the cleanup finalizer off a definition whose instances are gone.
func (d *definitions) finish(o *object.Object) {
	draft := o.Draft()
	var kept []string
	for _, f := range draft.Meta.Finalizers {
		if f != cleanupFinalizer {
			kept = append(kept, f)
		}
	}
	draft.Meta.Finalizers = kept
	if len(kept) == 0 {
		d.internalWrite().remove(o)
		return
	}
	if _, err := d.internalWrite().commit(draft, o); err != nil {
		panic("apiserver: a terminating definition could not be updated: " + err.Error())
	}
}

// lastRemoved lets a terminating definition go with its last instance.
func (d *definitions) lastRemoved(k *registry.Kind) {
	o, exists := d.of(k)
	if exists && o.Meta.DeletionTimestamp != nil && slices.Contains(o.Meta.Finalizers, cleanupFinalizer) {
		d.finish(o)
	}
}

// of is the stored definition of a custom kind.
func (d *definitions) of(k *registry.Kind) (*object.Object, bool) {
	return d.s.table(registry.Definitions().Type).Get(k.Plural + "." + k.Group)
}

// internalWrite is a write of the server's own to a definition.
func (d *definitions) internalWrite() *write {
	return d.s.internalWrite(registry.Definitions(), "", d.effects)
}
