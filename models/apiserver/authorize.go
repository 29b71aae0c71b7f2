package apiserver

import (
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/wavetank/wavetank/models/apiserver/internal/object"
)

// SetAuthorizer puts an authorizer in front of the server.
func (s *Server) SetAuthorizer(a Authorizer) { s.authorizer = a }

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
