package object

import (
	"math"
	"strings"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// ScalePaths say where a type keeps what its scale subresource shows.
type ScalePaths struct {
	Spec, Status, Selector []string
	// names are the paths as their definition wrote them, for messages.
	SpecName, StatusName, SelectorName string
}

// BuiltinScale is where every built-in workload keeps its scale; the selector is read from
// spec.selector.
var BuiltinScale = &ScalePaths{
	Spec: []string{"spec", "replicas"}, Status: []string{"status", "replicas"},
	SpecName: ".spec.replicas", StatusName: ".status.replicas",
}

// CustomScale is where a definition keeps the scale of its objects.
func CustomScale(in *apiextensionsv1.CustomResourceSubresourceScale) *ScalePaths {
	split := func(path string) []string { return strings.Split(strings.TrimPrefix(path, "."), ".") }
	out := &ScalePaths{
		Spec: split(in.SpecReplicasPath), SpecName: in.SpecReplicasPath,
		Status: split(in.StatusReplicasPath), StatusName: in.StatusReplicasPath,
	}
	if in.LabelSelectorPath != nil && *in.LabelSelectorPath != "" {
		out.Selector, out.SelectorName = split(*in.LabelSelectorPath), *in.LabelSelectorPath
	}
	return out
}

// ReplicasNeverSet stands for the replicas of a custom object that has none
// (apiextensions-apiserver's pkg/registry/customresource/etcd.go).
const ReplicasNeverSet = math.MinInt32

func scaleSelector(paths *ScalePaths, o *Object, content map[string]any) string {
	if paths.Selector != nil {
		text, _, _ := unstructured.NestedString(content, paths.Selector...)
		return text
	}
	if o.Typed == nil {
		return ""
	}
	switch selector := Part(o.Typed, "Spec").FieldByName("Selector").Interface().(type) {
	case *metav1.LabelSelector:
		parsed, err := metav1.LabelSelectorAsSelector(selector)
		if err != nil {
			return ""
		}
		return parsed.String()
	case map[string]string:
		return metav1.FormatLabelSelector(&metav1.LabelSelector{MatchLabels: selector})
	}
	return ""
}

// Scale is the scale of an object.
func (v *Version) Scale(o *Object) *autoscalingv1.Scale {
	paths := v.Subresource("scale").Scale
	o = o.In(v)
	content := o.content()
	replicas, found, _ := unstructured.NestedInt64(content, paths.Spec...)
	if !found && o.Typed == nil {
		replicas = ReplicasNeverSet
	}
	status, _, _ := unstructured.NestedInt64(content, paths.Status...)
	scale := &autoscalingv1.Scale{
		TypeMeta: metav1.TypeMeta{Kind: ScaleKind.Kind, APIVersion: ScaleKind.GroupVersion().String()},
		ObjectMeta: metav1.ObjectMeta{
			Name: o.Meta.Name, Namespace: o.Meta.Namespace, UID: o.Meta.UID,
			ResourceVersion: o.Meta.ResourceVersion, CreationTimestamp: o.Meta.CreationTimestamp,
		},
		Spec:   autoscalingv1.ScaleSpec{Replicas: int32(replicas)},
		Status: autoscalingv1.ScaleStatus{Replicas: int32(status)},
	}
	scale.Status.Selector = scaleSelector(paths, o, content)
	return scale
}
