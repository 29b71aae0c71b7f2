// Package v1 holds the API types of the cluster extension operator, with the group and the field
// names that operator-framework/operator-controller gave them, so that a story told here can be
// compared with the thread it came from. Of the sources of a catalog only images are here. The
// package holds no logic.
//
// +kubebuilder:object:generate=true
// +groupName=olm.operatorframework.io
package v1

import (
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/scheme"
)

var (
	// GroupVersion is the group and version of every kind in this package.
	GroupVersion = schema.GroupVersion{Group: "olm.operatorframework.io", Version: "v1"}

	schemeBuilder = (&scheme.Builder{GroupVersion: GroupVersion}).Register(
		&ClusterExtension{}, &ClusterExtensionList{}, &ClusterCatalog{}, &ClusterCatalogList{})

	// AddToScheme makes the kinds of this package known to a scheme.
	AddToScheme = schemeBuilder.AddToScheme
)
