// Package v1beta1 holds the API types of the reposync operator, RepoSync and RootSync, with the
// names of Config Sync. Of the spec only the Git source is here.
//
// +kubebuilder:object:generate=true
// +groupName=configsync.gke.io
package v1beta1

import (
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/scheme"
)

var (
	// GroupVersion is the group and version of every kind in this package.
	GroupVersion = schema.GroupVersion{Group: "configsync.gke.io", Version: "v1beta1"}

	schemeBuilder = (&scheme.Builder{GroupVersion: GroupVersion}).Register(&RepoSync{}, &RepoSyncList{}, &RootSync{},
		&RootSyncList{})

	// AddToScheme makes the kinds of this package known to a scheme.
	AddToScheme = schemeBuilder.AddToScheme
)
