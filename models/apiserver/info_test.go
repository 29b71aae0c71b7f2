package apiserver

import (
	"net/url"
	"testing"
)

// A copy of a request may get another method or URL, as that of a client which asks for the object
// that it has patched.
func TestRequestInfoIsOfItsMethodAndURL(t *testing.T) {
	r := Request{Method: "PATCH", URL: &url.URL{Path: "/api/v1/namespaces/default/configmaps/a"}}
	if info, ok := r.Info(); !ok || info.Verb != "patch" || info.Name != "a" {
		t.Errorf("PATCH of a: %+v", info)
	}
	get := r
	get.Method = "GET"
	if info, _ := get.Info(); info.Verb != "get" {
		t.Errorf("after the method has changed, the verb is %s", info.Verb)
	}
	get.URL = &url.URL{Path: "/api/v1/namespaces/default/configmaps", RawQuery: "watch=1"}
	if info, _ := get.Info(); info.Verb != "watch" || info.Name != "" {
		t.Errorf("after the URL has changed: %+v", info)
	}
	if _, ok := (&Request{Method: "GET", URL: &url.URL{Path: "/version"}}).Info(); ok {
		t.Error("/version is taken for a resource")
	}
}
