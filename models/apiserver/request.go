package apiserver

import (
	"net/url"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/wavetank/wavetank/models/apiserver/internal/object"
	"github.com/wavetank/wavetank/models/apiserver/internal/registry"
	"github.com/wavetank/wavetank/models/apiserver/internal/store"
)

// request is one request with what it is about. Verbs are functions of it, and it never changes.
type request struct {
	*Request
	s     *Server
	query url.Values
	info  Info
	kind  *registry.Kind
	ver   *object.Version
	reply replyForm
	*effects
}

func (r *request) table() *store.Table[*object.Object] { return r.s.table(r.kind.Type) }

func (r *request) lookup(name string) (*object.Object, bool) {
	return r.table().Get(object.Key(r.info.Namespace, name))
}

// stored is the object that the request names.
func (r *request) stored() (*object.Object, error) {
	if o, exists := r.lookup(r.info.Name); exists {
		return o, nil
	}
	return nil, r.notFound()
}

func (r *request) notFound() error {
	return apierrors.NewNotFound(r.kind.GroupResource(), r.info.Name)
}
