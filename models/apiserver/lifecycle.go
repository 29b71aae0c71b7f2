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

var namespaceResource = schema.GroupResource{Resource: "namespaces"}

// admitCreate holds the rules that the NamespaceLifecycle admission plugin has for new objects
// (staging/src/k8s.io/apiserver/pkg/admission/plugin/namespace/lifecycle/admission.go).
func (w *write) admitCreate(draft *object.Object) error {
	if w.definitionTerminates() {
		return apierrors.NewForbidden(w.kind.GroupResource(), draft.Meta.Name,
			errors.New("create not allowed while custom resource definition is terminating"))
	}
	if !w.kind.Namespaced {
		return nil
	}
	name := draft.Meta.Namespace
	o, exists := w.s.store.Table("/namespaces").Get(name)
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
	err := apierrors.NewForbidden(w.kind.GroupResource(), shown, fmt.Errorf(
		"unable to create new content in namespace %s because it is being terminated", name))
	err.ErrStatus.Details.Causes = append(err.ErrStatus.Details.Causes, metav1.StatusCause{
		Type:    corev1.NamespaceTerminatingCause,
		Message: fmt.Sprintf("namespace %s is being terminated", name),
		Field:   "metadata.namespace",
	})
	return err
}

// terminating is what old servers said of a namespace that is being deleted.
const terminating = "The system is ensuring all content is removed from this namespace.  " +
	"Upon completion, this namespace will automatically be purged by the system."

// definitionTerminates says that a custom kind's definition is being deleted: nothing new can be
// created.
func (w *write) definitionTerminates() bool {
	if w.kind.Builtin {
		return false
	}
	o, exists := w.s.definitionOf(w.kind)
	return exists && o.Meta.DeletionTimestamp != nil
}

// protects refuses the deletion of the namespaces that every cluster needs.
func (w *write) protects(o *object.Object) error {
	if w.kind.Group != "" || w.kind.Plural != "namespaces" {
		return nil
	}
	switch o.Meta.Name {
	case "default", "kube-system", "kube-public":
		return apierrors.NewForbidden(w.kind.GroupResource(), o.Meta.Name,
			fmt.Errorf("this namespace may not be deleted"))
	}
	return nil
}
