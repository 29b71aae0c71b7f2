package apiserver

import (
	"fmt"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const cleanupFinalizer = apiextensionsv1.CustomResourceCleanupFinalizer

// deleteDefinition marks a definition; its instances go first
// (apiextensions-apiserver's pkg/registry/customresourcedefinition/etcd.go).
func (c *call) deleteDefinition(o *object, crd *apiextensionsv1.CustomResourceDefinition, opts *metav1.DeleteOptions) (*object, bool, error) {
	if p := opts.Preconditions; p != nil {
		if p.UID != nil && *p.UID != crd.UID {
			return nil, false, apierrors.NewConflict(c.kind.groupResource(), crd.Name, fmt.Errorf(
				"precondition failed: UID in precondition: %v, UID in object meta: %v", *p.UID, crd.UID))
		}
		if p.ResourceVersion != nil && *p.ResourceVersion != crd.ResourceVersion {
			return nil, false, apierrors.NewConflict(c.kind.groupResource(), crd.Name, fmt.Errorf(
				"precondition failed: ResourceVersion in precondition: %v, ResourceVersion in object meta: %v", *p.ResourceVersion, crd.ResourceVersion))
		}
	}
	if crd.DeletionTimestamp != nil {
		return c.deleteObject(o, opts)
	}
	draft := o.draft()
	now := metav1.NewTime(c.s.now())
	draft.meta.DeletionTimestamp = &now
	if !slices.Contains(draft.meta.Finalizers, cleanupFinalizer) {
		draft.meta.Finalizers = append(draft.meta.Finalizers, cleanupFinalizer)
	}
	status := &draft.typed.(*apiextensionsv1.CustomResourceDefinition).Status
	status.Conditions = append(status.Conditions, apiextensionsv1.CustomResourceDefinitionCondition{
		Type: apiextensionsv1.Terminating, Status: apiextensionsv1.ConditionTrue, LastTransitionTime: now,
		Reason:  "InstanceDeletionPending",
		Message: "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon",
	})
	stored, err := c.commit(draft, o)
	return stored, false, err
}

// cleanUpInstances deletes the instances of a terminating definition and then the definition. A real server's finalizer
// controller does so a moment later; the model does it in the same request, and again when an instance goes.
func (c *call) cleanUpInstances(o *object) {
	crd := o.typed.(*apiextensionsv1.CustomResourceDefinition)
	k := c.s.registry.byResource(crd.Spec.Group, crd.Spec.Names.Plural)
	if k == nil || k.custom == nil || !slices.Contains(crd.Finalizers, cleanupFinalizer) {
		return
	}
	instances := &call{s: c.s, req: c.req, kind: k, ver: k.storage, terminating: true}
	var all []*object
	for _, instance := range instances.table().Range("", "") {
		all = append(all, instance)
	}
	for _, instance := range all {
		if _, _, err := instances.deleteObject(instance, &metav1.DeleteOptions{}); err != nil {
			panic("apiserver: an instance of a terminating definition could not be deleted: " + err.Error())
		}
	}
	c.changes = append(c.changes, instances.changes...)
	if instances.table().Len() == 0 {
		c.finishDefinition(o)
	}
}

// finishDefinition takes the cleanup finalizer off a definition whose instances are gone.
func (c *call) finishDefinition(o *object) {
	draft := o.draft()
	var kept []string
	for _, f := range draft.meta.Finalizers {
		if f != cleanupFinalizer {
			kept = append(kept, f)
		}
	}
	draft.meta.Finalizers = kept
	if len(kept) == 0 {
		c.remove(o)
		return
	}
	if _, err := c.commit(draft, o); err != nil {
		panic("apiserver: a terminating definition could not be updated: " + err.Error())
	}
}

// instanceRemoved lets a terminating definition go with its last instance.
func (c *call) instanceRemoved() {
	if c.kind.custom == nil || c.terminating || c.table().Len() > 0 {
		return
	}
	d := &call{s: c.s, req: c.req, kind: c.s.registry.byResource("apiextensions.k8s.io", "customresourcedefinitions")}
	d.ver = d.kind.storage
	o, exists := d.lookup(c.kind.plural + "." + c.kind.group)
	if !exists || o.meta.DeletionTimestamp == nil || !slices.Contains(o.meta.Finalizers, cleanupFinalizer) {
		return
	}
	d.finishDefinition(o)
	c.changes = append(c.changes, d.changes...)
}

// definitionTerminates says that a custom type's definition is being deleted: nothing new can be created.
func (c *call) definitionTerminates() bool {
	if c.kind.custom == nil {
		return false
	}
	definitions := c.s.registry.byResource("apiextensions.k8s.io", "customresourcedefinitions")
	o, exists := c.s.store.Table(definitions.table).Get(c.kind.plural + "." + c.kind.group)
	return exists && o.meta.DeletionTimestamp != nil
}
