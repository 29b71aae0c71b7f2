package apiserver_test

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/wavetank/wavetank/models/apiserver"
)

func do(t testing.TB, s *apiserver.Server, method, path, contentType, body string) *apiserver.Response {
	t.Helper()
	u, err := url.Parse(path)
	if err != nil {
		t.Fatal(err)
	}
	h := http.Header{}
	if contentType != "" {
		h.Set("Content-Type", contentType)
	}
	return s.Handle(&apiserver.Request{Method: method, URL: u, Header: h, Body: []byte(body)})
}

func must(t testing.TB, s *apiserver.Server, method, path, contentType, body string) *apiserver.Response {
	t.Helper()
	r := do(t, s, method, path, contentType, body)
	if r.Code >= 300 {
		t.Fatalf("%s %s: %d %s", method, path, r.Code, r.Body)
	}
	return r
}

const (
	jsonType  = "application/json"
	mergeType = "application/merge-patch+json"
	widgetDir = "/apis/test.wavetank.dev/v1/namespaces/default/widgets"
	configDir = "/api/v1/namespaces/default/configmaps"
)

func widgetBody(name string, payload int) string {
	return fmt.Sprintf(`{"kind":"Widget","apiVersion":"test.wavetank.dev/v1","metadata":{"name":%q,`+
		`"labels":{"app":"x"}},`+
		`"spec":{"size":3,"color":"red","payload":%q}}`, name, strings.Repeat("x", payload))
}

func configBody(name string, payload int) string {
	return fmt.Sprintf(`{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":%q,"labels":{"app":"x"}},`+
		`"data":{"payload":%q}}`,
		name, strings.Repeat("x", payload))
}

// filled is a server that holds n small widgets and config maps.
func filled(b testing.TB, n, payload int) *apiserver.Server {
	s := newServer(b, widgets())
	for i := range n {
		must(b, s, "POST", widgetDir, jsonType, widgetBody(fmt.Sprintf("w%06d", i), payload))
		must(b, s, "POST", configDir, jsonType, configBody(fmt.Sprintf("c%06d", i), payload))
	}
	return s
}

func BenchmarkVerbs(b *testing.B) {
	for _, size := range []int{1 << 10, 10 << 10, 100 << 10} {
		s := filled(b, 10, size)
		for _, kind := range []struct{ name, dir, first string }{{"custom", widgetDir, "w000000"},
			{"builtin", configDir, "c000000"}} {
			name := func(verb string) string { return fmt.Sprintf("%s/%s/%dKiB", verb, kind.name, size>>10) }
			object := kind.dir + "/" + kind.first
			b.Run(name("get"), func(b *testing.B) {
				for b.Loop() {
					must(b, s, "GET", object, "", "")
				}
			})
			b.Run(name("list"), func(b *testing.B) {
				for b.Loop() {
					must(b, s, "GET", kind.dir+"?limit=10", "", "")
				}
			})
			b.Run(name("patch"), func(b *testing.B) {
				i := 0
				for b.Loop() {
					i++
					must(b, s, "PATCH", object, mergeType, fmt.Sprintf(`{"metadata":{"annotations":{"n":"%d"}}}`, i))
				}
			})
			b.Run(name("update"), func(b *testing.B) {
				i := 0
				for b.Loop() {
					i++
					raw, _ := s.Lookup(map[bool]string{true: "", false: "test.wavetank.dev"}[kind.name == "builtin"],
						map[bool]string{true: "ConfigMap", false: "Widget"}[kind.name == "builtin"], "default",
						kind.first)
					body := strings.Replace(string(raw), `"labels":{`,
						fmt.Sprintf(`"labels":{"n":"%d","x":"y"},"oldLabels":{`, i), 1)
					must(b, s, "PUT", object+"?fieldValidation=Ignore", jsonType, body)
				}
			})
			b.Run(name("create+delete"), func(b *testing.B) {
				body := widgetBody("new", size)
				if kind.name == "builtin" {
					body = configBody("new", size)
				}
				for b.Loop() {
					must(b, s, "POST", kind.dir, jsonType, body)
					must(b, s, "DELETE", kind.dir+"/new", "", "")
				}
			})
		}
	}
}

func BenchmarkPatchByStoreSize(b *testing.B) {
	for _, n := range []int{10, 1000, 100000} {
		s := filled(b, n, 100)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			i := 0
			for b.Loop() {
				i++
				must(b, s, "PATCH", widgetDir+"/w000005", mergeType, fmt.Sprintf(`{"spec":{"size":%d}}`, i))
			}
		})
		b.Run(fmt.Sprintf("%d/create+delete", n), func(b *testing.B) {
			for b.Loop() {
				must(b, s, "POST", widgetDir, jsonType, widgetBody("w000005x", 100))
				must(b, s, "DELETE", widgetDir+"/w000005x", "", "")
			}
		})
	}
}

func BenchmarkWatchFanOut(b *testing.B) {
	s := filled(b, 1, 1000)
	var watches []*apiserver.Watch
	for range 10 {
		watches = append(watches,
			must(b, s, "GET", fmt.Sprintf("%s?watch=true&resourceVersion=%d", widgetDir, s.Revision()), "", "").Watch)
	}
	i := 0
	for b.Loop() {
		i++
		must(b, s, "PATCH", widgetDir+"/w000000", mergeType, fmt.Sprintf(`{"spec":{"size":%d}}`, i))
		for _, w := range watches {
			if _, ok := w.Next(); !ok {
				b.Fatal("no frame")
			}
		}
		if i%1000 == 0 {
			s.Compact(s.Revision())
		}
	}
}

func BenchmarkEmptyWorld(b *testing.B) {
	var crds []*apiextensionsv1.CustomResourceDefinition
	for i := range 20 {
		crds = append(crds, definition("test.wavetank.dev", fmt.Sprintf("Kind%d", i), fmt.Sprintf("kind%ds", i)))
	}
	newServer(b, crds...)
	b.ResetTimer()
	for b.Loop() {
		newServer(b, crds...)
	}
}

// BenchmarkClients compares clients as operators make them with the fake client. make bench-beside
// does so next to a kube-apiserver.
func BenchmarkClients(b *testing.B) {
	for _, kib := range []int{1, 10, 100} {
		seed := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "c"},
			Data: map[string]string{"a": strings.Repeat("x", kib<<10)}}
		clients := map[string]client.Client{"fake": fake.NewClientBuilder().WithScheme(testScheme).Build(),
			"model": newClient(b, newServer(b))}
		for _, name := range []string{"fake", "model"} {
			c := clients[name]
			if err := c.Create(context.Background(), seed.DeepCopy()); err != nil {
				b.Fatal(err)
			}
			for _, verb := range []string{"get", "list", "patch", "update"} {
				b.Run(fmt.Sprintf("%dKiB/%s/%s", kib, verb, name), func(b *testing.B) {
					o, i := seed.DeepCopy(), 0
					for b.Loop() {
						i++
						if err := request(c, verb, o, strconv.Itoa(i)); err != nil {
							b.Fatal(err)
						}
					}
				})
			}
		}
	}
}

// request sends one request about an object.
func request(c client.Client, verb string, o *corev1.ConfigMap, value string) error {
	ctx := context.Background()
	switch verb {
	case "get":
		return c.Get(ctx, client.ObjectKeyFromObject(o), &corev1.ConfigMap{})
	case "list":
		return c.List(ctx, &corev1.ConfigMapList{})
	case "patch":
		patch := fmt.Appendf(nil, `{"data":{"n":%q}}`, value)
		return c.Patch(ctx, o, client.RawPatch(types.MergePatchType, patch))
	}
	o.Data["n"], o.ResourceVersion = value, ""
	return c.Update(ctx, o)
}

// What tracking ownership costs: an apply, the writes to an object that has been applied to, and
// the first use.

const applyType = "application/apply-patch+yaml"

const deployment = `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"d","labels":{"app":"x",` +
	`"n":"%d"}},"spec":{"replicas":2,` +
	`"selector":{"matchLabels":{"app":"x"}},"template":{"metadata":{"labels":{"app":"x"}},` +
	`"spec":{"containers":[{"name":"c","image":"i",` +
	`"env":[{"name":"A","value":"b"}],"ports":[{"containerPort":80}]}]}}}}`

const widgetApply = `{"apiVersion":"test.wavetank.dev/v1","kind":"Widget","metadata":{"name":"w",` +
	`"labels":{"n":"%d"}},"spec":{"size":3,"color":"red"}}`

func BenchmarkApply(b *testing.B) {
	for _, kind := range []struct{ name, path, body string }{
		{"builtin", "/apis/apps/v1/namespaces/default/deployments/d", deployment},
		{"custom", widgetDir + "/w", widgetApply},
	} {
		for _, tracked := range []bool{false, true} {
			s := newServer(b, widgets())
			apply := func(i int) {
				must(b, s, "PATCH", kind.path+"?fieldManager=one", applyType, fmt.Sprintf(kind.body, i))
			}
			apply(0)
			if !tracked {
				b.Run("apply/"+kind.name, func(b *testing.B) {
					i := 0
					for b.Loop() {
						i++
						apply(i)
					}
				})
				b.Run("apply-nothing/"+kind.name, func(b *testing.B) {
					apply(0)
					for b.Loop() {
						apply(0)
					}
				})
				continue
			}
			b.Run("patch-tracked/"+kind.name, func(b *testing.B) {
				i := 0
				for b.Loop() {
					i++
					must(b, s, "PATCH", kind.path, mergeType, fmt.Sprintf(`{"metadata":{"annotations":{"n":"%d"}}}`, i))
				}
			})
		}
	}
}

// BenchmarkFirstApply is the first apply to an object that ten updates have changed before.
func BenchmarkFirstApply(b *testing.B) {
	s := newServer(b, widgets())
	must(b, s, "PATCH", "/apis/apps/v1/namespaces/default/deployments/d?fieldManager=one", applyType,
		fmt.Sprintf(deployment, 0))
	for i := 0; b.Loop(); i++ {
		name := fmt.Sprintf("%s/c%d", configDir, i)
		must(b, s, "POST", configDir, jsonType, configBody(fmt.Sprintf("c%d", i), 100))
		for j := range 10 {
			must(b, s, "PATCH", name, mergeType, fmt.Sprintf(`{"data":{"k":"%d"}}`, j))
		}
		must(b, s, "PATCH", name+"?fieldManager=one", applyType,
			fmt.Sprintf(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c%d"},"data":{"x":"y"}}`, i))
	}
}
