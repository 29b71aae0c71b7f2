package apiserver

import (
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wavetank/wavetank/models/apiserver/internal/object"
)

// serveFinalize is an update of spec.finalizers; a namespace whose last finalizer has gone is
// removed (pkg/registry/core/namespace/storage/storage.go).
func serveFinalize(r *request) (*Response, error) {
	w, err := r.updateWrite()
	if err != nil {
		return nil, err
	}
	draft, err := decodeBody(w)
	if err != nil {
		return nil, err
	}
	if err := w.info.matchName(draft.Meta); err != nil {
		return nil, err
	}
	old, err := r.stored()
	if err != nil {
		return nil, err
	}
	if err := w.checkUID(draft.Meta.UID, old); err != nil {
		return nil, err
	}
	return w.store(draft, old, r.info.Subresource)
}

// RefuseDeleteOfTerminating sets [Options.RefuseDeleteOfTerminating] of a server that is there
// already.
func (s *Server) RefuseDeleteOfTerminating(on bool) { s.options.RefuseDeleteOfTerminating = on }

var namespaceResource = schema.GroupResource{Resource: "namespaces"}

// lifecycle holds the rules that the NamespaceLifecycle admission plugin has for new objects
// (staging/src/k8s.io/apiserver/pkg/admission/plugin/namespace/lifecycle/admission.go).
func (a *admitting) lifecycle(draft *object.Object) error {
	if a.definitionTerminates() {
		return apierrors.NewForbidden(a.kind.GroupResource(), draft.Meta.Name,
			errors.New("create not allowed while custom resource definition is terminating"))
	}
	if !a.kind.Namespaced {
		return nil
	}
	name := draft.Meta.Namespace
	o, exists := a.s.store.Table("/namespaces").Get(name)
	if !exists {
		return apierrors.NewNotFound(namespaceResource, name)
	}
	if o.Typed.(*corev1.Namespace).Status.Phase != corev1.NamespaceTerminating {
		return nil
	}
	shown := draft.Meta.Name
	if shown == "" {
		shown = draft.Meta.GenerateName
	}
	err := apierrors.NewForbidden(a.kind.GroupResource(), shown, fmt.Errorf(
		"unable to create new content in namespace %s because it is being terminated", name))
	err.ErrStatus.Details.Causes = append(err.ErrStatus.Details.Causes, metav1.StatusCause{
		Type:    corev1.NamespaceTerminatingCause,
		Message: fmt.Sprintf("namespace %s is being terminated", name),
		Field:   "metadata.namespace",
	})
	return err
}

// definitionTerminates says that a custom kind's definition is being deleted: nothing new can be
// created.
func (a *admitting) definitionTerminates() bool {
	if a.kind.Builtin {
		return false
	}
	o, exists := a.definitions().of(a.kind)
	return exists && o.Meta.DeletionTimestamp != nil
}

// protects refuses the deletion of the namespaces that every cluster needs.
func (a *admitting) protects(o *object.Object) error {
	if a.kind.Group != "" || a.kind.Plural != "namespaces" {
		return nil
	}
	switch o.Meta.Name {
	case "default", "kube-system", "kube-public":
		return apierrors.NewForbidden(a.kind.GroupResource(), o.Meta.Name,
			fmt.Errorf("this namespace may not be deleted"))
	}
	return nil
}
