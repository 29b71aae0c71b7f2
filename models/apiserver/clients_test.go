package apiserver_test

import (
	"context"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/wavetank/wavetank/models/apiserver/serve"
)

func widget(name string) *unstructured.Unstructured {
	u := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"size": int64(1), "unknown": "x"}}}
	u.SetAPIVersion("test.wavetank.dev/v1")
	u.SetKind("Widget")
	u.SetNamespace("default")
	u.SetName(name)
	return u
}

// TestInformers lets controller-runtime's cache follow three ways of seeing the same objects:
// typed, unstructured and metadata alone, all by watch-list.
func TestInformers(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	s := newServer(t, widgets())
	socket := serve.New(s)
	if err := socket.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = socket.Stop() })
	cfg := socket.Config()
	c, err := client.New(cfg, client.Options{Scheme: testScheme, Mapper: s.Mapper()})
	if err != nil {
		t.Fatal(err)
	}
	informers, err := cache.New(cfg, cache.Options{Scheme: testScheme, Mapper: s.Mapper()})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Create(ctx, widget("before")); err != nil {
		t.Fatal(err)
	}
	partial := &metav1.PartialObjectMetadata{}
	partial.SetGroupVersionKind(schema.GroupVersionKind{Group: "test.wavetank.dev", Version: "v1", Kind: "Widget"})
	names := make(chan string, 100)
	note := func(o any, what string) {
		if m, err := meta.Accessor(o); err == nil {
			names <- what + " " + m.GetName()
		}
	}
	for _, o := range []client.Object{widget(""), partial, &corev1.Secret{}} {
		informer, err := informers.GetInformer(ctx, o, cache.BlockUntilSynced(false))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
			AddFunc:    func(o any) { note(o, "add") },
			UpdateFunc: func(_, o any) { note(o, "update") },
			DeleteFunc: func(o any) { note(o, "delete") },
		}); err != nil {
			t.Fatal(err)
		}
	}
	go func() { _ = informers.Start(ctx) }()
	if !informers.WaitForCacheSync(ctx) {
		t.Fatal("the caches did not fill")
	}
	after := widget("after")
	if err := c.Create(ctx, after); err != nil {
		t.Fatal(err)
	}
	if err := c.Create(ctx,
		&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "secret"}}); err != nil {
		t.Fatal(err)
	}
	if err := c.Delete(ctx, after); err != nil {
		t.Fatal(err)
	}
	want := map[string]int{"add before": 2, "add after": 2, "delete after": 2, "add secret": 1}
	for total := 7; total > 0; total-- {
		select {
		case name := <-names:
			want[name]--
		case <-ctx.Done():
			t.Fatalf("still missing: %v", want)
		}
	}
	for name, n := range want {
		if n != 0 {
			t.Errorf("%s: %d too few", name, n)
		}
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
