// Package v1alpha1 holds the API types of the promotion operator: Pipeline, with the field names
// that weaveworks/pipeline-controller gave it, and Promotion, the guard object of the cured
// variants.
//
// The group is pipelines.weave.works. Two fields are ours and marked as such: status.episode of a
// Pipeline, and the whole kind Promotion. Everything else is the original's, so that a story told
// here can be compared with the thread it came from. The package holds no logic.
//
// +kubebuilder:object:generate=true
// +groupName=pipelines.weave.works
package v1alpha1

import (
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/scheme"
)

var (
	// GroupVersion is the group and version of every kind in this package.
	GroupVersion = schema.GroupVersion{Group: "pipelines.weave.works", Version: "v1alpha1"}

	schemeBuilder = (&scheme.Builder{GroupVersion: GroupVersion}).Register(
		&Pipeline{}, &PipelineList{}, &Promotion{}, &PromotionList{})

	// AddToScheme makes the kinds of this package known to a scheme.
	AddToScheme = schemeBuilder.AddToScheme
)
