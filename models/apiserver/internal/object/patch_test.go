package object

import (
	"bytes"
	"encoding/json"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
)

// A merge patch gives the metadata that reading the whole patched document gives.
func TestMergePatchesOfMetadata(t *testing.T) {
	at := metav1.NewTime(time.Date(2030, 1, 2, 3, 4, 5, 600_000_000, time.UTC))
	fields := &metav1.FieldsV1{}
	if err := fields.UnmarshalJSON([]byte(`{"f:spec":{}}`)); err != nil {
		t.Fatal(err)
	}
	entry := metav1.ManagedFieldsEntry{Manager: "m", Operation: "Update", APIVersion: "g/v1", Time: at.DeepCopy(),
		FieldsType: "FieldsV1", FieldsV1: fields, Subresource: "status"}
	metas := map[string]*metav1.ObjectMeta{
		"little": {Name: "a", ResourceVersion: "1"},
		"empty": {Name: "a", Labels: map[string]string{}, Finalizers: []string{},
			ManagedFields: []metav1.ManagedFieldsEntry{}},
		"all": {Name: "a", Namespace: "n", GenerateName: "g", UID: "u", ResourceVersion: "1", Generation: 2,
			CreationTimestamp: at, DeletionTimestamp: at.DeepCopy(), DeletionGracePeriodSeconds: ptr.To[int64](3),
			Labels: map[string]string{"l": "1"}, Annotations: map[string]string{"a": "1"}, Finalizers: []string{"f/f"},
			OwnerReferences: []metav1.OwnerReference{{Kind: "K", Name: "o", UID: "p", Controller: ptr.To(true)}},
			ManagedFields:   []metav1.ManagedFieldsEntry{entry}},
		"no time": {Name: "a", ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "m", Time: &metav1.Time{}}}},
	}
	ver := &Version{Name: "v1", Schema: &Schema{}, Type: &Type{Group: "g", Kind: "K"}}
	ver.Type.Storage, ver.Type.Versions = ver, []*Version{ver}
	ver.Type.Link()
	for name, meta := range metas {
		for _, body := range []string{
			`{}`, `{"spec":{"a":null,"b":2}}`, `{"metadata":{"resourceVersion":"7"},"spec":null}`, `{"metadata":{}}`,
			`{"metadata":{"resourceVersion":null}}`, `{"metadata":{"labels":{"l":null},"resourceVersion":"7"}}`,
		} {
			old := &Object{Version: ver, Meta: meta.DeepCopy(), Rest: map[string]any{"spec": map[string]any{"a": "1"}}}
			d := Decoder{Validation: metav1.FieldValidationStrict}
			got, err := (&Patch{Decoder: d, Kind: types.MergePatchType, Body: []byte(body), Version: ver}).Apply(old)
			if err != nil {
				t.Fatal(name, body, err)
			}
			var changes map[string]any
			if err := json.Unmarshal([]byte(body), &changes); err != nil {
				t.Fatal(err)
			}
			want, _, err := d.FromDocument(mergeJSON(old.Document(), changes).(map[string]any), ver)
			if err != nil {
				t.Fatal(name, body, err)
			}
			if !equality.Semantic.DeepEqual(got.Meta, want.Meta) || !bytes.Equal(got.Encode(), want.Encode()) {
				t.Errorf("%s patched by %s is %s, want %s", name, body, got.Encode(), want.Encode())
			}
			if !equality.Semantic.DeepEqual(old.Meta, meta) {
				t.Errorf("%s: the patch %s has changed the old object", name, body)
			}
		}
	}
}
