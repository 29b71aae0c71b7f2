// This file holds the two kinds: a BundleDeployment says what should be installed, a Bundle is
// content that has been unpacked for it.

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

const (
	// OwnerKindLabel and OwnerNameLabel are on everything that is made for a BundleDeployment.
	OwnerKindLabel = "core.rukpak.io/owner-kind"
	// OwnerNameLabel is the owner's name.
	OwnerNameLabel = "core.rukpak.io/owner-name"
	// BundleDeploymentKind is the owner kind of the objects that a deployment applies.
	BundleDeploymentKind = "BundleDeployment"
)

// The condition of a BundleDeployment that tells of its content, and its reasons.
const (
	HasValidBundle = "HasValidBundle"

	UnpackPending    = "UnpackPending" // with status True
	UnpackFailed     = "UnpackFailed"
	UnpackSuccessful = "UnpackSuccessful"
	BundleLoadFailed = "BundleLoadFailed"
	ReconcileFailed  = "ReconcileFailed" // with status Unknown; also a reason of Installed
)

// The condition of a BundleDeployment that tells of its objects, and its reasons.
const (
	Installed = "Installed"

	InstallationSucceeded    = "InstallationSucceeded"
	ErrorGettingClient       = "ErrorGettingClient"
	ErrorGettingReleaseState = "ErrorGettingReleaseState"
	InstallFailed            = "InstallFailed"
	UpgradeFailed            = "UpgradeFailed"
	CreateDynamicWatchFailed = "CreateDynamicWatchFailed"
)

// The phases of a Bundle.
const (
	PhasePending   = "Pending"
	PhaseUnpacking = "Unpacking"
	PhaseFailing   = "Failing"
	PhaseUnpacked  = "Unpacked"
)

// TypeUnpacked is the condition of a Bundle.
const TypeUnpacked = "Unpacked"

// BundleDeployment says which content should be installed in the cluster. It is cluster-scoped.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Cluster,shortName={bd,bds}
// +kubebuilder:printcolumn:name="Active Bundle",type=string,JSONPath=".status.activeBundle"
// +kubebuilder:printcolumn:name="Installed",type=string,JSONPath=".status.conditions[?(.type==\"Installed\")].reason"
type BundleDeployment struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   BundleDeploymentSpec   `json:"spec"`
	Status BundleDeploymentStatus `json:"status,omitempty"`
}

// BundleDeploymentList is a list of BundleDeployments.
//
// +kubebuilder:object:root=true
type BundleDeploymentList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []BundleDeployment `json:"items"`
}

// BundleDeploymentSpec is what is wanted.
type BundleDeploymentSpec struct {
	// ProvisionerClassName names the operator that is to act.
	ProvisionerClassName string `json:"provisionerClassName"`
	// Template is the Bundle to make.
	Template *BundleTemplate `json:"template"`
	// Config is for the provisioner; that of charts reads the field values, a string of YAML.
	//
	// +kubebuilder:pruning:PreserveUnknownFields
	Config runtime.RawExtension `json:"config,omitempty"`
}

// BundleTemplate is what generated Bundles look like.
type BundleTemplate struct {
	Metadata TemplateMetadata `json:"metadata,omitempty"`
	Spec     BundleSpec       `json:"spec"`
}

// TemplateMetadata is what a template may set of a Bundle's metadata.
type TemplateMetadata struct {
	Labels map[string]string `json:"labels,omitempty"`
}

// BundleDeploymentStatus is what is known of it.
type BundleDeploymentStatus struct {
	Conditions         []metav1.Condition `json:"conditions,omitempty"`
	ActiveBundle       string             `json:"activeBundle,omitempty"`
	ObservedGeneration int64              `json:"observedGeneration,omitempty"`
}

// Bundle is content: where it comes from, and whether it has been unpacked. It is cluster-scoped.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Cluster
// +kubebuilder:printcolumn:name="Phase",type=string,JSONPath=".status.phase"
type Bundle struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   BundleSpec   `json:"spec"`
	Status BundleStatus `json:"status,omitempty"`
}

// BundleList is a list of Bundles.
//
// +kubebuilder:object:root=true
type BundleList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Bundle `json:"items"`
}

// BundleSpec says where content comes from.
type BundleSpec struct {
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`
	ProvisionerClassName string       `json:"provisionerClassName"`
	Source               BundleSource `json:"source"`
}

// BundleSource is one source; Type says of which kind.
type BundleSource struct {
	Type  string       `json:"type"`
	Image *ImageSource `json:"image,omitempty"`
}

// ImageSource is an image that holds content.
//
// +kubebuilder:object:generate=false
type ImageSource struct {
	Ref string `json:"ref"`
}

// BundleStatus is how far unpacking has come.
type BundleStatus struct {
	Phase              string             `json:"phase,omitempty"`
	ResolvedSource     *BundleSource      `json:"resolvedSource,omitempty"`
	ContentURL         string             `json:"contentURL,omitempty"`
	ObservedGeneration int64              `json:"observedGeneration,omitempty"`
	Conditions         []metav1.Condition `json:"conditions,omitempty"`
}
