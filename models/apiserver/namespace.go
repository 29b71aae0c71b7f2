package apiserver

import (
	"errors"
	"fmt"
	"slices"

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

// ofNamespace marks a namespace and changes its phase in one write; what follows is the
// namespace controller's work. Only a namespace whose finalizers have gone is removed
// (pkg/registry/core/namespace/storage/storage.go, Delete).
func (d *deletion) ofNamespace(o *object.Object) (*object.Object, bool, error) {
	n := o.Typed.(*corev1.Namespace)
	if why := failedPrecondition(d.opts.Preconditions, o.Meta); why != "" {
		return nil, false, apierrors.NewConflict(namespaceResource, n.Name, errors.New("Precondition failed: "+why))
	}
	if n.DeletionTimestamp != nil {
		if len(n.Spec.Finalizers) > 0 {
			if d.s.options.RefuseDeleteOfTerminating {
				return nil, false, apierrors.NewConflict(namespaceResource, n.Name, errors.New(terminating))
			}
			return o, false, nil
		}
		return d.ofObject(o)
	}
	draft := o.Draft()
	now := metav1.NewTime(d.s.now())
	draft.Meta.DeletionTimestamp = &now
	draft.Typed.(*corev1.Namespace).Status.Phase = corev1.NamespaceTerminating
	draft.Meta.Finalizers = namespaceFinalizers(draft.Meta.Finalizers, d.opts)
	stored, err := d.commit(draft, o)
	return stored, false, err
}

func namespaceFinalizers(finalizers []string, opts *metav1.DeleteOptions) []string {
	orphan, foreground := slices.Contains(finalizers, metav1.FinalizerOrphanDependents),
		slices.Contains(finalizers, metav1.FinalizerDeleteDependents)
	switch {
	case opts.OrphanDependents != nil: //nolint:staticcheck // deprecated, still served
		orphan = *opts.OrphanDependents //nolint:staticcheck // deprecated, still served
		foreground = !orphan
	case opts.PropagationPolicy != nil:
		orphan = *opts.PropagationPolicy == metav1.DeletePropagationOrphan
		foreground = *opts.PropagationPolicy == metav1.DeletePropagationForeground
	}
	var out []string
	for _, f := range finalizers {
		if f != metav1.FinalizerOrphanDependents && f != metav1.FinalizerDeleteDependents {
			out = append(out, f)
		}
	}
	if orphan {
		out = append(out, metav1.FinalizerOrphanDependents)
	}
	if foreground {
		out = append(out, metav1.FinalizerDeleteDependents)
	}
	return out
}

var namespaceResource = schema.GroupResource{Resource: "namespaces"}

// terminating is what old servers said of a namespace that is being deleted.
const terminating = "The system is ensuring all content is removed from this namespace.  " +
	"Upon completion, this namespace will automatically be purged by the system."

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
