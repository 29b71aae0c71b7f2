package v1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// ShelfSpec defines the desired state of Shelf.
type ShelfSpec struct {
	// books are titles.
	// +optional
	Books []string `json:"books,omitempty"`
	// +kubebuilder:validation:Minimum=1
	Capacity int32 `json:"capacity"`
}

// ShelfStatus defines the observed state of Shelf.
type ShelfStatus struct {
	// +optional
	Free int32 `json:"free,omitempty"`
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:storageversion

// Shelf is the Schema for the shelves API.
type Shelf struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   ShelfSpec   `json:"spec"`
	Status ShelfStatus `json:"status,omitempty"`
}

// Hub marks this type as a conversion hub.
func (*Shelf) Hub() {}

// +kubebuilder:object:root=true

// ShelfList contains a list of Shelf.
type ShelfList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Shelf `json:"items"`
}

func init() {
	SchemeBuilder.Register(&Shelf{}, &ShelfList{})
}
