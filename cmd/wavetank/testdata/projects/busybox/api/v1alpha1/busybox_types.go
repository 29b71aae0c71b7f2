package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// BusyboxSpec defines the desired state of Busybox.
type BusyboxSpec struct {
	// size defines the number of Busybox instances.
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=0
	// +optional
	Size *int32 `json:"size,omitempty"`
}

// BusyboxStatus defines the observed state of Busybox.
type BusyboxStatus struct {
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// +kubebuilder:object:root=true
// +kubebuilder:subresource:status

// Busybox is the Schema for the busyboxes API.
type Busybox struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   BusyboxSpec   `json:"spec"`
	Status BusyboxStatus `json:"status,omitempty"`
}

// +kubebuilder:object:root=true

// BusyboxList contains a list of Busybox.
type BusyboxList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Busybox `json:"items"`
}

func init() {
	SchemeBuilder.Register(&Busybox{}, &BusyboxList{})
}
