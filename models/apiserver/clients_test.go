package apiserver_test

import (
	"context"
	"io"
	"net/http"
	"sync"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/wavetank/wavetank/models/apiserver"
)

// live serves concurrent clients: requests take turns, and a watch waits for what is written.
type live struct {
	mu     sync.Mutex
	cond   *sync.Cond
	server *apiserver.Server
}

func newLive(s *apiserver.Server) *live {
	l := &live{server: s}
	l.cond = sync.NewCond(&l.mu)
	return l
}

func (l *live) RoundTrip(r *http.Request) (*http.Response, error) {
	var body []byte
	if r.Body != nil {
		body, _ = io.ReadAll(r.Body)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	defer l.cond.Broadcast()
	resp := l.server.Handle(&apiserver.Request{Method: r.Method, URL: r.URL, Header: r.Header, Body: body})
	out := &http.Response{StatusCode: resp.Code, Header: resp.Header, Request: r}
	if resp.Watch == nil {
		out.Body = io.NopCloser(newReader(resp.Body))
		return out, nil
	}
	stream := &stream{l: l, w: resp.Watch}
	context.AfterFunc(r.Context(), func() { _ = stream.Close() })
	out.Body = stream
	return out, nil
}

func newReader(b []byte) io.Reader { return &reader{b} }

type reader struct{ b []byte }

func (r *reader) Read(p []byte) (int, error) {
	if len(r.b) == 0 {
		return 0, io.EOF
	}
	n := copy(p, r.b)
	r.b = r.b[n:]
	return n, nil
}

type stream struct {
	l      *live
	w      *apiserver.Watch
	rest   []byte
	closed bool
}

func (s *stream) Read(p []byte) (int, error) {
	s.l.mu.Lock()
	defer s.l.mu.Unlock()
	for len(s.rest) == 0 {
		if s.closed {
			return 0, io.EOF
		}
		if f, ok := s.w.Next(); ok {
			s.rest = f.Data
			break
		}
		s.l.cond.Wait()
	}
	n := copy(p, s.rest)
	s.rest = s.rest[n:]
	return n, nil
}

func (s *stream) Close() error {
	s.l.mu.Lock()
	defer s.l.mu.Unlock()
	s.closed = true
	s.w.Close()
	s.l.cond.Broadcast()
	return nil
}

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
	cfg := &rest.Config{Host: "http://model", Transport: newLive(s), QPS: -1,
		ContentConfig: rest.ContentConfig{ContentType: "application/json"}}
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

func TestMetadataOnlyAndSubresourceClients(t *testing.T) {
	ctx := context.Background()
	s := newServer(t, widgets())
	c := newClient(t, s)
	w := widget("a")
	w.Object["spec"].(map[string]any)["replicas"] = int64(2)
	if err := c.Create(ctx, w); err != nil {
		t.Fatal(err)
	}
	partial := &metav1.PartialObjectMetadata{}
	partial.SetGroupVersionKind(w.GroupVersionKind())
	if err := c.Get(ctx, client.ObjectKeyFromObject(w), partial); err != nil || partial.UID != w.GetUID() {
		t.Fatalf("%v %v", err, partial)
	}
	before := partial.DeepCopy()
	partial.Labels = map[string]string{"a": "b"}
	if err := c.Patch(ctx, partial,
		client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})); err != nil {
		t.Fatal(err)
	}
	if err := c.Patch(ctx, before,
		client.MergeFromWithOptions(partial, client.MergeFromWithOptimisticLock{})); err != nil {
		t.Fatal(err)
	}
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(w.GroupVersionKind().GroupVersion().WithKind("WidgetList"))
	if err := c.List(ctx, list); err != nil || len(list.Items) != 1 {
		t.Fatalf("%v %v", err, list)
	}
	scale := &unstructured.Unstructured{}
	scale.SetAPIVersion("autoscaling/v1")
	scale.SetKind("Scale")
	if err := c.SubResource("scale").Get(ctx, w, scale); err != nil {
		t.Fatal(err)
	}
	if n, _, _ := unstructured.NestedInt64(scale.Object, "spec", "replicas"); n != 2 {
		t.Fatalf("%v", scale)
	}
	scale.Object["spec"] = map[string]any{"replicas": int64(5)}
	if err := c.SubResource("scale").Update(ctx, w, client.WithSubResourceBody(scale)); err != nil {
		t.Fatal(err)
	}
	if err := c.Get(ctx, client.ObjectKeyFromObject(w), w); err != nil {
		t.Fatal(err)
	}
	if n, _, _ := unstructured.NestedInt64(w.Object, "spec", "replicas"); n != 5 || w.GetGeneration() != 2 {
		t.Fatalf("%v", w.Object)
	}
	if err := c.DeleteAllOf(ctx, widget(""), client.InNamespace("default")); err != nil {
		t.Fatal(err)
	}
	if err := c.Get(ctx, client.ObjectKeyFromObject(w), w); !apierrors.IsNotFound(err) {
		t.Fatal(err)
	}
}

func TestTypedWorkload(t *testing.T) {
	ctx := context.Background()
	c := newClient(t, newServer(t))
	labels := map[string]string{"app": "x"}
	d := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "d"},
		Spec: appsv1.DeploymentSpec{
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "x"}}},
			},
		},
	}
	if err := c.Create(ctx, d); err != nil {
		t.Fatal(err)
	}
	if *d.Spec.Replicas != 1 || d.Spec.Template.Spec.Containers[0].ImagePullPolicy != corev1.PullAlways {
		t.Fatalf("defaults: %v", d.Spec)
	}
	before := d.DeepCopy()
	d.Spec.Template.Spec.Containers = append(d.Spec.Template.Spec.Containers, corev1.Container{Name: "e", Image: "y:1"})
	if err := c.Patch(ctx, d, client.StrategicMergeFrom(before)); err != nil ||
		len(d.Spec.Template.Spec.Containers) != 2 || d.Generation != 2 {
		t.Fatalf("%v %v", err, d)
	}
	old := client.Apply //nolint:staticcheck // the deprecated way to apply
	if err := c.Patch(ctx, d, old, client.FieldOwner("me")); err == nil {
		t.Fatal("server-side apply is not modelled and must say so")
	}
	d.Spec.Replicas = nil
	if err := c.Update(ctx, d, client.DryRunAll); err != nil || d.Generation != 2 {
		t.Fatalf("%v %v", err, d)
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
