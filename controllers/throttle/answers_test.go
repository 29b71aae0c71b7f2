// This file is about what the fixed variant takes the API server's answers for.

package throttle

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
)

// server answers every request with a code and a text.
type server func(*http.Request) (int, string)

func (s server) RoundTrip(r *http.Request) (*http.Response, error) {
	code, body := s(r)
	header := http.Header{"Content-Type": {"text/plain"}}
	if strings.HasPrefix(body, "{") {
		header.Set("Content-Type", "application/json")
	}
	return &http.Response{StatusCode: code, Header: header, Body: io.NopCloser(strings.NewReader(body)),
		Request: r}, nil
}

// newKeeper is one incarnation of the fixed variant beside such a server.
func newKeeper(t *testing.T, s server, handlers ...Handler) *keeper {
	t.Helper()
	p, err := V4.policy()
	if err != nil {
		t.Fatal(err)
	}
	client, err := dynamic.NewForConfig(&rest.Config{Host: "http://api.example", Transport: s, QPS: -1})
	if err != nil {
		t.Fatal(err)
	}
	return &keeper{
		Operator: &Operator{Handlers: handlers}, policy: p, client: client, objects: map[types.UID]*object{},
		die: func(error) {},
	}
}

// newObject is what is remembered of an object that was not heard of.
func newObject() *object {
	return &object{events: make(chan *unstructured.Unstructured, 1), cancel: func() {}}
}

// thing is an object as the watch shows it.
func thing(uid types.UID) *unstructured.Unstructured {
	o := &unstructured.Unstructured{}
	o.SetAPIVersion("kopf.dev/v1")
	o.SetKind("KopfExample")
	o.SetNamespace("default")
	o.SetName("thing")
	o.SetUID(uid)
	o.SetResourceVersion("1")
	o.SetGeneration(1)
	return o
}

func encoded(t *testing.T, o *unstructured.Unstructured) string {
	t.Helper()
	data, err := o.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// notFound is an answer of 404 with these details.
func notFound(details string) string {
	return `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"NotFound","code":404,` +
		`"message":"not found","details":` + details + `}`
}

const noThing = `{"name":"thing","group":"kopf.dev","kind":"kopfexamples"}`

func TestOnlyA404AboutTheObjectSaysThatItHasVanished(t *testing.T) {
	for name, c := range map[string]struct {
		code     int
		body     string
		vanished bool
	}{
		"it is not found":          {404, notFound(noThing), true},
		"another one has its name": {200, encoded(t, thing("another")), true},
		"it is there":              {200, encoded(t, thing("one")), false},
		"the kind is not served":   {404, notFound(`{}`), false},
		"the path is not known":    {404, "404 page not found\n", false},
		"no details":               {404, notFound(`null`), false},
		"its namespace":            {404, notFound(`{"name":"default","kind":"namespaces"}`), false},
		"something else's name": {404, notFound(`{"name":"other","group":"kopf.dev","kind":"kopfexamples"}`),
			false},
		"a name in another group": {404, notFound(`{"name":"thing","group":"example.com","kind":"kopfexamples"}`),
			false},
		"nobody who knows it answers": {404,
			notFound(`{"name":"thing","group":"kopf.dev","kind":"kopfexamples",` +
				`"causes":[{"reason":"UnexpectedServerResponse"}]}`), false},
	} {
		k := newKeeper(t, func(*http.Request) (int, string) { return c.code, c.body })
		_, err := k.latest(t.Context(), thing("one"))
		if got := errors.Is(err, errVanished); got != c.vanished || (err == nil) != (c.code == 200 && !c.vanished) {
			t.Errorf("%s: vanished: %v, want %v: %v", name, got, c.vanished, err)
		}
	}
}
