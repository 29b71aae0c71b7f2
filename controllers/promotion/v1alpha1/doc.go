// Package v1alpha1 holds the API types of the promotion operator: Pipeline, with the field names of
// weaveworks/pipeline-controller, and Promotion, the guard object of V7 and V8. Two things are not
// in the original: status.episode of a Pipeline, and the kind Promotion.
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
