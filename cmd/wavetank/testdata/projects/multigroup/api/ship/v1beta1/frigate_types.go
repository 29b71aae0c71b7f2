package v1beta1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// FrigateSpec defines the desired state of Frigate.
type FrigateSpec struct {
	// captain is the name of the Captain in command.
	// +optional
	Captain string `json:"captain,omitempty"`
	// +kubebuilder:validation:Minimum=0
	// +optional
	Guns int32 `json:"guns,omitempty"`
}

// FrigateStatus defines the observed state of Frigate.
type FrigateStatus struct {
	// +optional
	Commanded bool `json:"commanded,omitempty"`
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
}

// +kubebuilder:object:root=true
// +kubebuilder:subresource:status

// Frigate is the Schema for the frigates API.
type Frigate struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   FrigateSpec   `json:"spec"`
	Status FrigateStatus `json:"status,omitempty"`
}

// +kubebuilder:object:root=true

// FrigateList contains a list of Frigate.
type FrigateList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Frigate `json:"items"`
}

func init() {
	SchemeBuilder.Register(&Frigate{}, &FrigateList{})
}
