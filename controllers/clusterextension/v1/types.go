// This file exists for the two kinds: a ClusterExtension says which package should be installed, a
// ClusterCatalog where bundles of packages are found.

package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	// OwnerKindLabel and OwnerNameLabel are on every object of a bundle that is applied for a
	// ClusterExtension.
	OwnerKindLabel = "olm.operatorframework.io/owner-kind"
	// OwnerNameLabel is the owner's name.
	OwnerNameLabel = "olm.operatorframework.io/owner-name"
	// ClusterExtensionKind is the owner kind.
	ClusterExtensionKind = "ClusterExtension"
)

// The identity of a bundle, as it is kept with the release records.
const (
	PackageNameKey     = "olm.operatorframework.io/package-name"
	BundleNameKey      = "olm.operatorframework.io/bundle-name"
	BundleVersionKey   = "olm.operatorframework.io/bundle-version"
	BundleReferenceKey = "olm.operatorframework.io/bundle-reference"
)

// The finalizers of a ClusterExtension.
const (
	CleanupUnpackCacheFinalizer         = "olm.operatorframework.io/cleanup-unpack-cache"
	CleanupContentManagerCacheFinalizer = "olm.operatorframework.io/cleanup-contentmanager-cache"
)

// The conditions of a ClusterExtension and their reasons. The conditions that tell of deprecation
// are not here.
const (
	TypeInstalled   = "Installed"
	TypeProgressing = "Progressing"

	ReasonSucceeded = "Succeeded"
	ReasonFailed    = "Failed"   // of Installed
	ReasonRetrying  = "Retrying" // of Progressing, with status True
	ReasonBlocked   = "Blocked"  // of Progressing, with status False: nothing happens until a user acts
)

// SourceTypeCatalog is the only type of source.
const SourceTypeCatalog = "Catalog"

// The policies for upgrades.
const (
	// PolicyCatalogProvided allows only the upgrades for which the catalog has an edge. It is the
	// default.
	PolicyCatalogProvided = "CatalogProvided"
	// PolicySelfCertified allows every change of version: the user answers for it.
	PolicySelfCertified = "SelfCertified"
)

// ClusterExtension says which package should be installed in the cluster. It is cluster-scoped.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Cluster
type ClusterExtension struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   ClusterExtensionSpec   `json:"spec"`
	Status ClusterExtensionStatus `json:"status,omitempty"`
}

// ClusterExtensionList is a list of ClusterExtensions.
//
// +kubebuilder:object:root=true
type ClusterExtensionList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []ClusterExtension `json:"items"`
}

// ClusterExtensionSpec is what is wanted.
type ClusterExtensionSpec struct {
	// Namespace of the bundle's namespaced objects. It must exist, and cannot be changed: a release
	// stays where it is.
	//
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="namespace is immutable"
	Namespace      string                  `json:"namespace"`
	ServiceAccount ServiceAccountReference `json:"serviceAccount"`
	Source         SourceConfig            `json:"source"`
}

// ServiceAccountReference names the account whose rights upstream acts with. This operator acts
// with its own.
//
// +kubebuilder:object:generate=false
type ServiceAccountReference struct {
	Name string `json:"name"`
}

// SourceConfig says where the content comes from.
type SourceConfig struct {
	// +kubebuilder:validation:Enum=Catalog
	SourceType string `json:"sourceType"`
	// +required
	Catalog *CatalogFilter `json:"catalog,omitempty"`
}

// CatalogFilter chooses among the bundles of a package.
type CatalogFilter struct {
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="packageName is immutable"
	PackageName string `json:"packageName"`
	// Version, if set, is the only one that is wanted. Upstream also takes ranges.
	Version string `json:"version,omitempty"`
	// Channels, if set, are those from which a bundle may come.
	Channels []string `json:"channels,omitempty"`
	// UpgradeConstraintPolicy is PolicyCatalogProvided unless set.
	//
	// +kubebuilder:validation:Enum=CatalogProvided;SelfCertified
	UpgradeConstraintPolicy string `json:"upgradeConstraintPolicy,omitempty"`
}

// ClusterExtensionStatus is what is known of it.
type ClusterExtensionStatus struct {
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition             `json:"conditions,omitempty"`
	Install    *ClusterExtensionInstallStatus `json:"install,omitempty"`
}

// ClusterExtensionInstallStatus says what is installed.
//
// +kubebuilder:object:generate=false
type ClusterExtensionInstallStatus struct {
	Bundle BundleMetadata `json:"bundle"`
}

// BundleMetadata names a bundle.
//
// +kubebuilder:object:generate=false
type BundleMetadata struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

// ClusterCatalog is a source of bundles. It is cluster-scoped.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Cluster
type ClusterCatalog struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   ClusterCatalogSpec   `json:"spec"`
	Status ClusterCatalogStatus `json:"status,omitempty"`
}

// ClusterCatalogList is a list of ClusterCatalogs.
//
// +kubebuilder:object:root=true
type ClusterCatalogList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []ClusterCatalog `json:"items"`
}

// ClusterCatalogSpec says where the catalog comes from.
type ClusterCatalogSpec struct {
	Source CatalogSource `json:"source"`
}

// CatalogSource is an image.
type CatalogSource struct {
	Type  string       `json:"type"`
	Image *ImageSource `json:"image,omitempty"`
}

// ImageSource is an image that holds content.
//
// +kubebuilder:object:generate=false
type ImageSource struct {
	Ref string `json:"ref"`
}

// ClusterCatalogStatus is what the catalog has been resolved to.
type ClusterCatalogStatus struct {
	ResolvedSource *CatalogSource `json:"resolvedSource,omitempty"`
}
