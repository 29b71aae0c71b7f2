package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// BucketSpec defines the desired state of Bucket.
type BucketSpec struct {
	// region of the bucket. It cannot be changed.
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="region is immutable"
	// +kubebuilder:default="eu-west-1"
	// +optional
	Region string `json:"region,omitempty"`
	// versioning keeps old versions of what is in the bucket.
	// +optional
	Versioning bool `json:"versioning,omitempty"`
}

// BucketStatus defines the observed state of Bucket.
type BucketStatus struct {
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// +kubebuilder:object:root=true
// +kubebuilder:subresource:status

// Bucket is the Schema for the buckets API.
type Bucket struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   BucketSpec   `json:"spec"`
	Status BucketStatus `json:"status,omitempty"`
}

// +kubebuilder:object:root=true

// BucketList contains a list of Bucket.
type BucketList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Bucket `json:"items"`
}

func init() {
	SchemeBuilder.Register(&Bucket{}, &BucketList{})
}
