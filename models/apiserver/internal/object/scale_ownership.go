package object

// Ownership through a scale subresource: there the replicas are a field of another type, and a
// manager that scales takes them from the manager that set them on the object (apimachinery's
// util/managedfields/scalehandler.go).

import (
	"fmt"
	"sync"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

// builtinScales and customScales are the field managers of all scale subresources.
var builtinScales, customScales = newScaleFields(false), newScaleFields(true)

func (t *Type) scaleFields() (*managedfields.FieldManager, error) {
	if !t.Builtin {
		return customScales()
	}
	return builtinScales()
}

func newScaleFields(custom bool) func() (*managedfields.FieldManager, error) {
	return sync.OnceValues(func() (*managedfields.FieldManager, error) {
		gv := ScaleKind.GroupVersion()
		types, err := scaleTypes()
		if err != nil {
			return nil, err
		}
		return managedfields.NewDefaultFieldManager(types, scaleObjects{custom: custom}, scheme.Scheme,
			scaleObjects{custom: custom}, ScaleKind, gv, "scale", nil)
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
		map[string]any{"group": ScaleKind.Group, "version": ScaleKind.Version, "kind": ScaleKind.Kind},
	})
	schemas := MetaSchemas()
	schemas["Scale"] = &whole
	return managedfields.NewTypeConverter(schemas, false)
}

// scaleObjects converts between the two forms of a scale that a field manager meets.
type scaleObjects struct {
	fieldObjects
	custom bool
}

func (s scaleObjects) New(gvk schema.GroupVersionKind) (runtime.Object, error) {
	var o runtime.Object = &autoscalingv1.Scale{}
	if s.custom {
		o = &unstructured.Unstructured{}
	}
	o.GetObjectKind().SetGroupVersionKind(gvk)
	return o, nil
}

func (s scaleObjects) ConvertToVersion(in runtime.Object, _ runtime.GroupVersioner) (runtime.Object, error) {
	u, untyped := in.(*unstructured.Unstructured)
	if !untyped {
		return in, nil
	}
	if s.custom {
		// The converter of custom types meets a scale here and does not know it: an apply fails, on
		// a real server too (apiextensions-apiserver's pkg/apiserver/conversion/converter.go).
		return nil, fmt.Errorf("request to convert CR to an invalid group/version: %v", ScaleKind.GroupVersion())
	}
	scale := &autoscalingv1.Scale{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, scale); err != nil {
		return nil, err
	}
	scale.SetGroupVersionKind(ScaleKind)
	return scale, nil
}

// replicasPaths says where each version of a kind keeps its replicas.
func (t *Type) replicasPaths() managedfields.ResourcePathMappings {
	out := managedfields.ResourcePathMappings{}
	for _, v := range t.Versions {
		out[v.APIVersion()] = nil
		if sub := v.Subresource("scale"); sub != nil {
			out[v.APIVersion()] = pathOf(sub.Scale.SpecName)
		}
	}
	return out
}

// OwnScale settles the ownership of a draft that a scale has changed; scale is what the request
// asked for.
func (n *Note) OwnScale(o *Object, scale *autoscalingv1.Scale, track bool) {
	if !track && !n.Before.owned {
		o.written = n
		return
	}
	o.SetFields(n.scaled(scale, n.Before.managedFields()))
}

// scaled is the ownership of an object after a write of its scale.
func (n *Note) scaled(scale *autoscalingv1.Scale, before owners) owners {
	fields, err := n.Version.Type.scaleFields()
	if err != nil {
		return before
	}
	live, handler, err := n.Version.liveScale(n.Before, before)
	if err != nil {
		return before
	}
	scale.SetGroupVersionKind(ScaleKind)
	out := fields.UpdateNoErrors(live, scale, n.owner())
	entries, err := handler.ToParent(managedFieldsOf(out))
	if err != nil {
		return before
	}
	return stamped(entries, n.Time, before)
}

// liveScale is the scale of an object with the managed fields that it has of the object's.
func (v *Version) liveScale(o *Object, fields owners) (*autoscalingv1.Scale, *managedfields.ScaleHandler, error) {
	handler := managedfields.NewScaleHandler(fields, v.GVK().GroupVersion(), v.Type.replicasPaths())
	live := v.Scale(o)
	var err error
	live.ManagedFields, err = handler.ToSubresource()
	return live, handler, err
}

// ApplyScale applies a configuration to the scale of an object. It returns the new scale, and the
// ownership that the object has then.
func (v *Version) ApplyScale(
	old *Object, patch *unstructured.Unstructured, by Applier,
) (scale *autoscalingv1.Scale, entries owners, err error) {
	fields, err := v.Type.scaleFields()
	if err != nil {
		return nil, nil, err
	}
	before := old.managedFields()
	live, handler, err := v.liveScale(old, before)
	if err != nil {
		return nil, nil, err
	}
	out, err := fields.Apply(live, patch, by.Manager, by.Force)
	if err != nil {
		return nil, nil, err
	}
	scale = out.(*autoscalingv1.Scale)
	if entries, err = handler.ToParent(scale.ManagedFields); err != nil {
		return nil, nil, err
	}
	return scale, stamped(entries, by.Now, before), nil
}
