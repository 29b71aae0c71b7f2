package apiserver

import (
	"errors"
	"fmt"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wavetank/wavetank/models/apiserver/internal/object"
	"github.com/wavetank/wavetank/models/apiserver/internal/registry"
)

// Install serves custom types: it stores each definition, established at once, or replaces the
// stored one. Definitions are shared between servers and must not be changed afterwards: their
// schemas are compiled once per process.
func (s *Server) Install(crds ...*apiextensionsv1.CustomResourceDefinition) error {
	for _, crd := range crds {
		if err := s.install(crd); err != nil {
			return fmt.Errorf("install %s: %w", crd.Name, err)
		}
	}
	return nil
}

func (s *Server) install(crd *apiextensionsv1.CustomResourceDefinition) error {
	w := s.internalWrite(registry.Definitions(), crd.Name, &effects{})
	old, exists := w.lookup(crd.Name)
	if !exists {
		return w.installPrepared(crd)
	}
	draft := object.DraftOf(registry.DecodeDefinition(registry.EncodeDefinition(crd)), w.ver)
	draft.Meta.ResourceVersion, draft.Meta.UID = old.Meta.ResourceVersion, ""
	_, err := w.replace(draft, old, "")
	return err
}

// installPrepared stores a definition as established, in one change: a real server writes it three
// times in the second after its creation.
func (w *write) installPrepared(crd *apiextensionsv1.CustomResourceDefinition) error {
	p := registry.Prepare(crd)
	if p.Err != nil {
		return p.Err
	}
	draft := p.Draft(metav1.NewTime(w.s.now()), w.s.generator.uid())
	draft.CommittedAt = w.s.options.Now()
	w.record(w.s.store.Commit(w.table(), draft.Key(), false, func(revision int64) *object.Object {
		return draft.SealJoined(revision, p.Spec)
	}))
	w.s.registry.Put(p.Kind)
	return nil
}

// deleteDefinition marks a definition; its instances go first
// (apiextensions-apiserver's pkg/registry/customresourcedefinition/etcd.go).
func (w *write) deleteDefinition(o *object.Object, opts *metav1.DeleteOptions) (*object.Object, bool, error) {
	crd := o.Typed.(*apiextensionsv1.CustomResourceDefinition)
	if why := failedPrecondition(opts.Preconditions, o.Meta); why != "" {
		err := errors.New("precondition failed: " + why)
		return nil, false, apierrors.NewConflict(w.kind.GroupResource(), crd.Name, err)
	}
	if crd.DeletionTimestamp != nil {
		return w.deleteObject(o, opts)
	}
	draft := o.Draft()
	now := metav1.NewTime(w.s.now())
	draft.Meta.DeletionTimestamp = &now
	if !slices.Contains(draft.Meta.Finalizers, cleanupFinalizer) {
		draft.Meta.Finalizers = append(draft.Meta.Finalizers, cleanupFinalizer)
	}
	status := &draft.Typed.(*apiextensionsv1.CustomResourceDefinition).Status
	status.Conditions = append(status.Conditions, apiextensionsv1.CustomResourceDefinitionCondition{
		Type: apiextensionsv1.Terminating, Status: apiextensionsv1.ConditionTrue, LastTransitionTime: now,
		Reason:  "InstanceDeletionPending",
		Message: "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon",
	})
	stored, err := w.commit(draft, o)
	return stored, false, err
}
