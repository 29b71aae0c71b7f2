package serve_test

// controller-runtime's cached client, which reads what a watch has brought and writes to the
// server: as it is by default and with its promise that one reads what one has written.

import (
	"context"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/wavetank/wavetank/internal/versions"
)

// cachedClient is a client that reads from a running cache.
func cachedClient(t *testing.T, readOwnWrites bool) client.Client {
	t.Helper()
	cfg := startWith(t)
	c, err := cache.New(cfg, cache.Options{Scheme: scheme.Scheme})
	check(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- c.Start(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	options := client.CacheOptions{Reader: c, Unstructured: true}
	if readOwnWrites {
		versions.ReadYourWrites(&options)
	}
	cl, err := client.New(cfg, client.Options{Scheme: scheme.Scheme, Cache: &options})
	check(t, err)
	return cl
}

func TestCachedClient(t *testing.T) {
	for _, own := range []bool{false, true} {
		if own && !versions.ReadYourWrites(&client.CacheOptions{}) {
			t.Skip("before 0.25 controller-runtime has no client that reads its own writes")
		}
		cl, ctx := cachedClient(t, own), t.Context()
		for i := range 20 {
			o := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "a", Namespace: "default"},
				Data: map[string]string{"k": string(rune('a' + i))}}
			if i == 0 {
				check(t, cl.Create(ctx, o))
			} else {
				check(t, cl.Patch(ctx, o, client.Merge))
			}
			got := &corev1.ConfigMap{}
			current := func() bool {
				return cl.Get(ctx, client.ObjectKeyFromObject(o), got) == nil && got.Data["k"] == o.Data["k"]
			}
			if own && !current() {
				t.Errorf("write %d was not read back: %v", i, got.Data)
			}
			eventually(ctx, t, "the cache follows", current)
		}
	}
}

func TestCachedClientSeesThreeFormsOfOneObject(t *testing.T) {
	cl, ctx := cachedClient(t, true), t.Context()
	check(t, cl.Create(ctx, widget("a", 1)))
	typed := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "a", Namespace: "default"}}
	check(t, cl.Create(ctx, typed))
	loose, partial := &unstructured.Unstructured{}, &metav1.PartialObjectMetadata{}
	loose.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("ConfigMap"))
	partial.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("ConfigMap"))
	key := client.ObjectKeyFromObject(typed)
	for _, o := range []client.Object{&corev1.ConfigMap{}, loose, partial} {
		eventually(ctx, t, "every form is cached",
			func() bool { return cl.Get(ctx, key, o) == nil && o.GetUID() == typed.UID })
	}
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(widgets.GroupVersion().WithKind("WidgetList"))
	eventually(ctx, t, "custom objects are listed",
		func() bool { return cl.List(ctx, list) == nil && len(list.Items) == 1 })

	wanted := widget("a", 1)
	check(t, cl.Apply(ctx, client.ApplyConfigurationFromUnstructured(wanted), client.FieldOwner("one"),
		client.ForceOwnership))
	got := widget("a", 0)
	eventually(ctx, t, "what was applied is cached", func() bool {
		return cl.Get(ctx, client.ObjectKeyFromObject(got), got) == nil && len(got.GetManagedFields()) > 0
	})
}
