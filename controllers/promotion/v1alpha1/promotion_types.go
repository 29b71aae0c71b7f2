// This file holds the guard object: one Promotion stands for one promotion that must take effect
// once. The author of the original named the idea in the thread.

package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// PipelineUIDLabel marks a Promotion with the uid of the Pipeline it belongs to.
const PipelineUIDLabel = "pipelines.weave.works/pipeline-uid"

// Promotion is the guard of one promotion. Its name is made from its spec, so there can be only
// one.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="Environment",type=string,JSONPath=".spec.environment"
// +kubebuilder:printcolumn:name="Revision",type=string,JSONPath=".spec.revision"
// +kubebuilder:printcolumn:name="Phase",type=string,JSONPath=".status.phase"
type Promotion struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   PromotionSpec   `json:"spec"`
	Status PromotionStatus `json:"status,omitempty"`
}

// PromotionList is a list of Promotions.
//
// +kubebuilder:object:root=true
type PromotionList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Promotion `json:"items"`
}

// PromotionSpec identifies a promotion. It never changes.
//
// +kubebuilder:object:generate=false
type PromotionSpec struct {
	PipelineUID string `json:"pipelineUID"`
	Environment string `json:"environment"`
	Revision    string `json:"revision"`
	// Episode tells the first stay at a revision from a later return to it; 0 where the variant
	// does not tell.
	Episode int64 `json:"episode,omitempty"`
}

// Phase says how far a promotion has come.
//
// +kubebuilder:validation:Enum="";Attempting;Promoted;Superseded
type Phase string

// The phases of a Promotion.
const (
	// PhasePending (also the empty phase): nothing has been attempted.
	PhasePending Phase = ""
	// PhaseAttempting: an attempt was claimed; whether it took effect is not known here.
	PhaseAttempting Phase = "Attempting"
	// PhasePromoted: the outside world has confirmed the effect. Final.
	PhasePromoted Phase = "Promoted"
	// PhaseSuperseded: the first environment moved on before an effect was confirmed. Final.
	PhaseSuperseded Phase = "Superseded"
)

// PromotionStatus is the durable memory of the attempts.
type PromotionStatus struct {
	Phase Phase `json:"phase,omitempty"`
	// Attempts that were claimed. A claim is counted before the attempt it allows.
	Attempts          int64        `json:"attempts,omitempty"`
	LastAttemptedTime *metav1.Time `json:"lastAttemptedTime,omitempty"`
	// NotBefore is when the next attempt may be claimed, if this one is not confirmed.
	NotBefore *metav1.MicroTime `json:"notBefore,omitempty"`
	// Strategy is where the attempts went whose outcome is not known, whatever becomes of the
	// Pipeline's: only there can be asked what became of them.
	Strategy    *Strategy    `json:"strategy,omitempty"`
	PullRequest *PullRequest `json:"pullRequest,omitempty"`
	// Withdrawn is set when nothing that was ordered can be open any more.
	Withdrawn bool `json:"withdrawn,omitempty"`
	// Message is the error of the last attempt.
	Message string `json:"message,omitempty"`
}
