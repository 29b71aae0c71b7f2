// Package v1alpha1 holds the API types of the bundle deployment operator, with the group and the
// field names that operator-framework/rukpak gave them, so that a story told here can be compared
// with the thread it came from. Of the sources of a bundle only images are here. The package holds
// no logic.
//
// +kubebuilder:object:generate=true
// +groupName=core.rukpak.io
package v1alpha1

import (
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/scheme"
)

var (
	// GroupVersion is the group and version of every kind in this package.
	GroupVersion = schema.GroupVersion{Group: "core.rukpak.io", Version: "v1alpha1"}

	schemeBuilder = (&scheme.Builder{GroupVersion: GroupVersion}).Register(
		&Bundle{}, &BundleList{}, &BundleDeployment{}, &BundleDeploymentList{})

	// AddToScheme makes the kinds of this package known to a scheme.
	AddToScheme = schemeBuilder.AddToScheme
)
