package apiserver

// Ownership through a scale subresource: there the replicas are a field of another type, and who sets them by scaling
// takes them from whoever set them on the object (apimachinery's util/managedfields/scalehandler.go).

import (
	"sync"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/client-go/kubernetes/scheme"
)

// scaleFields is the field manager of every scale subresource.
var scaleFields = sync.OnceValues(func() (*managedfields.FieldManager, error) {
	gv := scaleKind.GroupVersion()
	return managedfields.NewDefaultFieldManager(builtinTypes(), scaleObjects{}, scheme.Scheme, scheme.Scheme, scaleKind, gv, "scale", nil)
})

// scaleObjects converts between the two forms of a scale that a field manager meets.
type scaleObjects struct{ fieldObjects }

// ConvertToVersion implements [runtime.ObjectConvertor].
func (scaleObjects) ConvertToVersion(in runtime.Object, _ runtime.GroupVersioner) (runtime.Object, error) {
	u, untyped := in.(*unstructured.Unstructured)
	if !untyped {
		return in, nil
	}
	scale := &autoscalingv1.Scale{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, scale); err != nil {
		return nil, err
	}
	scale.SetGroupVersionKind(scaleKind)
	return scale, nil
}

// replicasPaths says where each version of a kind keeps its replicas.
func (k *kind) replicasPaths() managedfields.ResourcePathMappings {
	out := managedfields.ResourcePathMappings{}
	for _, v := range k.versions {
		out[v.apiVersion()] = nil
		if sub := v.subresource("scale"); sub != nil {
			out[v.apiVersion()] = pathOf(sub.scale.specName)
		}
	}
	return out
}

// ownScale settles the ownership of a draft that a scale has changed; scale is what the request asked for.
func (c *call) ownScale(draft, old *object, scale *autoscalingv1.Scale) {
	if c.applied {
		c.setFields(draft, c.scaled)
		return
	}
	if !c.s.options.TrackFields && !old.owned {
		draft.written = c.newWrite(old)
		return
	}
	c.setFields(draft, c.scaledFields(c.newWrite(old), old, scale, c.fieldsOf(old)))
}

// scaledFields is the ownership of an object after a write of its scale.
func (c *call) scaledFields(w *write, old *object, scale *autoscalingv1.Scale, before []metav1.ManagedFieldsEntry) []metav1.ManagedFieldsEntry {
	fields, err := scaleFields()
	if err != nil {
		return before
	}
	handler := managedfields.NewScaleHandler(before, w.ver.gvk().GroupVersion(), w.ver.kind.replicasPaths())
	live := c.scaleView(w.ver.subresource("scale").scale, old)
	if live.ManagedFields, err = handler.ToSubresource(); err != nil {
		return before
	}
	scale.SetGroupVersionKind(scaleKind)
	out := fields.UpdateNoErrors(live, scale, w.owner())
	entries, err := handler.ToParent(managedFieldsOf(out))
	if err != nil {
		return before
	}
	return stamped(entries, before, w.time)
}

// applyScale applies the scale in the request to the present one and returns the new scale.
func (c *call) applyScale(old *object) (*autoscalingv1.Scale, error) {
	fields, err := scaleFields()
	if err != nil {
		return nil, err
	}
	patch, err := c.readApply()
	if err != nil {
		return nil, err
	}
	before := c.fieldsOf(old)
	handler := managedfields.NewScaleHandler(before, c.ver.gvk().GroupVersion(), c.kind.replicasPaths())
	live := c.scaleView(c.ver.subresource("scale").scale, old)
	if live.ManagedFields, err = handler.ToSubresource(); err != nil {
		return nil, err
	}
	out, err := fields.Apply(live, patch, c.manager, c.force)
	if err != nil {
		return nil, err
	}
	scale := out.(*autoscalingv1.Scale)
	entries, err := handler.ToParent(scale.ManagedFields)
	if err != nil {
		return nil, err
	}
	c.applied, c.scaled = true, stamped(entries, before, c.s.now())
	return scale, c.checkStrict()
}
