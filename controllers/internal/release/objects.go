// This file handles the objects of a release: their owner, watches on them, and their health.

package release

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"helm.sh/helm/v3/pkg/release"
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/source"
	sigsyaml "sigs.k8s.io/yaml"
)

// objects decodes a manifest, in its order.
func objects(manifest io.Reader) ([]*unstructured.Unstructured, error) {
	var out []*unstructured.Unstructured
	for d := yaml.NewYAMLOrJSONDecoder(manifest, 1024); ; {
		o := &unstructured.Unstructured{}
		switch err := d.Decode(o); {
		case errors.Is(err, io.EOF):
			return out, nil
		case err != nil:
			return nil, fmt.Errorf("decoding the manifest: %w", err)
		case len(o.Object) > 0:
			out = append(out, o)
		}
	}
}

// Marks is a post-renderer that gives every object of a release its owner and labels. The labels
// replace those of the chart.
type Marks struct {
	Labels map[string]string
	Owner  metav1.OwnerReference
}

// Run implements postrender.PostRenderer.
func (m Marks) Run(manifest *bytes.Buffer) (*bytes.Buffer, error) {
	all, err := objects(manifest)
	if err != nil {
		return nil, err
	}
	out := &bytes.Buffer{}
	for _, o := range all {
		o.SetLabels(m.Labels)
		o.SetOwnerReferences(append(o.GetOwnerReferences(), m.Owner))
		data, err := sigsyaml.Marshal(o.Object)
		if err != nil {
			return nil, err
		}
		out.WriteString("---\n")
		out.Write(data)
	}
	return out, nil
}

// CacheOf returns cache options with all objects of some kinds, and the labelled ones of others.
func CacheOf(o cache.Options, label labels.Set, all ...client.Object) cache.Options {
	o.ByObject = map[client.Object]cache.ByObject{}
	for _, of := range all {
		o.ByObject[of] = cache.ByObject{Label: labels.Everything()}
	}
	o.DefaultLabelSelector = labels.SelectorFromSet(label)
	return o
}

// Watches begin while an operator runs, one for each kind that it has installed. Events of an
// installed object go to its owner.
type Watches struct {
	mgr        ctrl.Manager
	controller controller.Controller
	owner      client.Object

	mu    sync.Mutex
	begun map[schema.GroupVersionKind]bool
}

// NewWatches returns an empty set of watches. owner is an empty object of the kind that installs.
func NewWatches(mgr ctrl.Manager, c controller.Controller, owner client.Object) *Watches {
	return &Watches{mgr: mgr, controller: c, owner: owner, begun: map[schema.GroupVersionKind]bool{}}
}

// Begin watches the kinds of a release's objects that are not watched yet.
func (w *Watches) Begin(of *release.Release) error {
	all, err := objects(strings.NewReader(of.Manifest))
	if err != nil {
		return err
	}
	only := handler.OnlyControllerOwner()
	owner := handler.EnqueueRequestForOwner(w.mgr.GetScheme(), w.mgr.GetRESTMapper(), w.owner, only)
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, o := range all {
		kind := o.GroupVersionKind()
		if w.begun[kind] {
			continue
		}
		object := &unstructured.Unstructured{}
		object.SetGroupVersionKind(kind)
		err := w.controller.Watch(source.Kind[client.Object](w.mgr.GetCache(), object, owner, dependents()))
		if err != nil {
			return fmt.Errorf("watching %s: %w", kind.Kind, err)
		}
		w.begun[kind] = true
	}
	return nil
}

// dependents passes events after which an installed object may need a repair: its deletion, and
// changes other than those of its status.
func dependents() predicate.Predicate {
	rest := func(o client.Object) map[string]any {
		u := o.(*unstructured.Unstructured).DeepCopy()
		delete(u.Object, "status")
		u.SetResourceVersion("")
		return u.Object
	}
	return predicate.Funcs{
		CreateFunc: func(event.CreateEvent) bool { return false },
		UpdateFunc: func(e event.UpdateEvent) bool {
			return !equality.Semantic.DeepEqual(rest(e.ObjectOld), rest(e.ObjectNew))
		},
	}
}

// healthKey is the annotation by which a chart says when an object is healthy. An object without it
// is healthy once it is there, and a Deployment for which it is available when its rollout is
// complete, as kubectl rollout status sees it (kubectl/pkg/polymorphichelpers/rollout_status.go).
const healthKey, available = "wavetank.example/health", "available"

// Ill returns the first object of a release that is not healthy, with the reason, or "" if all are.
func Ill(ctx context.Context, reader client.Reader, of *release.Release) (string, error) {
	all, err := objects(strings.NewReader(of.Manifest))
	if err != nil {
		return "", err
	}
	for _, o := range all {
		want, asked := o.GetAnnotations()[healthKey]
		if !asked {
			continue
		}
		name := o.GetKind() + " " + o.GetName()
		if want != available || o.GetKind() != "Deployment" {
			return "", fmt.Errorf("%s says that it is healthy when it is %q; only a Deployment can say so, and only %q",
				name, want, available)
		}
		is := &unstructured.Unstructured{}
		is.SetGroupVersionKind(o.GroupVersionKind())
		if err := reader.Get(ctx, client.ObjectKeyFromObject(o), is); apierrors.IsNotFound(err) {
			return name + " is gone", nil
		} else if err != nil {
			return "", err
		}
		var d appsv1.Deployment
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(is.Object, &d); err != nil {
			return "", err
		}
		if !rolledOut(&d) {
			return name + " is not available", nil
		}
	}
	return "", nil
}

// rolledOut reports whether a rollout is complete.
func rolledOut(d *appsv1.Deployment) bool {
	s := d.Status
	return d.Generation <= s.ObservedGeneration && s.UpdatedReplicas >= ptr.Deref(d.Spec.Replicas, 1) &&
		s.Replicas <= s.UpdatedReplicas && s.AvailableReplicas >= s.UpdatedReplicas
}
