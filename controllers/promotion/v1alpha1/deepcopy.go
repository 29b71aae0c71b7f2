// This file exists because runtime.Object asks for deep copies. It is written by hand: the types
// are few, and a test fills every field and compares.

package v1alpha1

import (
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// clone copies what a pointer points at. It is deep only for types without references.
func clone[T any](in *T) *T {
	if in == nil {
		return nil
	}
	out := *in
	return &out
}

// each copies a slice element by element.
func each[T any](in []T, deepCopy func(*T) *T) []T {
	if in == nil {
		return nil
	}
	out := make([]T, len(in))
	for i := range in {
		out[i] = *deepCopy(&in[i])
	}
	return out
}

// DeepCopy returns a copy that shares nothing with its source.
func (in *Pipeline) DeepCopy() *Pipeline {
	if in == nil {
		return nil
	}
	out := &Pipeline{TypeMeta: in.TypeMeta}
	in.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	out.Spec = *in.Spec.DeepCopy()
	out.Status = *in.Status.DeepCopy()
	return out
}

// DeepCopyObject implements runtime.Object.
func (in *Pipeline) DeepCopyObject() runtime.Object {
	if in == nil {
		return nil
	}
	return in.DeepCopy()
}

// DeepCopyObject implements runtime.Object.
func (in *PipelineList) DeepCopyObject() runtime.Object {
	if in == nil {
		return nil
	}
	out := &PipelineList{TypeMeta: in.TypeMeta, Items: each(in.Items, (*Pipeline).DeepCopy)}
	in.ListMeta.DeepCopyInto(&out.ListMeta)
	return out
}

// DeepCopy returns a copy that shares nothing with its source.
func (in *PipelineSpec) DeepCopy() *PipelineSpec {
	out := clone(in)
	out.Environments = each(in.Environments, (*Environment).DeepCopy)
	out.Promotion = in.Promotion.DeepCopy()
	return out
}

// DeepCopy returns a copy that shares nothing with its source.
func (in *Environment) DeepCopy() *Environment {
	out := clone(in)
	out.Targets = each(in.Targets, (*Target).DeepCopy)
	out.Promotion = in.Promotion.DeepCopy()
	return out
}

// DeepCopy returns a copy that shares nothing with its source.
func (in *Target) DeepCopy() *Target {
	out := clone(in)
	out.ClusterRef = clone(in.ClusterRef)
	return out
}

// DeepCopy returns a copy that shares nothing with its source.
func (in *PromotionPolicy) DeepCopy() *PromotionPolicy {
	if in == nil {
		return nil
	}
	out := clone(in)
	out.Strategy = *in.Strategy.DeepCopy()
	return out
}

// DeepCopy returns a copy that shares nothing with its source.
func (in *Strategy) DeepCopy() *Strategy {
	if in == nil {
		return nil
	}
	out := clone(in)
	out.PullRequest = clone(in.PullRequest)
	out.Notification = clone(in.Notification)
	out.SecretRef = clone(in.SecretRef)
	return out
}

// DeepCopy returns a copy that shares nothing with its source.
func (in *PipelineStatus) DeepCopy() *PipelineStatus {
	out := clone(in)
	out.Conditions = each(in.Conditions, (*metav1.Condition).DeepCopy)
	out.Environments = maps.Clone(in.Environments)
	for name, env := range out.Environments {
		out.Environments[name] = env.DeepCopy()
	}
	out.Episode = clone(in.Episode)
	return out
}

// DeepCopy returns a copy that shares nothing with its source.
func (in *EnvironmentStatus) DeepCopy() *EnvironmentStatus {
	if in == nil {
		return nil
	}
	out := clone(in)
	out.WaitingApproval = clone(in.WaitingApproval)
	out.Targets = slices.Clone(in.Targets)
	for i := range out.Targets {
		out.Targets[i].ClusterAppRef.ClusterRef = clone(in.Targets[i].ClusterAppRef.ClusterRef)
	}
	out.Promotion = in.Promotion.DeepCopy()
	return out
}

// DeepCopy returns a copy that shares nothing with its source.
func (in *PromotionRecord) DeepCopy() *PromotionRecord {
	if in == nil {
		return nil
	}
	out := clone(in)
	out.LastAttemptedTime = in.LastAttemptedTime.DeepCopy()
	out.PullRequest = clone(in.PullRequest)
	return out
}

// DeepCopy returns a copy that shares nothing with its source.
func (in *Promotion) DeepCopy() *Promotion {
	if in == nil {
		return nil
	}
	out := clone(in)
	in.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	out.Status.LastAttemptedTime = in.Status.LastAttemptedTime.DeepCopy()
	out.Status.NotBefore = in.Status.NotBefore.DeepCopy()
	out.Status.Strategy = in.Status.Strategy.DeepCopy()
	out.Status.PullRequest = clone(in.Status.PullRequest)
	return out
}

// DeepCopyObject implements runtime.Object.
func (in *Promotion) DeepCopyObject() runtime.Object {
	if in == nil {
		return nil
	}
	return in.DeepCopy()
}

// DeepCopyObject implements runtime.Object.
func (in *PromotionList) DeepCopyObject() runtime.Object {
	if in == nil {
		return nil
	}
	out := &PromotionList{TypeMeta: in.TypeMeta, Items: each(in.Items, (*Promotion).DeepCopy)}
	in.ListMeta.DeepCopyInto(&out.ListMeta)
	return out
}
