package apiserver

import (
	"math"
	"strings"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// scalePaths say where a type keeps what its scale subresource shows.
type scalePaths struct {
	spec, status, selector []string
	// names are the paths as their definition wrote them, for messages.
	specName, statusName, selectorName string
}

// builtinScale is where every built-in workload keeps its scale; the selector is read from spec.selector.
var builtinScale = &scalePaths{
	spec: []string{"spec", "replicas"}, status: []string{"status", "replicas"},
	specName: ".spec.replicas", statusName: ".status.replicas",
}

func customScale(in *apiextensionsv1.CustomResourceSubresourceScale) *scalePaths {
	split := func(path string) []string { return strings.Split(strings.TrimPrefix(path, "."), ".") }
	out := &scalePaths{
		spec: split(in.SpecReplicasPath), specName: in.SpecReplicasPath,
		status: split(in.StatusReplicasPath), statusName: in.StatusReplicasPath,
	}
	if in.LabelSelectorPath != nil && *in.LabelSelectorPath != "" {
		out.selector, out.selectorName = split(*in.LabelSelectorPath), *in.LabelSelectorPath
	}
	return out
}

// replicasNeverSet stands for the replicas of a custom object that has none
// (apiextensions-apiserver's pkg/registry/customresource/etcd.go).
const replicasNeverSet = math.MinInt32

func scaleSelector(paths *scalePaths, o *object, content map[string]any) string {
	if paths.selector != nil {
		text, _, _ := unstructured.NestedString(content, paths.selector...)
		return text
	}
	if o.typed == nil {
		return ""
	}
	switch selector := part(o.typed, "Spec").FieldByName("Selector").Interface().(type) {
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

// scaleOf is the scale of an object.
func (v *version) scaleOf(o *object) *autoscalingv1.Scale {
	paths := v.subresource("scale").scale
	o = o.in(v)
	content := o.content()
	replicas, found, _ := unstructured.NestedInt64(content, paths.spec...)
	if !found && o.typed == nil {
		replicas = replicasNeverSet
	}
	status, _, _ := unstructured.NestedInt64(content, paths.status...)
	scale := &autoscalingv1.Scale{
		TypeMeta: metav1.TypeMeta{Kind: scaleKind.Kind, APIVersion: scaleKind.GroupVersion().String()},
		ObjectMeta: metav1.ObjectMeta{
			Name: o.meta.Name, Namespace: o.meta.Namespace, UID: o.meta.UID,
			ResourceVersion: o.meta.ResourceVersion, CreationTimestamp: o.meta.CreationTimestamp,
		},
		Spec:   autoscalingv1.ScaleSpec{Replicas: int32(replicas)},
		Status: autoscalingv1.ScaleStatus{Replicas: int32(status)},
	}
	scale.Status.Selector = scaleSelector(paths, o, content)
	return scale
}
