package v1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// RecordSpec defines the desired state of Record.
type RecordSpec struct {
	// host is the name of the record.
	// +kubebuilder:validation:MinLength=1
	Host string `json:"host"`
	// address is what the host resolves to.
	Address string `json:"address"`
}

// RecordStatus defines the observed state of Record.
type RecordStatus struct {
	// id of the record at the provider.
	// +optional
	ID string `json:"id,omitempty"`
	// address that the provider has.
	// +optional
	Address string `json:"address,omitempty"`
}

// +kubebuilder:object:root=true
// +kubebuilder:subresource:status

// Record is the Schema for the records API.
type Record struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   RecordSpec   `json:"spec"`
	Status RecordStatus `json:"status,omitempty"`
}

// +kubebuilder:object:root=true

// RecordList contains a list of Record.
type RecordList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Record `json:"items"`
}

func init() {
	SchemeBuilder.Register(&Record{}, &RecordList{})
}
