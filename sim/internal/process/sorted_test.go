package process

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// The harness takes for granted where controller-runtime keeps the indexers of a cache. If this
// fails after an upgrade, look at sigs.k8s.io/controller-runtime/pkg/cache/internal
// (Informers.newInformer, CacheReader.indexer): sorted.go finds them by their types.
func TestOwnCachesListInOrder(t *testing.T) {
	for name, o := range map[string]cache.Options{
		"all namespaces":     {},
		"by object":          {ByObject: map[client.Object]cache.ByObject{&corev1.ConfigMap{}: {}}},
		"several namespaces": {DefaultNamespaces: map[string]cache.Config{"default": {}}},
	} {
		for _, early := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, informer made before it is added %v", name, early), func(t *testing.T) {
				c := startedCache(t, o, early)
				for range 20 {
					var all corev1.ConfigMapList
					if err := c.List(t.Context(), &all, client.InNamespace("default")); err != nil {
						t.Fatal(err)
					}
					var names []string
					for _, cm := range all.Items {
						names = append(names, cm.Name)
					}
					if len(names) != 30 || !slices.IsSorted(names) {
						t.Fatalf("the cache lists %d ConfigMaps as %v; expected 30 by name", len(names), names)
					}
				}
			})
		}
	}
}

// startedCache is a synced cache over a server of 30 ConfigMaps, as a program adds it to its
// manager.
func startedCache(t *testing.T, o cache.Options, early bool) cache.Cache {
	t.Helper()
	mapper := meta.NewDefaultRESTMapper(nil)
	for _, kind := range []string{"ConfigMap", "ConfigMapList"} {
		mapper.Add(corev1.SchemeGroupVersion.WithKind(kind), meta.RESTScopeNamespace)
	}
	o.Scheme, o.Mapper = clientgoscheme.Scheme, mapper
	server := httptest.NewServer(http.HandlerFunc(serveConfigMaps))
	t.Cleanup(server.Close)
	c, err := cache.New(&rest.Config{Host: server.URL}, o)
	if err != nil {
		t.Fatal(err)
	}
	if early {
		if _, err := c.GetInformer(t.Context(), &corev1.ConfigMap{}, cache.BlockUntilSynced(false)); err != nil {
			t.Fatal(err)
		}
	}
	sortLists(c)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	t.Cleanup(func() { cancel(); <-done })
	go func() { defer close(done); c.Start(ctx) }() //nolint:errcheck // it ends with its context
	if !c.WaitForCacheSync(ctx) {
		t.Fatal("the cache did not sync")
	}
	if _, err := c.GetInformer(ctx, &corev1.ConfigMap{}); err != nil {
		t.Fatal(err)
	}
	return c
}

// serveConfigMaps answers a list, and refuses the watch-list that a reflector asks for first.
func serveConfigMaps(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	if r.URL.Query().Get("watch") != "" {
		if r.URL.Query().Get("sendInitialEvents") != "" {
			http.Error(w, "sendInitialEvents is forbidden", http.StatusUnprocessableEntity)
			return
		}
		w.WriteHeader(http.StatusOK)
		w.(http.Flusher).Flush()
		<-r.Context().Done()
		return
	}
	list := corev1.ConfigMapList{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMapList"}}
	list.ResourceVersion = "1"
	for i := range 30 {
		list.Items = append(list.Items, *newConfigMap(fmt.Sprintf("c%02d", i)))
	}
	json.NewEncoder(w).Encode(list) //nolint:errcheck // a client that has gone is not there to be told
}

func newConfigMap(name string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, ResourceVersion: "1"}}
}
