package apiserver_test

import (
	"context"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func widget(name string) *unstructured.Unstructured {
	u := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"size": int64(1), "unknown": "x"}}}
	u.SetAPIVersion("test.wavetank.dev/v1")
	u.SetKind("Widget")
	u.SetNamespace("default")
	u.SetName(name)
	return u
}

func TestLifeOfACustomObject(t *testing.T) {
	ctx := context.Background()
	s := newServer(t, widgets())
	c := newClient(t, s)
	w := widget("a")
	w.SetFinalizers([]string{"wavetank.dev/hold"})
	if err := c.Create(ctx, w); err != nil {
		t.Fatal(err)
	}
	if w.GetUID() == "" || w.GetGeneration() != 1 || w.GetResourceVersion() == "" {
		t.Fatalf("system fields: %v", w.Object["metadata"])
	}
	spec := w.Object["spec"].(map[string]any)
	if _, kept := spec["unknown"]; kept || spec["mode"] != "slow" {
		t.Fatalf("pruning and defaulting: %v", spec)
	}
	stale := w.DeepCopy()
	spec["size"] = int64(2)
	if err := c.Update(ctx, w); err != nil {
		t.Fatal(err)
	}
	if w.GetGeneration() != 2 {
		t.Fatalf("generation %d", w.GetGeneration())
	}
	if err := c.Update(ctx, stale); !apierrors.IsConflict(err) {
		t.Fatalf("stale update: %v", err)
	}
	before := s.Revision()
	if err := c.Update(ctx, w); err != nil || s.Revision() != before {
		t.Fatalf("no-op update: %v, revision %d after %d", err, s.Revision(), before)
	}
	w.Object["status"] = map[string]any{"phase": "Ready"}
	if err := c.Status().Update(ctx, w); err != nil {
		t.Fatal(err)
	}
	if phase, _, _ := unstructured.NestedString(w.Object, "status", "phase"); phase != "Ready" ||
		w.GetGeneration() != 2 {
		t.Fatalf("status: %v", w.Object)
	}
	if err := c.Patch(ctx, w,
		client.RawPatch(types.JSONPatchType, []byte(`[{"op":"replace","path":"/spec/size","value":3}]`))); err != nil {
		t.Fatal(err)
	}
	if err := c.Delete(ctx, w); err != nil {
		t.Fatal(err)
	}
	if err := c.Get(ctx, client.ObjectKeyFromObject(w), w); err != nil || w.GetDeletionTimestamp() == nil {
		t.Fatalf("after delete: %v %v", err, w.Object)
	}
	if err := c.Patch(ctx, w,
		client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`))); err != nil {
		t.Fatal(err)
	}
	if err := c.Get(ctx, client.ObjectKeyFromObject(w), w); !apierrors.IsNotFound(err) {
		t.Fatalf("after the last finalizer: %v", err)
	}
	var types []string
	for change := range s.History(0) {
		if change.Kind == "Widget" {
			types = append(types, change.Type)
		}
	}
	want := "ADDED MODIFIED MODIFIED MODIFIED MODIFIED DELETED"
	if got := join(types); got != want {
		t.Fatalf("history %s, want %s", got, want)
	}
}

func join(list []string) (out string) {
	for i, s := range list {
		if i > 0 {
			out += " "
		}
		out += s
	}
	return out
}

func TestTypedClientAndDiscovery(t *testing.T) {
	ctx := context.Background()
	s := newServer(t, widgets())
	cs, err := kubernetes.NewForConfig(restConfig(s))
	if err != nil {
		t.Fatal(err)
	}
	secret, err := cs.CoreV1().Secrets("default").Create(ctx, &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "s-"}, StringData: map[string]string{"a": "b"},
	}, metav1.CreateOptions{})
	if err != nil || string(secret.Data["a"]) != "b" || secret.Type != corev1.SecretTypeOpaque {
		t.Fatalf("%v %v", err, secret)
	}
	list, err := cs.CoreV1().Secrets("").List(ctx, metav1.ListOptions{})
	if err != nil || len(list.Items) != 1 {
		t.Fatalf("%v %v", err, list)
	}
	_, resources, err := cs.Discovery().ServerGroupsAndResources()
	if err != nil || len(resources) < 15 {
		t.Fatalf("%v %d", err, len(resources))
	}
	if _, err := cs.Discovery().ServerVersion(); err != nil {
		t.Fatal(err)
	}
	w, err := cs.CoreV1().Secrets("default").Watch(ctx, metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if e := <-w.ResultChan(); e.Type != "ADDED" {
		t.Fatalf("%v", e)
	}
}

func TestNamespaceTermination(t *testing.T) {
	ctx := context.Background()
	s := newServer(t)
	c := newClient(t, s)
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "gone"}}
	if err := c.Create(ctx, ns); err != nil {
		t.Fatal(err)
	}
	if ns.Status.Phase != corev1.NamespaceActive || ns.Labels[corev1.LabelMetadataName] != "gone" {
		t.Fatalf("%v", ns)
	}
	if err := c.Delete(ctx, ns); err != nil {
		t.Fatal(err)
	}
	err := c.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "gone", Name: "x"}})
	if !apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) {
		t.Fatalf("%v", err)
	}
	cs, err := kubernetes.NewForConfig(restConfig(s))
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Get(ctx, client.ObjectKey{Name: "gone"}, ns); err != nil ||
		ns.Status.Phase != corev1.NamespaceTerminating {
		t.Fatalf("%v %v", err, ns)
	}
	ns.Spec.Finalizers = nil
	if _, err := cs.CoreV1().Namespaces().Finalize(ctx, ns, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := c.Get(ctx, client.ObjectKey{Name: "gone"}, ns); !apierrors.IsNotFound(err) {
		t.Fatalf("%v", err)
	}
}

// Paths of a real server that are no resources are refused by name: a 404 would mean that they do
// not exist.
func TestPathsThatAreNotModelled(t *testing.T) {
	s := newServer(t)
	for path, want := range map[string]int{
		"/healthz": 200, "/livez": 200, "/metrics": 501, "/metrics/slis": 501, "/readyz/etcd": 501, "/livez/ping": 501,
		"/openid/v1/jwks": 501, "/.well-known/openid-configuration": 501, "/metricsandmore": 404, "/nowhere": 404,
	} {
		if r := do(t, s, "GET", path, "", ""); r.Code != want {
			t.Errorf("%s: %d %s, want %d", path, r.Code, r.Body, want)
		}
	}
}
