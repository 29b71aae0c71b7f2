package apiserver

import (
	"errors"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wavetank/wavetank/models/apiserver/internal/object"
)

// serveCreate stores the object in the request's body.
func serveCreate(r *request) (*Response, error) {
	w, err := r.createWrite()
	if err != nil {
		return nil, err
	}
	draft, err := decodeBody(w)
	if err != nil {
		return nil, err
	}
	stored, err := w.createObject(draft)
	if err != nil {
		return nil, err
	}
	return r.reply.object(http.StatusCreated, stored), nil
}

// nameAttempts is how often a generated name is drawn again if it is taken
// (staging/src/k8s.io/apiserver/pkg/registry/generic/registry/store.go).
const nameAttempts = 8

// createObject takes a decoded object through creation. The order of the steps is that of
// endpoints/handlers/create.go, registry/rest/create.go and registry/generic/registry/store.go: it
// decides which of several faults is reported.
func (w *write) createObject(draft *object.Object) (*object.Object, error) {
	meta := draft.Meta
	if !w.upsert {
		// A creation by update or apply is cleaned when it is stored: who said it owns what is not
		// kept.
		meta.DeletionTimestamp, meta.DeletionGracePeriodSeconds, meta.SelfLink = nil, nil, "" //nolint:staticcheck
	}
	if err := w.info.matchNamespace(meta); err != nil {
		return nil, err
	}
	w.dedupeOwners(meta, false)
	a := &admitting{write: w, operation: "CREATE"}
	if err := a.lifecycle(draft); err != nil {
		return nil, err
	}
	w.own(draft, nil, "")
	draft, err := a.mutate(draft)
	if err != nil {
		return nil, err
	}
	meta = draft.Meta
	if err := w.info.matchNamespace(meta); err != nil {
		return nil, err
	}
	if err := w.grants(draft, nil); err != nil {
		return nil, err
	}
	generated := meta.GenerateName != "" && meta.Name == ""
	for attempt := 1; ; attempt++ {
		if generated {
			meta.Name = w.s.generator.name(meta.GenerateName)
		}
		stored, err := a.tryCreate(draft)
		if generated && attempt < nameAttempts && apierrors.IsAlreadyExists(err) {
			continue
		}
		if generated && apierrors.IsAlreadyExists(err) {
			return nil, apierrors.NewGenerateNameConflict(w.kind.GroupResource(), meta.Name, 1)
		}
		return stored, err
	}
}

// tryCreate stores a draft that has its name.
func (a *admitting) tryCreate(draft *object.Object) (*object.Object, error) {
	w := a.write
	meta := draft.Meta
	meta.DeletionTimestamp, meta.DeletionGracePeriodSeconds, meta.SelfLink = nil, nil, "" //nolint:staticcheck
	meta.CreationTimestamp, meta.UID = metav1.NewTime(w.s.now()), w.s.generator.uid()
	w.kind.PrepareCreate(w.hook(), draft)
	if errs := w.kind.ValidateCreate(draft); len(errs) > 0 {
		return nil, w.kind.Invalid(draft, errs)
	}
	w.warnings = append(w.warnings, w.kind.StrategyWarnings(draft)...)
	w.kind.WarnFinalizers(meta, nil, w.warn)
	w.kind.Canonicalize(draft)
	if w.upsert {
		if err := w.mayCreate(); err != nil {
			return nil, err
		}
	}
	if err := a.validate(draft); err != nil {
		return nil, err
	}
	if meta.ResourceVersion != "" && meta.ResourceVersion != "0" {
		if _, err := parseRevision(meta.ResourceVersion); err == nil {
			return nil, errors.New("resourceVersion should not be set on objects to be created")
		}
	}
	meta.ResourceVersion = ""
	key := draft.Key()
	if old, exists := w.table().Get(key); exists {
		if w.upsert { // the transaction of an update starts again (storage/etcd3/store.go, GuaranteedUpdate)
			return nil, errMoved
		}
		err := apierrors.NewAlreadyExists(w.kind.GroupResource(), meta.Name)
		if old.Meta.DeletionTimestamp != nil {
			err.ErrStatus.Message = "object is being deleted: " + err.ErrStatus.Message
		}
		return nil, err
	}
	return w.commit(draft, nil)
}
