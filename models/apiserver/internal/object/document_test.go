package object

import (
	"reflect"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"
)

// Metadata is decoded by hand; it must be what the converter of unstructured objects makes of it.
func TestMetadataIsDecodedAsByTheConverter(t *testing.T) {
	now := metav1.NewTime(time.Date(2000, 1, 2, 3, 4, 5, 0, time.UTC))
	fields := &metav1.FieldsV1{}
	if err := fields.UnmarshalJSON([]byte(`{"f:spec":{".":{},"k:{\"n\":1}":{}}}`)); err != nil {
		t.Fatal(err)
	}
	for _, m := range []metav1.ObjectMeta{
		{Name: "a"},
		{Name: "a", Namespace: "n", GenerateName: "g", UID: "u", ResourceVersion: "1", Generation: 2,
			CreationTimestamp: now, DeletionTimestamp: &now, DeletionGracePeriodSeconds: ptr.To[int64](0),
			Labels: map[string]string{"l": "v"}, Annotations: map[string]string{"a": ""}, Finalizers: []string{"f"}},
		{OwnerReferences: []metav1.OwnerReference{{}, {APIVersion: "v1", Kind: "K", Name: "n", UID: "u",
			Controller: ptr.To(true), BlockOwnerDeletion: ptr.To(false)}}},
		{ManagedFields: []metav1.ManagedFieldsEntry{{}, {Manager: "m", Operation: "Apply", APIVersion: "v1",
			Time: &now, FieldsType: "FieldsV1", FieldsV1: fields, Subresource: "status"}, {Time: &metav1.Time{}}}},
	} {
		want, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&m)
		if err != nil {
			t.Fatal(err)
		}
		if m.CreationTimestamp.IsZero() {
			delete(want, "creationTimestamp") // null there in older versions
		}
		if got := metaDocument(&m); !reflect.DeepEqual(got, want) {
			t.Errorf("%v, want %v", got, want)
		}
	}
}
