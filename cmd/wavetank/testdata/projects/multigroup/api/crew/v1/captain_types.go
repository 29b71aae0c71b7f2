package v1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// CaptainSpec defines the desired state of Captain.
type CaptainSpec struct {
	// +optional
	Orders []string `json:"orders,omitempty"`
}

// CaptainStatus defines the observed state of Captain.
type CaptainStatus struct {
	// logbook is the name of the ConfigMap with the orders.
	// +optional
	Logbook string `json:"logbook,omitempty"`
}

// +kubebuilder:object:root=true
// +kubebuilder:subresource:status

// Captain is the Schema for the captains API.
type Captain struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   CaptainSpec   `json:"spec"`
	Status CaptainStatus `json:"status,omitempty"`
}

// +kubebuilder:object:root=true

// CaptainList contains a list of Captain.
type CaptainList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Captain `json:"items"`
}

func init() {
	SchemeBuilder.Register(&Captain{}, &CaptainList{})
}
