package apiserver

// Ownership through a scale subresource: there the replicas are a field of another type, and who sets them by scaling
// takes them from whoever set them on the object (apimachinery's util/managedfields/scalehandler.go).

import (
	"fmt"
	"sync"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

// builtinScales and customScales are the field managers of all scale subresources.
var builtinScales, customScales = newScaleFields(false), newScaleFields(true)

func (k *kind) scaleFields() (*managedfields.FieldManager, error) {
	if k.builtin == nil {
		return customScales()
	}
	return builtinScales()
}

func newScaleFields(custom bool) func() (*managedfields.FieldManager, error) {
	return sync.OnceValues(func() (*managedfields.FieldManager, error) {
		gv := scaleKind.GroupVersion()
		types, err := scaleTypes()
		if err != nil {
			return nil, err
		}
		return managedfields.NewDefaultFieldManager(types, scaleObjects{custom: custom}, scheme.Scheme, scaleObjects{custom: custom}, scaleKind, gv, "scale", nil)
	})
}

// scaleTypes describe a scale, which is not among the types that clients configure.
func scaleTypes() (managedfields.TypeConverter, error) {
	number, text := spec.Int32Property(), spec.StringProperty()
	part := func(fields map[string]spec.Schema) spec.Schema {
		return spec.Schema{SchemaProps: spec.SchemaProps{Type: []string{"object"}, Properties: fields}}
	}
	whole := part(map[string]spec.Schema{
		"apiVersion": *text, "kind": *text, "metadata": *spec.RefSchema(objectMetaRef),
		"spec":   part(map[string]spec.Schema{"replicas": *number}),
		"status": part(map[string]spec.Schema{"replicas": *number, "selector": *text}),
	})
	whole.AddExtension("x-kubernetes-group-version-kind", []any{
		map[string]any{"group": scaleKind.Group, "version": scaleKind.Version, "kind": scaleKind.Kind},
	})
	schemas := metaSchemas()
	schemas["Scale"] = &whole
	return managedfields.NewTypeConverter(schemas, false)
}

// scaleObjects converts between the two forms of a scale that a field manager meets.
type scaleObjects struct {
	fieldObjects
	custom bool
}

// New implements [runtime.ObjectCreater].
func (s scaleObjects) New(gvk schema.GroupVersionKind) (runtime.Object, error) {
	var o runtime.Object = &autoscalingv1.Scale{}
	if s.custom {
		o = &unstructured.Unstructured{}
	}
	o.GetObjectKind().SetGroupVersionKind(gvk)
	return o, nil
}

// ConvertToVersion implements [runtime.ObjectConvertor].
func (s scaleObjects) ConvertToVersion(in runtime.Object, _ runtime.GroupVersioner) (runtime.Object, error) {
	u, untyped := in.(*unstructured.Unstructured)
	if !untyped {
		return in, nil
	}
	if s.custom {
		// The converter of custom types meets a scale here and does not know it: an apply fails, on a real server too
		// (apiextensions-apiserver's pkg/apiserver/conversion/converter.go).
		return nil, fmt.Errorf("request to convert CR to an invalid group/version: %v", scaleKind.GroupVersion())
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
	fields, err := w.ver.kind.scaleFields()
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
	return stamped(entries, w.time, before)
}

// applyScale applies the scale in the request to the present one and returns the new scale.
func (c *call) applyScale(old *object) (*autoscalingv1.Scale, error) {
	fields, err := c.kind.scaleFields()
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
	c.applied, c.scaled = true, stamped(entries, c.s.now(), before)
	return scale, c.checkStrict()
}
