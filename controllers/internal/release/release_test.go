// This file tests what is added to Helm, apart from Helm: marks on manifests, owners of
// records, and repairs.

package release

import (
	"bytes"
	"context"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/cli-runtime/pkg/resource"
	"k8s.io/client-go/kubernetes/fake"
)

const manifest = `
apiVersion: v1
kind: Namespace
metadata: {name: a, labels: {of: chart}}
---
# nothing
---
apiVersion: v1
kind: ConfigMap
metadata: {name: b, namespace: a}
data: {k: v}
`

var owner = metav1.OwnerReference{APIVersion: "x.example/v1", Kind: "X", Name: "x", UID: "1"}

func TestMarksReplaceLabelsAndNameTheOwner(t *testing.T) {
	out, err := Marks{Labels: map[string]string{"of": "owner"}, Owner: owner}.Run(bytes.NewBufferString(manifest))
	if err != nil {
		t.Fatal(err)
	}
	all, err := objects(out)
	if err != nil || len(all) != 2 {
		t.Fatalf("%d objects: %v", len(all), err)
	}
	for i, name := range []string{"a", "b"} {
		o := all[i]
		owners := o.GetOwnerReferences()
		if o.GetName() != name || o.GetLabels()["of"] != "owner" || len(owners) != 1 || owners[0].UID != "1" {
			t.Errorf("object %d is %v", i+1, o)
		}
	}
	_, err = (Marks{}).Run(bytes.NewBufferString("{"))
	if err == nil || !strings.Contains(err.Error(), "decoding the manifest") {
		t.Errorf("a broken manifest: %v", err)
	}
}

func TestRecordsHaveAnOwner(t *testing.T) {
	secrets := &Held{}
	secrets.open(fake.NewClientset().CoreV1().Secrets("ns"), &Client{Marks: Marks{Owner: owner}})
	named := func() *corev1.Secret { return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "s"}} }
	made, err := secrets.Create(context.Background(), named(), metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	written, err := secrets.Update(context.Background(), named(), metav1.UpdateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []*corev1.Secret{made, written} {
		if len(s.OwnerReferences) != 1 || s.OwnerReferences[0].UID != "1" {
			t.Errorf("the owners are %v", s.OwnerReferences)
		}
	}
}

func TestRepairsSetWhatTheManifestSetsAndNothingElse(t *testing.T) {
	configMap := schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}
	custom := schema.GroupVersionKind{Group: "x.example", Version: "v1", Kind: "X"}
	should := map[string]any{"k": "v"}
	for _, c := range []struct {
		kind           schema.GroupVersionKind
		is             map[string]any
		patch          string
		strategicMerge bool
	}{
		{configMap, map[string]any{"k": "other", "own": "x"}, `{"data":{"k":"v"}}`, true},
		{configMap, map[string]any{"k": "v", "own": "x"}, `{}`, true},
		{custom, map[string]any{"own": "x"}, `{"data":{"k":"v"}}`, false},
	} {
		object := func(data map[string]any) *unstructured.Unstructured {
			content := map[string]any{"metadata": map[string]any{"name": "o"}, "data": data}
			o := &unstructured.Unstructured{Object: content}
			o.SetGroupVersionKind(c.kind)
			return o
		}
		info := &resource.Info{Object: object(should), Mapping: &meta.RESTMapping{GroupVersionKind: c.kind}}
		patch, kind, err := difference(object(c.is), info)
		if err != nil {
			t.Fatal(err)
		}
		if string(patch) != c.patch || (kind == types.StrategicMergePatchType) != c.strategicMerge {
			t.Errorf("%s: the patch is %s %s, not %s", c.kind.Kind, kind, patch, c.patch)
		}
	}
}
