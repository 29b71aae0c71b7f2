package apiserver

import (
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/wavetank/wavetank/models/apiserver/internal/object"
)

// SetAuthorizer puts an authorizer in front of the server.
func (s *Server) SetAuthorizer(a Authorizer) { s.authorizer = a }

// mayCreate asks whether the sender of an update or an apply that finds nothing may create, too
// (withAuthorization in staging/src/k8s.io/apiserver/pkg/endpoints/handlers/update.go).
func (r *request) mayCreate() error {
	if r.s.authorizer == nil {
		return nil
	}
	info := r.info
	info.Verb = "create"
	_, err := r.s.authorizer.Authorize(r.Request, info)
	return err
}

// grants asks whether the sender may write a role or a binding; old is nil when there is none yet
// (pkg/registry/rbac/*/policybased/storage.go in the Kubernetes tree).
func (r *request) grants(draft, old *object.Object) error {
	if r.s.authorizer == nil || r.kind.Group != "rbac.authorization.k8s.io" {
		return nil
	}
	var before runtime.Object
	if old != nil {
		before = old.Typed
	}
	return r.s.authorizer.Grant(r.Request, r.info, draft.Typed, before)
}
