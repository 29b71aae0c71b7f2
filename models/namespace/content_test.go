package namespace_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/wavetank/wavetank/models/actor"
	"github.com/wavetank/wavetank/models/actor/actortest"
	"github.com/wavetank/wavetank/models/apiserver"
	"github.com/wavetank/wavetank/models/namespace"
)

const (
	account = "/api/v1/namespaces/shop/serviceaccounts/default"
	rootCA  = "/api/v1/namespaces/shop/configmaps/kube-root-ca.crt"
)

// filled is a cluster with the controllers of namespaces and an active namespace.
func filled(t *testing.T) *actortest.Cluster {
	t.Helper()
	c := actortest.New(append(namespace.Content(), namespace.New())...)
	send(t, c, http.MethodPost, "/api/v1/namespaces", map[string]any{"metadata": map[string]any{"name": "shop"}})
	c.Run(time.Second)
	return c
}

func send(t *testing.T, c *actortest.Cluster, method, path string, in any) {
	t.Helper()
	if code := c.Do(method, path, in, nil); code > 202 {
		t.Fatalf("%s %s: %d", method, path, code)
	}
}

func wantBoth(t *testing.T, c *actortest.Cluster, code int) {
	t.Helper()
	for _, path := range []string{account, rootCA} {
		if got := c.Do(http.MethodGet, path, nil, nil); got != code {
			t.Errorf("GET %s: %d, not %d", path, got, code)
		}
	}
}

func TestContentIsCreatedAndRestored(t *testing.T) {
	c := filled(t)
	wantBoth(t, c, http.StatusOK)
	for _, path := range []string{account, rootCA} {
		send(t, c, http.MethodDelete, path, nil)
	}
	wantBoth(t, c, http.StatusNotFound)
	c.Run(time.Second)
	wantBoth(t, c, http.StatusOK)

	var cm struct{ Data map[string]string }
	send(t, c, http.MethodPut, rootCA, map[string]any{"metadata": map[string]any{"name": "kube-root-ca.crt"},
		"data": map[string]string{"ca.crt": "mine", "more": "mine"}})
	c.Run(time.Second)
	if c.Do(http.MethodGet, rootCA, nil, &cm); len(cm.Data) != 1 || cm.Data["ca.crt"] == "mine" {
		t.Errorf("the ConfigMap was not restored: %v", cm.Data)
	}
}

// Content of a namespace that is being deleted is not created again, so the namespace goes.
func TestContentDoesNotKeepANamespace(t *testing.T) {
	c := filled(t)
	send(t, c, http.MethodDelete, "/api/v1/namespaces/shop", nil)
	c.Run(time.Minute)
	wantBoth(t, c, http.StatusNotFound)
	if code := c.Do(http.MethodGet, "/api/v1/namespaces/shop", nil, nil); code != http.StatusNotFound {
		t.Errorf("GET the namespace: %d, not 404", code)
	}
	for _, a := range namespace.Content() {
		if due := c.Pending(a.Name()); len(due) != 0 {
			t.Errorf("%s still has %v to do", a.Name(), due)
		}
	}
}

// failing is an actor whose first writes to the namespace shop fail.
type failing struct {
	actor.Actor
	writes int // that still fail
}

func (f *failing) Begin(c actor.Cluster) { f.Actor.Begin(&failingCluster{c, f}) }

type failingCluster struct {
	actor.Cluster
	*failing
}

func (f *failingCluster) Write(r *apiserver.Request) *apiserver.Response {
	if strings.HasPrefix(r.URL.Path, "/api/v1/namespaces/shop/") && f.writes > 0 {
		f.writes--
		return &apiserver.Response{Code: http.StatusInternalServerError,
			Body: []byte(`{"kind":"Status","apiVersion":"v1","status":"Failure","code":500}`)}
	}
	return f.Cluster.Write(r)
}

// A write that fails is tried again after 5, 10 and 20 ms.
func TestContentIsRetried(t *testing.T) {
	var all []actor.Actor
	for _, a := range namespace.Content() {
		all = append(all, &failing{a, 3})
	}
	c := actortest.New(all...)
	send(t, c, http.MethodPost, "/api/v1/namespaces", map[string]any{"metadata": map[string]any{"name": "shop"}})
	c.Run(30 * time.Millisecond)
	wantBoth(t, c, http.StatusNotFound)
	c.Run(10 * time.Millisecond)
	wantBoth(t, c, http.StatusOK)
}
