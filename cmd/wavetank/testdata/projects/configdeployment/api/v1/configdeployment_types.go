package v1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// ConfigDeploymentSpec defines the desired state of ConfigDeployment.
type ConfigDeploymentSpec struct {
	// configMap is the name of the ConfigMap that the pods of the deployment use.
	// +optional
	ConfigMap string `json:"configMap,omitempty"`
	// image of the deployment's container.
	// +kubebuilder:default="nginx:1.27"
	// +optional
	Image string `json:"image,omitempty"`
}

// ConfigDeploymentStatus defines the observed state of ConfigDeployment.
type ConfigDeploymentStatus struct {
	// configVersion is the version of the ConfigMap that the pods have.
	// +optional
	ConfigVersion string `json:"configVersion,omitempty"`
}

// +kubebuilder:object:root=true
// +kubebuilder:subresource:status

// ConfigDeployment is the Schema for the configdeployments API.
type ConfigDeployment struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   ConfigDeploymentSpec   `json:"spec"`
	Status ConfigDeploymentStatus `json:"status,omitempty"`
}

// +kubebuilder:object:root=true

// ConfigDeploymentList contains a list of ConfigDeployment.
type ConfigDeploymentList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []ConfigDeployment `json:"items"`
}

func init() {
	SchemeBuilder.Register(&ConfigDeployment{}, &ConfigDeploymentList{})
}
