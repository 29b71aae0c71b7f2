package apiserver

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
)

// Info says what a request is about: the verb and the resource that kube-apiserver's authorisation
// would see.
type Info struct {
	// Verb is get, list, watch, create, update, patch, delete or deletecollection.
	Verb        string
	Group       string
	Version     string
	Resource    string
	Subresource string
	// Namespace is empty for requests across all namespaces and for resources without one,
	// Namespaces included.
	Namespace string
	// Name is empty for collections and for creation; a list or watch of exactly one name by field
	// selector has it.
	Name string
}

// target is what a request's method and URL say. They are parsed once.
type target struct {
	method string
	url    *url.URL
	info   Info
	// known is false for a path that names no resource.
	known bool
	query url.Values
}

// parse returns the target of the request.
func (r *Request) parse() *target {
	if t := r.target; t == nil || t.method != r.Method || t.url != r.URL {
		t = &target{method: r.Method, url: r.URL}
		if r.URL.RawQuery != "" {
			t.query = r.URL.Query()
		}
		t.info, t.known = parseInfo(r.Method, r.URL.Path, t.query)
		r.target = t
	}
	return r.target
}

// Info is what the request is about; it is false for paths that name no resource, such as /apis,
// /version and /openapi.
func (r *Request) Info() (Info, bool) {
	t := r.parse()
	return t.info, t.known
}

// parseInfo reads a request's path as kube-apiserver does. The rules are those of
// staging/src/k8s.io/apiserver/pkg/endpoints/request/requestinfo.go.
func parseInfo(method, path string, query url.Values) (Info, bool) {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	var info Info
	switch {
	case parts[0] == "api" && len(parts) >= 3:
		info.Version, parts = parts[1], parts[2:]
	case parts[0] == "apis" && len(parts) >= 4:
		info.Group, info.Version, parts = parts[1], parts[2], parts[3:]
	default:
		return Info{}, false
	}
	info.Verb = methodVerb(method)
	if parts[0] == "watch" {
		if len(parts) < 2 {
			return Info{}, false
		}
		info.Verb, parts = "watch", parts[1:]
	}
	parts = info.readNamespace(parts)
	info.Resource = parts[0]
	if len(parts) > 1 {
		info.Name = parts[1]
	}
	if len(parts) > 2 {
		info.Subresource = strings.Join(parts[2:], "/")
	}
	if info.Name == "" {
		info.readCollectionVerb(query)
	}
	return info, true
}

func methodVerb(method string) string {
	switch method {
	case http.MethodPost:
		return "create"
	case http.MethodGet, http.MethodHead:
		return "get"
	case http.MethodPut:
		return "update"
	case http.MethodPatch:
		return "patch"
	case http.MethodDelete:
		return "delete"
	default:
		return ""
	}
}

func (i *Info) readNamespace(parts []string) []string {
	if parts[0] != "namespaces" || len(parts) < 3 || parts[2] == "status" || parts[2] == "finalize" {
		return parts
	}
	i.Namespace = parts[1]
	return parts[2:]
}

func (i *Info) readCollectionVerb(query url.Values) {
	switch i.Verb {
	case "delete":
		i.Verb = "deletecollection"
	case "get":
		i.Verb = "list"
		if values := query["watch"]; len(values) > 0 && values[0] != "0" && !strings.EqualFold(values[0], "false") {
			i.Verb = "watch"
		}
		if text := query.Get("fieldSelector"); text != "" {
			if selector, err := fields.ParseSelector(text); err == nil {
				i.Name, _ = selector.RequiresExactMatch("metadata.name")
			}
		}
	}
}

// matchNamespace makes the object's namespace that of the request, or refuses a contradiction
// (staging/src/k8s.io/apiserver/pkg/registry/rest/meta.go).
func (i Info) matchNamespace(meta *metav1.ObjectMeta) error {
	want := i.Namespace
	switch {
	case meta.Namespace == want:
	case meta.Namespace == "", want == "":
		meta.Namespace = want
	default:
		return apierrors.NewBadRequest(
			"the namespace of the provided object does not match the namespace sent on the request")
	}
	return nil
}

func (i Info) matchName(meta *metav1.ObjectMeta) error {
	if meta.Name == "" {
		return apierrors.NewBadRequest(fmt.Sprintf("the name of the object (%s based on URL) was undeterminable: %v",
			i.Name, "name must be provided"))
	}
	return i.matchNameOnURL(meta.Name)
}

func (i Info) matchNameOnURL(name string) error {
	if name == i.Name {
		return nil
	}
	return apierrors.NewBadRequest(fmt.Sprintf(
		"the name of the object (%s) does not match the name on the URL (%s)", name, i.Name))
}
