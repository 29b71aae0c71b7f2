// This file exists to restate the original's Pipeline: an application, and the environments it
// passes through in order.

package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Pipeline describes how one application moves through a list of environments.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=".status.conditions[?(@.type==\"Ready\")].status"
// +kubebuilder:printcolumn:name="Status",type=string,JSONPath=".status.conditions[?(@.type==\"Ready\")].message"
type Pipeline struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   PipelineSpec   `json:"spec,omitempty"`
	Status PipelineStatus `json:"status,omitempty"`
}

// PipelineList is a list of Pipelines.
//
// +kubebuilder:object:root=true
type PipelineList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Pipeline `json:"items"`
}

// PipelineSpec is what the user asks for.
type PipelineSpec struct {
	// AppRef names the application; an object of that name is expected in the namespace of every
	// target.
	AppRef LocalAppReference `json:"appRef"`
	// Environments in the order of promotion.
	Environments []Environment `json:"environments"`
	// Promotion says how to promote to environments that do not say so themselves.
	Promotion *PromotionPolicy `json:"promotion,omitempty"`
}

// LocalAppReference names an application object within a namespace.
//
// +kubebuilder:object:generate=false
type LocalAppReference struct {
	APIVersion string `json:"apiVersion,omitempty"`
	Kind       string `json:"kind"`
	Name       string `json:"name"`
}

// Environment is one stage of a pipeline.
type Environment struct {
	Name    string   `json:"name"`
	Targets []Target `json:"targets"`
	// Promotion says how to promote to this environment; without it the pipeline's own policy
	// holds.
	Promotion *PromotionPolicy `json:"promotion,omitempty"`
}

// Target is one place where an environment runs the application.
type Target struct {
	Namespace string `json:"namespace"`
	// ClusterRef names another cluster; nil is the cluster of the Pipeline.
	ClusterRef *CrossNamespaceClusterReference `json:"clusterRef,omitempty"`
}

// CrossNamespaceClusterReference names an object that represents a cluster.
//
// +kubebuilder:object:generate=false
type CrossNamespaceClusterReference struct {
	APIVersion string `json:"apiVersion,omitempty"`
	Kind       string `json:"kind"`
	Name       string `json:"name"`
	Namespace  string `json:"namespace,omitempty"`
}

// PromotionPolicy says how an environment gets a new revision.
type PromotionPolicy struct {
	// Manual stops before promoting and waits for a person's approval.
	Manual   bool     `json:"manual,omitempty"`
	Strategy Strategy `json:"strategy"`
}

// Strategy is the means of promotion; one of its members is set.
type Strategy struct {
	PullRequest  *PullRequestStrategy  `json:"pull-request,omitempty"`
	Notification *NotificationStrategy `json:"notification,omitempty"`
	SecretRef    *LocalSecretReference `json:"secretRef,omitempty"`
}

// PullRequestStrategy promotes by opening a pull request.
//
// +kubebuilder:object:generate=false
type PullRequestStrategy struct {
	// Type is the kind of forge, for example github.
	Type string `json:"type"`
	// URL of the repository, for example https://git.example/acme/shop.
	URL string `json:"url"`
	// BaseBranch receives the change when the pull request is merged.
	BaseBranch string `json:"baseBranch"`
}

// NotificationStrategy promotes by notifying another program. It has no settings.
//
// +kubebuilder:object:generate=false
type NotificationStrategy struct{}

// LocalSecretReference names a Secret in the Pipeline's namespace.
//
// +kubebuilder:object:generate=false
type LocalSecretReference struct {
	Name string `json:"name"`
}

// PipelineStatus is what the controller saw and did.
type PipelineStatus struct {
	ObservedGeneration int64              `json:"observedGeneration,omitempty"`
	Conditions         []metav1.Condition `json:"conditions,omitempty"`
	// Environments by name.
	Environments map[string]*EnvironmentStatus `json:"environments,omitempty"`
	// Episode is ours (variant V8): the stay of the first environment at its present revision.
	Episode *Episode `json:"episode,omitempty"`
}

// Episode is one stay of the first environment at one revision. A revision that comes back begins a
// new episode, which distinguishes a rollback from a repetition. Number only grows.
//
// +kubebuilder:object:generate=false
type Episode struct {
	Number   int64  `json:"number"`
	Revision string `json:"revision"`
}

// EnvironmentStatus is the state of one environment.
type EnvironmentStatus struct {
	// WaitingApproval is set while a manual promotion waits for a person.
	WaitingApproval *WaitingApproval `json:"waitingApproval,omitempty"`
	Targets         []TargetStatus   `json:"targets,omitempty"`
	// Promotion is the latest promotion to this environment.
	Promotion *PromotionRecord `json:"promotion,omitempty"`
}

// WaitingApproval names the revision that waits.
//
// +kubebuilder:object:generate=false
type WaitingApproval struct {
	Revision string `json:"revision"`
}

// TargetStatus is what was read of one target.
type TargetStatus struct {
	ClusterAppRef ClusterAppReference `json:"clusterAppRef"`
	Ready         bool                `json:"ready"`
	Revision      string              `json:"revision,omitempty"`
	// Error says why the target could not be read.
	Error string `json:"error,omitempty"`
}

// ClusterAppReference names an application object on a cluster.
type ClusterAppReference struct {
	LocalAppReference `json:",inline"`
	ClusterRef        *CrossNamespaceClusterReference `json:"clusterRef,omitempty"`
}

// PromotionRecord is the memory of one promotion.
type PromotionRecord struct {
	Revision          string       `json:"revision"`
	LastAttemptedTime *metav1.Time `json:"lastAttemptedTime,omitempty"`
	Succeeded         bool         `json:"succeeded"`
	PullRequest       *PullRequest `json:"pullRequest,omitempty"`
}

// PullRequest is where a promotion can be followed outside the cluster.
//
// +kubebuilder:object:generate=false
type PullRequest struct {
	URL string `json:"url"`
	// State is merged, abandoned, mergeable or open.
	State string `json:"state,omitempty"`
}

// PolicyFor returns how to promote to an environment, or nil if that is not specified.
func (s *PipelineSpec) PolicyFor(env *Environment) *PromotionPolicy {
	if env.Promotion != nil {
		return env.Promotion
	}
	return s.Promotion
}
