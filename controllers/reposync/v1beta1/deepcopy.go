// This file exists because runtime.Object asks for deep copies. It is written by hand: the types
// are few.

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
	in.Spec.deepCopyInto(&out.Spec)
	in.Status.deepCopyInto(&out.Status)
}

func (in *SyncSpec) deepCopyInto(out *SyncSpec) {
	if in.Git != nil {
		git := *in.Git
		out.Git = &git
	}
}

func (in *SyncStatus) deepCopyInto(out *SyncStatus) {
	out.Conditions = slices.Clone(in.Conditions)
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

// DeepCopy returns a copy that shares nothing with its source.
func (in *RootSync) DeepCopy() *RootSync {
	if in == nil {
		return nil
	}
	out := &RootSync{}
	in.DeepCopyInto(out)
	return out
}

// DeepCopyInto makes out a copy that shares nothing with its source.
func (in *RootSync) DeepCopyInto(out *RootSync) {
	*out = *in
	in.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	in.Spec.deepCopyInto(&out.Spec)
	in.Status.deepCopyInto(&out.Status)
}

// DeepCopyObject implements runtime.Object.
func (in *RootSync) DeepCopyObject() runtime.Object {
	if in == nil {
		return nil
	}
	return in.DeepCopy()
}

// DeepCopyObject implements runtime.Object.
func (in *RootSyncList) DeepCopyObject() runtime.Object {
	if in == nil {
		return nil
	}
	out := &RootSyncList{TypeMeta: in.TypeMeta, Items: slices.Clone(in.Items)}
	in.ListMeta.DeepCopyInto(&out.ListMeta)
	for i := range out.Items {
		out.Items[i] = *in.Items[i].DeepCopy()
	}
	return out
}
