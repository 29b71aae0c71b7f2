package apiserver

import (
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wavetank/wavetank/models/apiserver/internal/registry"
)

// serveReview answers a review (pkg/registry/authorization in the Kubernetes tree).
func serveReview(r *request) (*Response, error) {
	if r.s.authorizer == nil {
		return nil, NotModelled("%s of a server that has no authorizer", r.kind.Plural)
	}
	w, err := r.createWrite()
	if err != nil {
		return nil, err
	}
	draft, err := decodeBody(w)
	if err != nil {
		return nil, err
	}
	if err := w.info.matchNamespace(draft.Meta); err != nil {
		return nil, err
	}
	if errs := w.kind.Strategy.Validate(draft.Typed); len(errs) > 0 {
		return nil, apierrors.NewInvalid(schema.GroupKind{Group: registry.ReviewGroup}, "",
			errs) // the real server forgets the kind, too
	}
	if err := w.s.authorizer.Review(w.Request, draft.Typed); err != nil {
		return nil, err
	}
	return jsonResponse(http.StatusCreated, draft.Encode()), nil
}
