package serve_test

// Clients of other projects, over a real socket: client-go's typed, dynamic, metadata and
// discovery clients, and controller-runtime's cached client with typed, unstructured and metadata
// objects side by side.

import (
	"context"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	corev1apply "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	"github.com/wavetank/wavetank/models/apiserver"
	"github.com/wavetank/wavetank/models/apiserver/serve"
)

const widgetYAML = `
metadata: {name: widgets.x.example}
spec:
  group: x.example
  scope: Namespaced
  names: {plural: widgets, singular: widget, kind: Widget, listKind: WidgetList}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {size: {type: integer}}}}}}
`

var widgets = schema.GroupVersionResource{Group: "x.example", Version: "v1", Resource: "widgets"}

func start(t *testing.T) *serve.Server {
	t.Helper()
	s := serve.New(apiserver.New(apiserver.Options{Now: time.Now, Seed: 1}))
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Stop() })
	return s
}

// startWith is a server that has the widgets' definition.
func startWith(t *testing.T) *rest.Config {
	t.Helper()
	s := start(t)
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.Unmarshal([]byte(widgetYAML), crd); err != nil {
		t.Fatal(err)
	}
	s.Do(func(m *apiserver.Server) {
		if err := m.Install(crd); err != nil {
			t.Fatal(err)
		}
	})
	return s.Config()
}

func widget(name string, size int64) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "x.example/v1", "kind": "Widget",
		"metadata": map[string]any{"name": name, "namespace": "default"},
		"spec":     map[string]any{"size": size},
	}}
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestTypedClient(t *testing.T) {
	for _, content := range []string{"application/json", "application/vnd.kubernetes.protobuf"} {
		cfg := startWith(t)
		cfg.ContentType, cfg.AcceptContentTypes = content, content+",application/json"
		maps := kubernetes.NewForConfigOrDie(cfg).CoreV1().ConfigMaps("default")
		ctx := t.Context()
		made, err := maps.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "a"},
			Data: map[string]string{"k": "v"}}, metav1.CreateOptions{FieldManager: "maker"})
		check(t, err)
		made.Data["k"] = "w"
		_, err = maps.Update(ctx, made, metav1.UpdateOptions{FieldManager: "maker"})
		check(t, err)
		_, err = maps.Patch(ctx, "a", types.StrategicMergePatchType, []byte(`{"data":{"l":"x"}}`),
			metav1.PatchOptions{})
		check(t, err)
		_, err = maps.Apply(ctx, corev1apply.ConfigMap("a", "default").WithData(map[string]string{"k": "z"}),
			metav1.ApplyOptions{FieldManager: "one"})
		if !apierrors.IsConflict(err) {
			t.Errorf("%s: an apply over another's field: %v", content, err)
		}
		got, err := maps.Apply(ctx, corev1apply.ConfigMap("a", "default").WithData(map[string]string{"k": "z"}),
			metav1.ApplyOptions{FieldManager: "one", Force: true})
		check(t, err)
		if got.Data["k"] != "z" || len(got.ManagedFields) != 3 {
			t.Errorf("%s: after the forced apply: %v, %d managers", content, got.Data, len(got.ManagedFields))
		}
		check(t, maps.Delete(ctx, "a", metav1.DeleteOptions{}))
	}
}

func TestDynamicAndMetadataClients(t *testing.T) {
	cfg, ctx := startWith(t), t.Context()
	objects := dynamic.NewForConfigOrDie(cfg).Resource(widgets).Namespace("default")
	seen, err := objects.Watch(ctx, metav1.ListOptions{})
	check(t, err)
	defer seen.Stop()
	_, err = objects.Create(ctx, widget("a", 1), metav1.CreateOptions{})
	check(t, err)
	got, err := objects.Apply(ctx, "a", widget("a", 1), metav1.ApplyOptions{FieldManager: "one"})
	check(t, err)
	if len(got.GetManagedFields()) != 2 {
		t.Errorf("managers: %v", got.GetManagedFields())
	}
	partial, err := metadata.NewForConfigOrDie(cfg).Resource(widgets).Namespace("default").List(ctx,
		metav1.ListOptions{})
	check(t, err)
	if len(partial.Items) != 1 || partial.Items[0].Name != "a" {
		t.Errorf("metadata: %v", partial.Items)
	}
	for _, want := range []string{"ADDED", "MODIFIED"} {
		select {
		case e := <-seen.ResultChan():
			if string(e.Type) != want {
				t.Errorf("the watch saw %s, want %s", e.Type, want)
			}
		case <-time.After(10 * time.Second):
			t.Fatal("the watch saw nothing")
		}
	}
}

func TestDiscoveryFollowsDefinitions(t *testing.T) {
	cfg := startWith(t)
	client := discovery.NewDiscoveryClientForConfigOrDie(cfg)
	served := func() bool {
		_, lists, err := client.ServerGroupsAndResources()
		check(t, err)
		for _, l := range lists {
			if l.GroupVersion == "x.example/v1" {
				return true
			}
		}
		return false
	}
	if !served() {
		t.Error("the definition is not served")
	}
	definitions := dynamic.NewForConfigOrDie(cfg).Resource(
		apiextensionsv1.SchemeGroupVersion.WithResource("customresourcedefinitions"))
	check(t, definitions.Delete(t.Context(), "widgets.x.example", metav1.DeleteOptions{}))
	if served() {
		t.Error("the definition is still served")
	}
	paths, err := client.OpenAPIV3().Paths()
	check(t, err)
	if paths["apis/x.example/v1"] != nil || paths["apis/apps/v1"] == nil {
		t.Errorf("OpenAPI lists %d paths", len(paths))
	}
}

// eventually waits for what a cache is going to see.
func eventually(ctx context.Context, t *testing.T, what string, seen func() bool) {
	t.Helper()
	for range 1000 {
		if seen() {
			return
		}
		select {
		case <-ctx.Done():
		case <-time.After(10 * time.Millisecond):
		}
	}
	t.Errorf("never: %s", what)
}
