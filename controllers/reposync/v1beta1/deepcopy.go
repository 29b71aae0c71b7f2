// This file exists because runtime.Object asks for deep copies. It is written by hand: the types are few.

package v1beta1

import (
	"slices"

	"k8s.io/apimachinery/pkg/runtime"
)

// DeepCopy returns a copy that shares nothing with its source.
func (in *RepoSync) DeepCopy() *RepoSync {
	if in == nil {
		return nil
	}
	out := &RepoSync{}
	in.DeepCopyInto(out)
	return out
}

// DeepCopyInto makes out a copy that shares nothing with its source.
func (in *RepoSync) DeepCopyInto(out *RepoSync) {
	*out = *in
	in.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	if in.Spec.Git != nil {
		git := *in.Spec.Git
		out.Spec.Git = &git
	}
	out.Status.Conditions = slices.Clone(in.Status.Conditions)
}

// DeepCopyObject implements runtime.Object.
func (in *RepoSync) DeepCopyObject() runtime.Object {
	if in == nil {
		return nil
	}
	return in.DeepCopy()
}

// DeepCopyObject implements runtime.Object.
func (in *RepoSyncList) DeepCopyObject() runtime.Object {
	if in == nil {
		return nil
	}
	out := &RepoSyncList{TypeMeta: in.TypeMeta, Items: slices.Clone(in.Items)}
	in.ListMeta.DeepCopyInto(&out.ListMeta)
	for i := range out.Items {
		out.Items[i] = *in.Items[i].DeepCopy()
	}
	return out
}
