package apiserver

import (
	"net/http"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/wavetank/wavetank/models/apiserver/internal/object"
	"github.com/wavetank/wavetank/models/apiserver/internal/registry"
)

// resolve finds the kind and version that a request names. It refuses paths that a real server does
// not route: an unknown group is an unknown path, within a known group it is an unknown resource.
func (s *Server) resolve(method string, info Info) (*registry.Kind, *object.Version, error) {
	k := s.registry.ByResource(info.Group, info.Resource)
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
