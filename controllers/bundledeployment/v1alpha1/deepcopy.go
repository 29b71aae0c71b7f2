// This file holds the deep copies that runtime.Object asks for. They are written by hand: the types
// are few, and a test fills every field and compares.

package v1alpha1

import (
	"maps"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// DeepCopy returns a copy that shares nothing with its source.
func (in *BundleDeployment) DeepCopy() *BundleDeployment {
	if in == nil {
		return nil
	}
	out := &BundleDeployment{TypeMeta: in.TypeMeta, Spec: in.Spec, Status: in.Status}
	in.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	if t := in.Spec.Template; t != nil {
		metadata := TemplateMetadata{maps.Clone(t.Metadata.Labels)}
		out.Spec.Template = &BundleTemplate{Metadata: metadata, Spec: *t.Spec.DeepCopy()}
	}
	in.Spec.Config.DeepCopyInto(&out.Spec.Config)
	out.Status.Conditions = conditions(in.Status.Conditions)
	return out
}

// DeepCopy returns a copy that shares nothing with its source.
func (in *Bundle) DeepCopy() *Bundle {
	if in == nil {
		return nil
	}
	out := &Bundle{TypeMeta: in.TypeMeta, Spec: *in.Spec.DeepCopy(), Status: in.Status}
	in.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	if s := in.Status.ResolvedSource; s != nil {
		out.Status.ResolvedSource = s.DeepCopy()
	}
	out.Status.Conditions = conditions(in.Status.Conditions)
	return out
}

// DeepCopy returns a copy that shares nothing with its source.
func (in *BundleSpec) DeepCopy() *BundleSpec {
	out := *in
	out.Source = *in.Source.DeepCopy()
	return &out
}

// DeepCopy returns a copy that shares nothing with its source.
func (in *BundleSource) DeepCopy() *BundleSource {
	out := *in
	if in.Image != nil {
		out.Image = &ImageSource{in.Image.Ref}
	}
	return &out
}

func conditions(in []metav1.Condition) []metav1.Condition {
	if in == nil {
		return nil
	}
	out := make([]metav1.Condition, len(in))
	for i := range in {
		in[i].DeepCopyInto(&out[i])
	}
	return out
}

// DeepCopyObject implements runtime.Object.
func (in *BundleDeployment) DeepCopyObject() runtime.Object { return in.DeepCopy() }

// DeepCopyObject implements runtime.Object.
func (in *Bundle) DeepCopyObject() runtime.Object { return in.DeepCopy() }

// DeepCopyObject implements runtime.Object.
func (in *BundleDeploymentList) DeepCopyObject() runtime.Object {
	out := &BundleDeploymentList{TypeMeta: in.TypeMeta}
	in.ListMeta.DeepCopyInto(&out.ListMeta)
	for i := range in.Items {
		out.Items = append(out.Items, *in.Items[i].DeepCopy())
	}
	return out
}

// DeepCopyObject implements runtime.Object.
func (in *BundleList) DeepCopyObject() runtime.Object {
	out := &BundleList{TypeMeta: in.TypeMeta}
	in.ListMeta.DeepCopyInto(&out.ListMeta)
	for i := range in.Items {
		out.Items = append(out.Items, *in.Items[i].DeepCopy())
	}
	return out
}
