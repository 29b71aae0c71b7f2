package apiserver

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"

	"github.com/wavetank/wavetank/models/apiserver/internal/object"
	"github.com/wavetank/wavetank/models/apiserver/internal/registry"
)

// Request is one HTTP request to the API server. The body has been read already.
type Request struct {
	Method string
	URL    *url.URL
	Header http.Header
	Body   []byte
	// User and Groups are the authenticated identity, which models of admission and authorisation
	// judge by. A ServiceAccount is a user too: "system:serviceaccount:<namespace>:<name>". UID, if
	// set, is the account that the credential was made for: an account of the same name that was
	// created later is another one. Extra is further information about the user.
	User   string
	Groups []string
	UID    string
	Extra  map[string][]string
	// AsOf, when not 0, is how far the watch cache has come of the server that is asked: what may
	// be answered from it (see [Server.FromCache]) is answered as of that revision.
	AsOf int64

	target *target
}

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

// resolve finds the kind and version that a request names. It refuses paths that a real server does
// not route: an unknown group is an unknown path, within a known group it is an unknown resource.
func resolve(kinds *registry.Registry, method string, info Info) (*registry.Kind, *object.Version, error) {
	k := kinds.ByResource(info.Group, info.Resource)
	if k == nil {
		return nil, nil, noRoute(info)
	}
	v := k.Version(info.Version)
	if v == nil {
		return nil, nil, noRoute(info)
	}
	if method == http.MethodHead {
		return nil, nil, errNoSuchVerb
	}
	if !k.Namespaced && info.Namespace != "" {
		return nil, nil, noRoute(info)
	}
	collection := info.Name == "" || info.Verb == "list" || info.Verb == "watch"
	if k.Namespaced && info.Namespace == "" && info.Verb != "list" && info.Verb != "watch" {
		if k.Builtin && collection {
			return nil, nil, errNoSuchVerb
		}
		return nil, nil, noRoute(info)
	}
	if info.Subresource != "" {
		return k, v, nil
	}
	if !k.Builtin && info.Verb == "create" && info.Name != "" {
		return nil, nil, apierrors.NewMethodNotSupported(k.GroupResource(), info.Verb)
	}
	onCollection := slices.Contains([]string{"create", "list", "watch", "deletecollection"}, info.Verb)
	if collection != onCollection || !k.Allows(info.Verb) {
		return nil, nil, errNoSuchVerb
	}
	return k, v, nil
}

// noRoute is the answer to a path that names no resource.
func noRoute(info Info) error {
	if slices.Contains(registry.Unmodelled[info.Group], info.Resource) {
		return NotModelled("%s of group %q", info.Resource, info.Group)
	}
	if info.Group == "autoscaling" && info.Version == "v1" {
		return NotModelled("autoscaling/v1: use autoscaling/v2")
	}
	for _, k := range registry.Builtins().Order {
		if k.Group == info.Group {
			return errNoSuchResource
		}
	}
	return errNoSuchPath
}
