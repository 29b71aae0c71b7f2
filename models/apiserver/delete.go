package apiserver

import (
	"errors"
	"net/http"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	kjson "sigs.k8s.io/json"

	"github.com/wavetank/wavetank/models/apiserver/internal/object"
)

// serveDelete removes an object, or marks it when something still has to happen first.
func serveDelete(r *request) (*Response, error) {
	w, opts, err := r.deleteWrite()
	if err != nil {
		return nil, err
	}
	o, err := r.stored()
	if err != nil {
		return nil, err
	}
	if err := w.admitDelete(o, opts); err != nil {
		return nil, err
	}
	strategy, orphan := r.kind.Strategy, opts.OrphanDependents //nolint:staticcheck // deprecated, still served
	if strategy != nil && strategy.DeleteWarning != "" && opts.PropagationPolicy == nil && orphan == nil {
		r.warn(strategy.DeleteWarning)
	}
	last, gone, err := w.deleteAny(o, opts)
	if err != nil {
		return nil, err
	}
	code := http.StatusOK
	if !gone && orphan != nil && !*orphan {
		code = http.StatusAccepted
	}
	// An object that is marked but not gone is shown; one that is gone is reported by a Status,
	// except for the types that return it (registry/generic/registry/store.go, finalizeDelete).
	if gone && (strategy == nil || !strategy.ReturnsDeleted) {
		return jsonResponse(code, object.Marshal(r.deletedStatus(last))), nil
	}
	return r.reply.object(code, last), nil
}

func (r *request) deletedStatus(o *object.Object) metav1.Status {
	return metav1.Status{
		TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"},
		Status:   metav1.StatusSuccess,
		Details: &metav1.StatusDetails{
			Name:  o.Meta.Name,
			Group: r.kind.Group,
			Kind:  r.kind.Plural,
			UID:   o.Meta.UID,
		},
	}
}

// deleteWrite reads what a deletion says: its options come from the body when there is one, else
// from the query.
func (r *request) deleteWrite() (*write, *metav1.DeleteOptions, error) {
	opts := &metav1.DeleteOptions{}
	if len(r.Body) == 0 {
		if err := readQuery(r.query, opts, metav1.Convert_url_Values_To_v1_DeleteOptions); err != nil {
			return nil, nil, err
		}
	} else if err := r.readDeleteOptions(opts); err != nil {
		return nil, nil, err
	}
	w := &write{request: r, writeOptions: writeOptions{dryRun: len(opts.DryRun) > 0}}
	return w, opts, invalidOptions("DeleteOptions", metavalidation.ValidateDeleteOptions(opts))
}

// readDeleteOptions reads the options in a body.
func (r *request) readDeleteOptions(opts *metav1.DeleteOptions) error {
	body, err := r.jsonBody()
	if err != nil {
		return err
	}
	apiVersion, kind, err := object.TypeOf(body)
	if err != nil {
		return apierrors.NewBadRequest(err.Error())
	}
	if kind != "" && kind != "DeleteOptions" {
		return apierrors.NewBadRequest(object.NoKindError(kind, apiVersion).Error())
	}
	if err := kjson.UnmarshalCaseSensitivePreserveInts(body, opts); err != nil {
		return apierrors.NewBadRequest(err.Error())
	}
	return nil
}

// deleteAny deletes an object by the rules of its type.
func (w *write) deleteAny(o *object.Object, opts *metav1.DeleteOptions) (*object.Object, bool, error) {
	switch o.Typed.(type) {
	case *corev1.Namespace:
		return w.deleteNamespace(o, opts)
	case *apiextensionsv1.CustomResourceDefinition:
		return w.deleteDefinition(o, opts)
	default:
		return w.deleteObject(o, opts)
	}
}

// serveDeleteCollection deletes what a list with the same options would show, in its order.
func serveDeleteCollection(r *request) (*Response, error) {
	q, err := readListQuery(r)
	if err != nil {
		return nil, err
	}
	w, opts, err := r.deleteWrite()
	if err != nil {
		return nil, err
	}
	page, err := (&listing{r, q}).page()
	if err != nil {
		return nil, err
	}
	for _, o := range page.objects {
		if w, err = w.deleteOne(o, opts); err != nil {
			return nil, err
		}
	}
	return w.reply.list(page), nil
}

// deleteOne deletes an object of a collection, unless it has gone meanwhile. It returns the write
// to continue with, which is another one if the kind's definition has been replaced.
func (w *write) deleteOne(o *object.Object, opts *metav1.DeleteOptions) (*write, error) {
	for {
		r := *w.request
		r.info.Namespace = o.Meta.Namespace
		one := &write{request: &r, writeOptions: w.writeOptions}
		now, exists := one.lookup(o.Meta.Name)
		if !exists {
			return one, nil
		}
		err := one.admitDelete(now, opts)
		if err == nil {
			_, _, err = one.deleteAny(now, opts.DeepCopy())
		}
		if !errors.Is(err, errMoved) {
			return one, err
		}
		if r.kind, r.ver, err = resolve(&r.s.registry, r.Method, r.info); err != nil {
			return nil, err
		}
		w = one
	}
}
