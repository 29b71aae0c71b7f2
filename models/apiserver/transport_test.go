package apiserver_test

import (
	"bytes"
	"io"
	"net/http"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/wavetank/wavetank/models/apiserver"
)

// transport serves a client from a model in the caller's goroutine. A watch ends where history
// ends.
type transport struct{ server *apiserver.Server }

func (t transport) RoundTrip(r *http.Request) (*http.Response, error) {
	var body []byte
	if r.Body != nil {
		var err error
		if body, err = io.ReadAll(r.Body); err != nil {
			return nil, err
		}
	}
	header, body, err := apiserver.JSONBody(r.Header, body)
	if err != nil {
		return nil, err
	}
	resp := t.server.Handle(&apiserver.Request{Method: r.Method, URL: r.URL, Header: header, Body: body})
	contentType, out := resp.Sent()
	if resp.Watch != nil {
		for f, ok := resp.Watch.Next(); ok; f, ok = resp.Watch.Next() {
			out = append(out, f.Data...)
		}
	}
	return &http.Response{
		StatusCode: resp.Code,
		Header:     http.Header{"Content-Type": {contentType}},
		Body:       io.NopCloser(bytes.NewReader(out)),
		Request:    r,
	}, nil
}

// clock is a test's clock: it starts in 2030 and moves when told.
type clock struct{ now time.Time }

func newClock() *clock { return &clock{time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)} }

func (c *clock) Now() time.Time { return c.now }

func newServer(t testing.TB, crds ...*apiextensionsv1.CustomResourceDefinition) *apiserver.Server {
	t.Helper()
	s := apiserver.New(apiserver.Options{Now: newClock().Now, Seed: 1})
	if err := s.Install(crds...); err != nil {
		t.Fatal(err)
	}
	return s
}

func restConfig(s *apiserver.Server) *rest.Config {
	return &rest.Config{
		Host: "http://model", Transport: transport{s}, QPS: -1,
	}
}

var testScheme = func() *runtime.Scheme {
	s := runtime.NewScheme()
	if err := clientgoscheme.AddToScheme(s); err != nil {
		panic(err)
	}
	if err := apiextensionsv1.AddToScheme(s); err != nil {
		panic(err)
	}
	return s
}()

func newClient(t testing.TB, s *apiserver.Server) client.Client {
	t.Helper()
	c, err := client.New(restConfig(s), client.Options{Scheme: testScheme, Mapper: s.Mapper()})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// widgets is a custom type with a status and a scale subresource and a small schema.
func widgets() *apiextensionsv1.CustomResourceDefinition {
	return definition("test.wavetank.dev", "Widget", "widgets")
}

func definition(group, kind, plural string) *apiextensionsv1.CustomResourceDefinition {
	minimum := 0.0
	object := func(props map[string]apiextensionsv1.JSONSchemaProps) apiextensionsv1.JSONSchemaProps {
		return apiextensionsv1.JSONSchemaProps{Type: "object", Properties: props}
	}
	spec := object(map[string]apiextensionsv1.JSONSchemaProps{
		"size":     {Type: "integer", Minimum: &minimum},
		"color":    {Type: "string", Enum: []apiextensionsv1.JSON{{Raw: []byte(`"red"`)}, {Raw: []byte(`"blue"`)}}},
		"mode":     {Type: "string", Default: &apiextensionsv1.JSON{Raw: []byte(`"slow"`)}},
		"replicas": {Type: "integer", Format: "int32"},
		"payload":  {Type: "string"},
		"tags": {Type: "object", AdditionalProperties: &apiextensionsv1.JSONSchemaPropsOrBool{
			Allows: true, Schema: &apiextensionsv1.JSONSchemaProps{Type: "string"}}},
	})
	status := object(map[string]apiextensionsv1.JSONSchemaProps{
		"phase":    {Type: "string"},
		"replicas": {Type: "integer", Format: "int32"},
		"selector": {Type: "string"},
	})
	root := object(map[string]apiextensionsv1.JSONSchemaProps{"spec": spec, "status": status})
	selector := ".status.selector"
	crd := &apiextensionsv1.CustomResourceDefinition{}
	crd.Name = plural + "." + group
	crd.Spec = apiextensionsv1.CustomResourceDefinitionSpec{
		Group: group,
		Scope: apiextensionsv1.NamespaceScoped,
		Names: apiextensionsv1.CustomResourceDefinitionNames{Kind: kind, Plural: plural,
			ShortNames: []string{plural[:2]}},
		Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
			Name: "v1", Served: true, Storage: true,
			Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &root},
			Subresources: &apiextensionsv1.CustomResourceSubresources{
				Status: &apiextensionsv1.CustomResourceSubresourceStatus{},
				Scale: &apiextensionsv1.CustomResourceSubresourceScale{
					SpecReplicasPath: ".spec.replicas", StatusReplicasPath: ".status.replicas",
					LabelSelectorPath: &selector,
				},
			},
			SelectableFields: []apiextensionsv1.SelectableField{{JSONPath: ".spec.color"}},
		}},
	}
	return crd
}
