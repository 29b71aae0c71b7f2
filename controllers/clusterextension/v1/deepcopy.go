// This file exists because runtime.Object asks for deep copies. It is written by hand: the types
// are few, and a test fills every field and compares.

package v1

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// DeepCopy returns a copy that shares nothing with its source.
func (in *ClusterExtension) DeepCopy() *ClusterExtension {
	if in == nil {
		return nil
	}
	out := &ClusterExtension{TypeMeta: in.TypeMeta, Spec: in.Spec, Status: in.Status}
	in.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	if c := in.Spec.Source.Catalog; c != nil {
		copied := *c
		copied.Channels, copied.Selector = slices.Clone(c.Channels), c.Selector.DeepCopy()
		out.Spec.Source.Catalog = &copied
	}
	if i := in.Spec.Install; i != nil {
		out.Spec.Install = &InstallConfig{}
		if p := i.Preflight; p != nil {
			out.Spec.Install.Preflight = &PreflightConfig{}
			if s := p.CRDUpgradeSafety; s != nil {
				out.Spec.Install.Preflight.CRDUpgradeSafety = &CRDUpgradeSafetyConfig{s.Enforcement}
			}
		}
	}
	if in.Status.Conditions != nil {
		out.Status.Conditions = make([]metav1.Condition, len(in.Status.Conditions))
		for i := range in.Status.Conditions {
			in.Status.Conditions[i].DeepCopyInto(&out.Status.Conditions[i])
		}
	}
	if i := in.Status.Install; i != nil {
		out.Status.Install = &ClusterExtensionInstallStatus{i.Bundle}
	}
	return out
}

// DeepCopy returns a copy that shares nothing with its source.
func (in *ClusterCatalog) DeepCopy() *ClusterCatalog {
	if in == nil {
		return nil
	}
	out := &ClusterCatalog{TypeMeta: in.TypeMeta, Spec: in.Spec, Status: in.Status}
	in.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	out.Spec.Source.Image = in.Spec.Source.Image.copy()
	if s := in.Status.ResolvedSource; s != nil {
		out.Status.ResolvedSource = &CatalogSource{s.Type, s.Image.copy()}
	}
	return out
}

func (in *ImageSource) copy() *ImageSource {
	if in == nil {
		return nil
	}
	return &ImageSource{in.Ref}
}

// DeepCopyObject implements runtime.Object.
func (in *ClusterExtension) DeepCopyObject() runtime.Object { return in.DeepCopy() }

// DeepCopyObject implements runtime.Object.
func (in *ClusterCatalog) DeepCopyObject() runtime.Object { return in.DeepCopy() }

// DeepCopyObject implements runtime.Object.
func (in *ClusterExtensionList) DeepCopyObject() runtime.Object {
	out := &ClusterExtensionList{TypeMeta: in.TypeMeta}
	in.ListMeta.DeepCopyInto(&out.ListMeta)
	for i := range in.Items {
		out.Items = append(out.Items, *in.Items[i].DeepCopy())
	}
	return out
}

// DeepCopyObject implements runtime.Object.
func (in *ClusterCatalogList) DeepCopyObject() runtime.Object {
	out := &ClusterCatalogList{TypeMeta: in.TypeMeta}
	in.ListMeta.DeepCopyInto(&out.ListMeta)
	for i := range in.Items {
		out.Items = append(out.Items, *in.Items[i].DeepCopy())
	}
	return out
}
