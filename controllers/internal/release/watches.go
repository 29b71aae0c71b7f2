// This file holds the watches that begin while an operator runs: on every kind of object that
// it has installed.

package release

import (
	"fmt"
	"strings"
	"sync"

	"helm.sh/helm/v3/pkg/release"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/source"
)

// CacheOf changes a cache so that it holds all objects of some kinds, and of the others those with
// a label.
func CacheOf(o cache.Options, label labels.Set, all ...client.Object) cache.Options {
	o.ByObject = map[client.Object]cache.ByObject{}
	for _, of := range all {
		o.ByObject[of] = cache.ByObject{Label: labels.Everything()}
	}
	o.DefaultLabelSelector = labels.SelectorFromSet(label)
	return o
}

// Watches are one for each kind. Events of an installed object go to its owner.
type Watches struct {
	mgr        ctrl.Manager
	controller controller.Controller
	owner      client.Object

	mu    sync.Mutex
	begun map[schema.GroupVersionKind]bool
}

// NewWatches are none yet; owner is an empty object of the kind that installs.
func NewWatches(mgr ctrl.Manager, c controller.Controller, owner client.Object) *Watches {
	return &Watches{mgr: mgr, controller: c, owner: owner, begun: map[schema.GroupVersionKind]bool{}}
}

// Begin watches the kinds of a release's objects, as far as they are not watched yet.
func (w *Watches) Begin(of *release.Release) error {
	objects, err := Objects(strings.NewReader(of.Manifest))
	if err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, o := range objects {
		kind := o.GroupVersionKind()
		if w.begun[kind] {
			continue
		}
		object := &unstructured.Unstructured{}
		object.SetGroupVersionKind(kind)
		scheme, mapper, only := w.mgr.GetScheme(), w.mgr.GetRESTMapper(), handler.OnlyControllerOwner()
		owner := handler.EnqueueRequestForOwner(scheme, mapper, w.owner, only)
		err := w.controller.Watch(source.Kind[client.Object](w.mgr.GetCache(), object, owner, dependents()))
		if err != nil {
			return fmt.Errorf("watching %s: %w", kind.Kind, err)
		}
		w.begun[kind] = true
	}
	return nil
}

// dependents lets pass what may mean that an installed object has to be put back: that it is gone,
// and changes of anything but its status.
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
