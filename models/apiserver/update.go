package apiserver

import (
	"fmt"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/wavetank/wavetank/models/apiserver/internal/object"
	"github.com/wavetank/wavetank/models/apiserver/internal/registry"
)

// serveUpdate replaces an object, or the part of it that a subresource stands for.
func serveUpdate(r *request) (*Response, error) {
	sub := r.info.Subresource
	w, err := r.updateWrite()
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
	if err := w.info.matchName(draft.Meta); err != nil {
		return nil, err
	}
	w.dedupeOwners(draft.Meta, false)
	old, exists := w.lookup(w.info.Name)
	if b := w.kind.Strategy; !exists && (b == nil || !b.CreateOnUpdate || sub != "") {
		return nil, w.notFound()
	}
	if err := w.checkUID(draft.Meta.UID, old); err != nil {
		return nil, err
	}
	return w.store(draft, old, sub)
}

// store replaces an object by a draft, or creates it when there is none yet.
func (w *write) store(draft, old *object.Object, sub string) (*Response, error) {
	if old != nil {
		stored, err := w.replace(draft, old, sub)
		if err != nil {
			return nil, err
		}
		return w.reply.object(http.StatusOK, stored), nil
	}
	draft.Meta.ResourceVersion = ""
	upsert := *w
	upsert.upsert = true
	stored, err := upsert.createObject(draft)
	if err != nil {
		return nil, err
	}
	return w.reply.object(http.StatusCreated, stored), nil
}

// replace takes a complete new version of an object through the rest of an update, in the order of
// registry/generic/registry/store.go (Update) and registry/rest/update.go (BeforeUpdate).
func (w *write) replace(draft, stored *object.Object, sub string) (*object.Object, error) {
	a := &admitting{write: w, operation: "UPDATE", old: stored}
	w.own(draft, stored, sub) // fields that webhooks set later have no owner
	draft, err := a.mutate(draft)
	if err != nil {
		return nil, err
	}
	if err := w.grants(draft, stored); err != nil {
		return nil, err
	}
	if err := w.checkRevision(draft.Meta, stored); err != nil {
		return nil, err
	}
	old := stored.In(w.ver)
	if err := w.info.matchNamespace(draft.Meta); err != nil {
		return nil, err
	}
	draft.Meta.Generation = old.Meta.Generation
	w.kind.PrepareUpdate(w.hook(), draft, old, sub)
	registry.KeepSystemFields(draft.Meta, old.Meta)
	if errs := w.kind.ValidateUpdate(draft, old, sub, w.warn); len(errs) > 0 {
		return nil, w.kind.Invalid(draft, errs)
	}
	if sub == "" {
		w.warnings = append(w.warnings, w.kind.StrategyWarnings(draft)...)
		w.kind.WarnFinalizers(draft.Meta, old.Meta, w.warn)
	}
	w.kind.Canonicalize(draft)
	if err := a.validate(draft); err != nil {
		return nil, err
	}
	if registry.DeletesOnUpdate(draft, old) {
		return w.finishDeletion(draft, stored), nil
	}
	return w.commit(draft, stored)
}

func (w *write) checkRevision(meta *metav1.ObjectMeta, stored *object.Object) error {
	given, err := parseRevision(meta.ResourceVersion)
	if err != nil {
		return fmt.Errorf("strconv.ParseUint: parsing %q: invalid syntax", meta.ResourceVersion)
	}
	if given == 0 {
		if b := w.kind.Strategy; b != nil && b.Unconditional {
			meta.ResourceVersion = stored.Meta.ResourceVersion
			return nil
		}
		return apierrors.NewInvalid(schema.GroupKind{Group: w.kind.Group, Kind: w.kind.Plural}, w.info.Name,
			field.ErrorList{
				field.Invalid(field.NewPath("metadata", "resourceVersion"), uint64(0),
					"must be specified for an update"),
			})
	}
	if given != stored.Revision {
		return lockConflict(w.kind.GroupResource(), w.info.Name)
	}
	return nil
}
