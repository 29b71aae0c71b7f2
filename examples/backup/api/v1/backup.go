// Package v1 has the operator's only kind.
package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupVersion is the group and version of this package's kinds.
var GroupVersion = schema.GroupVersion{Group: "example.com", Version: "v1"}

// Backup asks for a claim to keep a backup in.
type Backup struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   BackupSpec   `json:"spec,omitempty"`
	Status BackupStatus `json:"status,omitempty"`
}

// BackupSpec says where the backup goes in the end.
type BackupSpec struct {
	Bucket string `json:"bucket,omitempty"`
}

// BackupStatus says which claim the backup has.
type BackupStatus struct {
	PVC string `json:"pvc,omitempty"`
}

// BackupList is a list of them.
type BackupList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Backup `json:"items"`
}

// DeepCopyObject implements runtime.Object.
func (b *Backup) DeepCopyObject() runtime.Object {
	out := *b
	b.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	return &out
}

// DeepCopyObject implements runtime.Object.
func (b *BackupList) DeepCopyObject() runtime.Object {
	out := *b
	b.ListMeta.DeepCopyInto(&out.ListMeta)
	out.Items = make([]Backup, len(b.Items))
	for i := range b.Items {
		out.Items[i] = *b.Items[i].DeepCopyObject().(*Backup)
	}
	return &out
}

// AddToScheme adds the kinds to a scheme.
func AddToScheme(s *runtime.Scheme) error {
	s.AddKnownTypes(GroupVersion, &Backup{}, &BackupList{})
	metav1.AddToGroupVersion(s, GroupVersion)
	return nil
}
