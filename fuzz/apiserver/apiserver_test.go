// Package apiserver fuzzes the API model with raw requests.
package apiserver

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/url"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/wavetank/wavetank/models/apiserver"
)

// definition is a custom type whose schema has something of everything: defaults, lists, rules,
// free parts.
var definition = func() *apiextensionsv1.CustomResourceDefinition {
	const text = `{"metadata":{"name":"things.fuzz.dev"},"spec":{"group":"fuzz.dev","scope":"Namespaced",
	"names":{"kind":"Thing","plural":"things"},"versions":[{"name":"v1","served":true,"storage":true,
	"subresources":{"status":{},"scale":{"specReplicasPath":".spec.replicas","statusReplicasPath":".status.replicas"}},
	"schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":{"type":"object","properties":{
	"replicas":{"type":"integer"},"mode":{"type":"string","default":"slow","enum":["slow","fast"]},
	"set":{"type":"array","x-kubernetes-list-type":"set","items":{"type":"string"}},
	"map":{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["k"],
		"items":{"type":"object","required":["k"],"properties":{"k":{"type":"string"}}}},
	"free":{"type":"object","x-kubernetes-preserve-unknown-fields":true}},
	"x-kubernetes-validations":[{"rule":"!has(self.replicas) || self.replicas >= 0"}]},
	"status":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}}}]}}`
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := json.Unmarshal([]byte(text), crd); err != nil {
		panic(err)
	}
	return crd
}()

var (
	methods      = []string{"GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"}
	contentTypes = []string{
		"application/json", "application/merge-patch+json", "application/json-patch+json",
		"application/strategic-merge-patch+json", "application/yaml", "application/apply-patch+yaml", "", "text/plain",
	}
	accepts = []string{
		"application/json", "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1",
		"application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1",
		"application/json;as=Table;g=meta.k8s.io;v=v1",
		"application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList",
	}
)

// seedRequests are one request of each kind: method, path, content type, accept, body.
var seedRequests = []struct {
	method, contentType, accept uint8
	path, body                  string
}{
	{0, 0, 0, "/api/v1/namespaces/default/configmaps/a", ""},
	{0, 0, 1, "/api/v1/namespaces/default/configmaps/a", ""},
	{0, 0, 2, "/apis/fuzz.dev/v1/things?limit=1&labelSelector=a+in+(b)&fieldSelector=metadata.name!%3Dx", ""},
	{0, 0, 0, "/apis/fuzz.dev/v1/things?watch=1&resourceVersion=2&allowWatchBookmarks=true", ""},
	{0, 0, 0, "/apis/fuzz.dev/v1/things?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan", ""},
	{0, 0, 0, "/apis/fuzz.dev/v1/things?continue=eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6NSwic3RhcnQiOiIvYVx1MDAwMCJ9", ""},
	{0, 0, 4, "/apis", ""},
	{1, 0, 0, "/api/v1/namespaces/default/secrets", `{"metadata":{"generateName":"s-"},"stringData":{"a":"b"}}`},
	{1, 4, 0, "/api/v1/namespaces/default/secrets", "metadata: {name: y}\ndata: {a: YQ==}\n"},
	{1, 0, 0, "/apis/fuzz.dev/v1/namespaces/default/things?dryRun=All&fieldValidation=Strict",
		`{"kind":"Thing","apiVersion":"fuzz.dev/v1","metadata":{"name":"b","finalizers":["a/b"]},` +
			`"spec":{"map":[{"k":"1"}],"set":["a"],"nope":1}}`},
	{1, 0, 0, "/apis/apps/v1/namespaces/default/deployments",
		`{"metadata":{"name":"d"},"spec":{"selector":{"matchLabels":{"a":"b"}},` +
			`"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"x"}]}}}}`},
	{1, 0, 0, "/apis/batch/v1/namespaces/default/jobs",
		`{"metadata":{"name":"j"},"spec":{"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"c",` +
			`"image":"x"}]}}}}`},
	{1, 0, 0, "/api/v1/namespaces/default/services",
		`{"metadata":{"name":"s"},"spec":{"type":"NodePort","ports":[{"port":80}]}}`},
	{2, 0, 0, "/apis/fuzz.dev/v1/namespaces/default/things/t",
		`{"kind":"Thing","apiVersion":"fuzz.dev/v1","metadata":{"name":"t","resourceVersion":"7"},` +
			`"spec":{"replicas":1}}`},
	{2, 0, 0, "/apis/fuzz.dev/v1/namespaces/default/things/t/scale", `{"metadata":{"name":"t"},"spec":{"replicas":3}}`},
	{2, 0, 0, "/api/v1/namespaces/default/finalize", `{"metadata":{"name":"default"},"spec":{"finalizers":[]}}`},
	{3, 1, 0, "/apis/fuzz.dev/v1/namespaces/default/things/t",
		`{"metadata":{"labels":{"a":"b"},"finalizers":null},"spec":{"free":{"x":[1,2.5,null]},"mode":null}}`},
	{3, 1, 0, "/apis/fuzz.dev/v1/namespaces/default/things/t/status", `{"status":{"replicas":2}}`},
	{3, 2, 0, "/apis/fuzz.dev/v1/namespaces/default/things/t",
		`[{"op":"add","path":"/spec/free","value":{"a":1}},{"op":"move","from":"/spec/mode","path":"/spec/free/m"}]`},
	{3, 3, 0, "/api/v1/namespaces/default/configmaps/a",
		`{"data":{"$patch":"replace","k":"v"},"metadata":{"finalizers":["a/b"],` +
			`"$deleteFromPrimitiveList/finalizers":["c/d"]}}`},
	{3, 3, 0, "/api/v1/namespaces/default/pods/p",
		`{"spec":{"$setElementOrder/containers":[{"name":"c"}],"containers":[{"name":"c","image":"y"}]}}`},
	{3, 5, 0, "/api/v1/namespaces/default/configmaps/a", "metadata: {name: a}"},
	{4, 0, 0, "/apis/fuzz.dev/v1/namespaces/default/things/t?propagationPolicy=Foreground", ""},
	{4, 0, 0, "/api/v1/namespaces/default/configmaps",
		`{"kind":"DeleteOptions","apiVersion":"v1","preconditions":{"uid":"x"},"gracePeriodSeconds":-1}`},
	{4, 0, 0, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/things.fuzz.dev", ""},
}

// FuzzAPIServer sends raw requests to the API model: whatever comes, it answers, with a status that
// HTTP knows and a body that is JSON, and its history stays in step with what it says it changed.
func FuzzAPIServer(f *testing.F) {
	for _, r := range seedRequests {
		f.Add(r.method, r.contentType, r.accept, r.path, []byte(r.body))
	}
	f.Fuzz(func(t *testing.T, method, contentType, accept uint8, path string, body []byte) {
		u, err := url.Parse(path)
		if err != nil || len(body) > 1<<16 {
			return
		}
		s := world(t)
		request := &apiserver.Request{
			Method: methods[int(method)%len(methods)],
			URL:    u,
			Header: http.Header{
				"Content-Type": {contentTypes[int(contentType)%len(contentTypes)]},
				"Accept":       {accepts[int(accept)%len(accepts)]},
			},
			Body: body,
		}
		// The second time meets what the first has left.
		for range 2 {
			send(t, s, request)
		}
	})
}

// world is a small cluster with an object of a few kinds.
func world(t *testing.T) *apiserver.Server {
	now := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	s := apiserver.New(apiserver.Options{Now: func() time.Time { return now }})
	if err := s.Install(definition); err != nil {
		t.Fatal(err)
	}
	for path, body := range map[string]string{
		"/api/v1/namespaces/default/configmaps": `{"metadata":{"name":"a","labels":{"x":"y"}},"data":{"k":"v"}}`,
		"/apis/fuzz.dev/v1/namespaces/default/things": `{"kind":"Thing","apiVersion":"fuzz.dev/v1",` +
			`"metadata":{"name":"t","finalizers":["a/b"]},"spec":{"replicas":1}}`,
		"/api/v1/namespaces/default/pods": `{"metadata":{"name":"p"},"spec":{"containers":[{"name":"c",` +
			`"image":"x"}]}}`,
	} {
		u := &url.URL{Path: path}
		create := &apiserver.Request{Method: "POST", URL: u, Header: http.Header{}, Body: []byte(body)}
		if r := s.Handle(create); r.Code != http.StatusCreated {
			t.Fatalf("%s: %s", path, r.Body)
		}
	}
	return s
}

func send(t *testing.T, s *apiserver.Server, request *apiserver.Request) {
	before := s.Revision()
	r := s.Handle(request)
	if http.StatusText(r.Code) == "" {
		t.Fatalf("status %d", r.Code)
	}
	if got := s.Revision() - before; got != int64(len(r.Changes)) {
		t.Fatalf("%d revisions for %d changes", got, len(r.Changes))
	}
	for _, change := range r.Changes {
		if !json.Valid(change.Object) || change.Previous != nil && !json.Valid(change.Previous) {
			t.Fatalf("change %s", change.Object)
		}
	}
	switch {
	case r.Watch != nil:
		for range 1000 {
			f, ok := r.Watch.Next()
			if !ok {
				return
			}
			if !json.Valid(f.Data) {
				t.Fatalf("frame %s", f.Data)
			}
		}
		t.Fatal("a watch without end")
	case r.Header.Get("Content-Type") == "text/plain; charset=utf-8":
	case !json.Valid(bytes.TrimSpace(r.Body)):
		t.Fatalf("%d %q", r.Code, r.Body)
	}
}
