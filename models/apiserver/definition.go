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
// controllers of a real server do a moment later, establishes new ones in two writes.
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
	d.update(o, func(crd *apiextensionsv1.CustomResourceDefinition) {
		registry.Establish(crd, metav1.NewTime(d.s.now()))
	})
}

// update changes a definition and returns what is stored then. A real server's controllers do so.
func (d *definitions) update(o *object.Object, change func(*apiextensionsv1.CustomResourceDefinition)) *object.Object {
	draft := o.Draft()
	change(draft.Typed.(*apiextensionsv1.CustomResourceDefinition))
	stored, err := d.internalWrite().commit(draft, o)
	if err != nil {
		panic("apiserver: a definition could not be updated: " + err.Error())
	}
	return stored
}

const cleanupFinalizer = apiextensionsv1.CustomResourceCleanupFinalizer

// cleanUp deletes the instances of a terminating definition; the definition goes with the
// last of them (apiextensions-apiserver's pkg/controller/finalizer). A real server does so a moment
// later; the model does it in the same request, and again when an instance goes.
func (d *definitions) cleanUp(o *object.Object) {
	crd := o.Typed.(*apiextensionsv1.CustomResourceDefinition)
	k := d.s.registry.ByResource(crd.Spec.Group, crd.Spec.Names.Plural)
	if k == nil || k.Builtin || !slices.Contains(crd.Finalizers, cleanupFinalizer) {
		return
	}
	if d.update(o, func(crd *apiextensionsv1.CustomResourceDefinition) {
		registry.Terminate(crd, metav1.NewTime(d.s.now()), apiextensionsv1.ConditionTrue,
			"InstanceDeletionInProgress", "CustomResource deletion is in progress")
	}) != o {
		return // that commit has cleaned up
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
	if len(o.Meta.Finalizers) == 1 {
		d.internalWrite().remove(o)
		return
	}
	d.update(o, func(crd *apiextensionsv1.CustomResourceDefinition) {
		registry.Terminate(crd, metav1.NewTime(d.s.now()), apiextensionsv1.ConditionFalse,
			"InstanceDeletionCompleted", "removed all instances")
		crd.Finalizers = slices.DeleteFunc(crd.Finalizers, func(f string) bool { return f == cleanupFinalizer })
	})
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
