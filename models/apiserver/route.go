package apiserver

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/wavetank/wavetank/models/apiserver/internal/object"
	"github.com/wavetank/wavetank/models/apiserver/internal/registry"
)

// maxBody is kube-apiserver's limit on a request body
// (staging/src/k8s.io/apiserver/pkg/server/config.go).
const maxBody = 3 * 1024 * 1024

// perform finds what the request is about and does it.
func (s *Server) perform(req *Request, info Info, e *effects) (*Response, error) {
	r := &request{Request: req, s: s, query: req.parse().query, info: info, effects: e}
	var err error
	if r.kind, r.ver, err = resolve(&s.registry, req.Method, info); err != nil {
		return nil, err
	}
	if r.reply, err = r.negotiate(); err != nil {
		return nil, err
	}
	if len(req.Body) > maxBody {
		return nil, apierrors.NewRequestEntityTooLargeError(fmt.Sprintf("limit is %d", maxBody))
	}
	if r.ver.Warning != "" {
		r.warn(r.ver.Warning)
	}
	if info.Subresource != "" {
		return serveSubresource(r)
	}
	if info.Verb == "create" && r.kind.Group == registry.ReviewGroup {
		return serveReview(r)
	}
	if serve := verbs[info.Verb]; serve != nil {
		return serve(r)
	}
	return nil, errNoSuchVerb
}

// verbs serve the requests for objects and collections. A verb is a function of its request.
var verbs = map[string]func(*request) (*Response, error){
	"get": serveGet, "list": serveList, "watch": serveWatch, "create": serveCreate, "update": serveUpdate,
	"patch": servePatch, "delete": serveDelete, "deletecollection": serveDeleteCollection,
}

func serveSubresource(r *request) (*Response, error) {
	sub := r.ver.Subresource(r.info.Subresource)
	if sub == nil {
		if !r.kind.Builtin {
			return nil, r.notFound()
		}
		// A proxy's path continues after its name.
		name, _, _ := strings.Cut(r.info.Subresource, "/")
		if slices.Contains(r.kind.Strategy.Unmodelled, name) {
			return nil, NotModelled("subresource %q of %s", r.info.Subresource, r.kind.Plural)
		}
		return nil, errNoSuchResource
	}
	if !slices.Contains(sub.Verbs, r.info.Verb) {
		if !r.kind.Builtin {
			return nil, apierrors.NewMethodNotSupported(r.kind.GroupResource(), r.info.Verb)
		}
		return nil, errNoSuchVerb
	}
	switch r.kind.Plural + "/" + sub.Name {
	case "namespaces/finalize":
		return serveFinalize(r)
	case "pods/binding":
		return serveBinding(r)
	}
	if sub.Scale != nil {
		return serveScale(r, sub.Scale)
	}
	switch r.info.Verb {
	case "get", "update", "patch":
		return verbs[r.info.Verb](r)
	}
	return nil, NotModelled("verb %s on subresource %q of %s", r.info.Verb, sub.Name, r.kind.Plural)
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
