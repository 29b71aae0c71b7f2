package apiserver

import (
	"iter"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/wavetank/wavetank/models/apiserver/internal/object"
	"github.com/wavetank/wavetank/models/apiserver/internal/registry"
)

// SetAuthorizer puts an authorizer in front of the server.
func (s *Server) SetAuthorizer(a Authorizer) { s.authorizer = a }

// Typed is a stored object of a built-in type, or nil. It is the store's own and must not be
// changed.
func (s *Server) Typed(group, resource, namespace, name string) runtime.Object {
	k := registry.Builtins().ByResource[group+"/"+resource]
	if k == nil {
		return nil
	}
	o, ok := s.table(k.Type).Get(object.Key(namespace, name))
	if !ok {
		return nil
	}
	return o.Typed
}

// EachTyped are the stored objects of a built-in type, of one namespace or of all for "", ordered
// by namespace and name. They are the store's own and must not be changed.
func (s *Server) EachTyped(group, resource, namespace string) iter.Seq[runtime.Object] {
	return func(yield func(runtime.Object) bool) {
		k := registry.Builtins().ByResource[group+"/"+resource]
		if k == nil {
			return
		}
		prefix := ""
		if namespace != "" {
			prefix = namespace + "/"
		}
		for _, o := range s.table(k.Type).Range(prefix, "") {
			if !yield(o.Typed) {
				return
			}
		}
	}
}

// mayCreate asks whether the sender of an update or an apply that finds nothing may create, too
// (withAuthorization in staging/src/k8s.io/apiserver/pkg/endpoints/handlers/update.go).
func (w *write) mayCreate() error {
	if w.s.authorizer == nil || !w.upsert {
		return nil
	}
	info := w.info
	info.Verb = "create"
	_, err := w.s.authorizer.Authorize(w.Request, info)
	return err
}

// grants asks whether the sender may write a role or a binding; old is nil when there is none yet
// (pkg/registry/rbac/*/policybased/storage.go in the Kubernetes tree).
func (w *write) grants(draft, old *object.Object) error {
	if w.s.authorizer == nil || w.kind.Group != "rbac.authorization.k8s.io" {
		return nil
	}
	var before runtime.Object
	if old != nil {
		before = old.Typed
	}
	return w.s.authorizer.Grant(w.Request, w.info, draft.Typed, before)
}
