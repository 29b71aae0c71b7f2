// This file exists for the watches that begin while the operator runs: on every kind of object that it has installed.

package clusterextension

import (
	"context"
	"fmt"
	"sync"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/source"

	v1 "github.com/wavetank/wavetank/controllers/clusterextension/v1"
)

// watches are one for each kind.
type watches struct {
	mgr        ctrl.Manager
	controller controller.Controller

	mu    sync.Mutex
	begun map[schema.GroupVersionKind]bool
}

func newWatches(mgr ctrl.Manager, c controller.Controller) *watches {
	return &watches{mgr: mgr, controller: c, begun: map[schema.GroupVersionKind]bool{}}
}

// begin watches the kinds of a release's objects, as far as they are not watched yet.
func (w *watches) begin(_ context.Context, objects []*unstructured.Unstructured) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, o := range objects {
		kind := o.GroupVersionKind()
		if w.begun[kind] {
			continue
		}
		of := &unstructured.Unstructured{}
		of.SetGroupVersionKind(kind)
		err := w.controller.Watch(source.Kind[client.Object](w.mgr.GetCache(), of,
			handler.EnqueueRequestForOwner(w.mgr.GetScheme(), w.mgr.GetRESTMapper(), &v1.ClusterExtension{}, handler.OnlyControllerOwner()),
			dependents()))
		if err != nil {
			return fmt.Errorf("watching %s: %w", kind.Kind, err)
		}
		w.begun[kind] = true
	}
	return nil
}

// dependents lets pass what may mean that an installed object has to be put back: that it is gone, and changes of
// anything but its status.
func dependents() predicate.Predicate {
	return predicate.Funcs{
		CreateFunc:  func(event.CreateEvent) bool { return false },
		GenericFunc: func(event.GenericEvent) bool { return false },
		DeleteFunc:  func(event.DeleteEvent) bool { return true },
		UpdateFunc: func(e event.UpdateEvent) bool {
			return !equality.Semantic.DeepEqual(withoutStatus(e.ObjectOld), withoutStatus(e.ObjectNew))
		},
	}
}

func withoutStatus(o client.Object) map[string]any {
	u := o.(*unstructured.Unstructured).DeepCopy()
	delete(u.Object, "status")
	u.SetResourceVersion("")
	return u.Object
}
