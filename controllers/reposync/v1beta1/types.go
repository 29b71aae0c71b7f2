package v1beta1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// The annotation that says what becomes of managed objects when a RepoSync is deleted, and its values. Without it they
// are orphaned.
const (
	DeletionPropagationPolicy = "configsync.gke.io/deletion-propagation-policy"
	Foreground                = "Foreground"
	Orphan                    = "Orphan"
)

// The finalizers of a RepoSync, each named after the program that removes it.
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
type RepoSync struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   RepoSyncSpec   `json:"spec,omitempty"`
	Status RepoSyncStatus `json:"status,omitempty"`
}

// RepoSyncSpec says what is synced.
type RepoSyncSpec struct {
	// SourceFormat is "unstructured" for a RepoSync.
	SourceFormat string `json:"sourceFormat,omitempty"`
	// SourceType is "git".
	SourceType string `json:"sourceType,omitempty"`
	// Git is where the declarations are.
	Git *Git `json:"git,omitempty"`
}

// Git is a repository.
type Git struct {
	Repo     string `json:"repo"`
	Revision string `json:"revision,omitempty"`
	Dir      string `json:"dir,omitempty"`
	// Auth is "none", or "token" for the credentials in SecretRef.
	Auth      string    `json:"auth"`
	SecretRef SecretRef `json:"secretRef,omitzero"`
}

// SecretRef names a Secret in the namespace of the RepoSync.
type SecretRef struct {
	Name string `json:"name,omitempty"`
}

// RepoSyncStatus says how it goes.
type RepoSyncStatus struct {
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// Reconciler is the name of the reconciler's Deployment.
	Reconciler string             `json:"reconciler,omitempty"`
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// RepoSyncList is a list of RepoSyncs.
type RepoSyncList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []RepoSync `json:"items"`
}
