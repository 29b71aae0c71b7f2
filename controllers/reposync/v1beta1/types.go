package v1beta1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// The annotation that says what becomes of managed objects when a RepoSync or RootSync is deleted,
// and its values. Without it they are orphaned.
const (
	DeletionPropagationPolicy = "configsync.gke.io/deletion-propagation-policy"
	Foreground                = "Foreground"
	Orphan                    = "Orphan"
)

// The finalizers of a RepoSync or RootSync, each named after the program that removes it.
const (
	ReconcilerFinalizer        = "configsync.gke.io/reconciler"
	ReconcilerManagerFinalizer = "configsync.gke.io/reconciler-manager"
)

// Types of conditions.
const (
	Reconciling                = "Reconciling"
	Stalled                    = "Stalled"
	Syncing                    = "Syncing"
	ReconcilerFinalizing       = "ReconcilerFinalizing"
	ReconcilerFinalizerFailure = "ReconcilerFinalizerFailure"
)

// RepoSync keeps the objects that a repository declares in the RepoSync's own namespace.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
type RepoSync struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   SyncSpec   `json:"spec,omitempty"`
	Status SyncStatus `json:"status,omitempty"`
}

// RootSync keeps the objects that a repository declares in the whole cluster. It is in the system
// namespace.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
type RootSync struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   SyncSpec   `json:"spec,omitempty"`
	Status SyncStatus `json:"status,omitempty"`
}

// Sync is a RepoSync or a RootSync.
//
// +kubebuilder:object:generate=false
type Sync interface {
	metav1.Object
	runtime.Object
	// Wants is the spec.
	Wants() *SyncSpec
	// Says is the status.
	Says() *SyncStatus
}

// Wants implements [Sync].
func (in *RepoSync) Wants() *SyncSpec { return &in.Spec }

// Says implements [Sync].
func (in *RepoSync) Says() *SyncStatus { return &in.Status }

// Wants implements [Sync].
func (in *RootSync) Wants() *SyncSpec { return &in.Spec }

// Says implements [Sync].
func (in *RootSync) Says() *SyncStatus { return &in.Status }

// SyncSpec says what is synced.
type SyncSpec struct {
	// SourceFormat is "unstructured" for a RepoSync.
	SourceFormat string `json:"sourceFormat,omitempty"`
	// SourceType is "git".
	SourceType string `json:"sourceType,omitempty"`
	// Git is where the declarations are.
	Git *Git `json:"git,omitempty"`
}

// Git is a repository.
//
// +kubebuilder:object:generate=false
type Git struct {
	Repo     string `json:"repo"`
	Revision string `json:"revision,omitempty"`
	Dir      string `json:"dir,omitempty"`
	// Auth is "none", or "token" for the credentials in SecretRef.
	Auth      string    `json:"auth"`
	SecretRef SecretRef `json:"secretRef,omitzero"`
}

// SecretRef names a Secret in the namespace of the sync.
//
// +kubebuilder:object:generate=false
type SecretRef struct {
	Name string `json:"name,omitempty"`
}

// SyncStatus says how it goes.
type SyncStatus struct {
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// Reconciler is the name of the reconciler's Deployment.
	Reconciler string             `json:"reconciler,omitempty"`
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// RepoSyncList is a list of RepoSyncs.
//
// +kubebuilder:object:root=true
type RepoSyncList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []RepoSync `json:"items"`
}

// RootSyncList is a list of RootSyncs.
//
// +kubebuilder:object:root=true
type RootSyncList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []RootSync `json:"items"`
}
