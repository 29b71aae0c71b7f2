package apiserver

import (
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

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
	case "pods/eviction":
		return serveEviction(r)
	case "serviceaccounts/token":
		return serveToken(r)
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
