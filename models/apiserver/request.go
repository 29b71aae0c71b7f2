package apiserver

import (
	"net/url"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

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

// effects are what a request brings about besides its response.
type effects struct {
	warnings []string
	changes  []Change
	// ask calls webhooks and waits for them; nil for a request that asks nobody. waited says that
	// it has waited, and turns counts the answers.
	ask    func([]*WebhookCall)
	waited bool
	turns  int
}

// warn adds a warning to the response, once.
func (e *effects) warn(text string) {
	if !slices.Contains(e.warnings, text) {
		e.warnings = append(e.warnings, text)
	}
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

// objectResponse is the reply that carries one object.
func (r *request) objectResponse(code int, o *object.Object) *Response {
	if r.reply.table {
		return r.tableOf(metav1.ListMeta{ResourceVersion: o.Meta.ResourceVersion}, []*object.Object{o})
	}
	e := o.As(r.reply.View)
	resp := jsonResponse(code, e.JSON)
	resp.shown = shown{objects: []*object.Encoded{e}}
	return resp
}
