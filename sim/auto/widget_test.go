// This file holds the operator that the tests try: a correct one, and the flaws that it can have.

package auto_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/wavetank/wavetank/sim"
)

// Widget is what the operator looks after.
type Widget struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              WidgetSpec   `json:"spec"`
	Status            WidgetStatus `json:"status,omitempty"`
}

// WidgetSpec is what a user asks for.
type WidgetSpec struct {
	Size   int             `json:"size"`
	Colour string          `json:"colour,omitempty"`
	Code   string          `json:"code,omitempty"`
	Mode   string          `json:"mode,omitempty"`
	Every  metav1.Duration `json:"every,omitempty"`
	Quiet  bool            `json:"quiet,omitempty"`
	Parts  []Part          `json:"parts,omitempty"`
}

// Part is a part of a widget.
type Part struct {
	Name  string `json:"name"`
	Count int    `json:"count,omitempty"`
}

// WidgetStatus is what the operator says.
type WidgetStatus struct {
	ObservedGeneration int64  `json:"observedGeneration,omitempty"`
	Config             string `json:"config,omitempty"`
	Starts             int    `json:"starts,omitempty"`
}

// WidgetList is a list of them.
type WidgetList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Widget `json:"items"`
}

func copied[T any](in *T) *T {
	out := new(T)
	data, err := json.Marshal(in)
	if err == nil {
		err = json.Unmarshal(data, out)
	}
	if err != nil {
		panic(err)
	}
	return out
}

func (w *Widget) DeepCopyObject() runtime.Object     { return copied(w) }
func (w *WidgetList) DeepCopyObject() runtime.Object { return copied(w) }

var scheme = func() *runtime.Scheme {
	s := runtime.NewScheme()
	if err := clientgoscheme.AddToScheme(s); err != nil {
		panic(err)
	}
	v1 := schema.GroupVersion{Group: "example.com", Version: "v1"}
	s.AddKnownTypes(v1, &Widget{}, &WidgetList{})
	metav1.AddToGroupVersion(s, v1)
	return s
}()

// widgets keeps a ConfigMap for each widget.
type widgets struct {
	client.Client
	flaw   string
	begun  map[string]bool // objects that this incarnation has reconciled
	config map[string]bool // names of the ConfigMaps that it has made
	first  int             // the size of the first widget
}

const finalizer = "example.com/widgets"

func (r *widgets) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	var w Widget
	if err := r.Get(ctx, req.NamespacedName, &w); err != nil || !w.DeletionTimestamp.IsZero() {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	const seen = "example.com/seen"
	if w.Annotations[seen] == "" {
		metav1.SetMetaDataAnnotation(&w.ObjectMeta, seen, "yes")
		return ctrl.Result{}, r.Update(ctx, &w)
	}
	name := w.Name + "-config"
	status := WidgetStatus{ObservedGeneration: w.Generation, Config: name}
	status.Starts = w.Status.Starts
	if r.flaw == "counts its starts" && !r.begun[w.Name] {
		status.Starts++
		r.begun[w.Name] = true
	}
	if r.flaw == "observes once" && w.Status.ObservedGeneration > 0 {
		status.ObservedGeneration = w.Status.ObservedGeneration
	}
	if r.flaw == "makes it once" && w.Status.Config != "" {
		return ctrl.Result{}, r.say(ctx, &w, status)
	}
	if r.flaw == "remembers" && r.config[name] {
		var cm corev1.ConfigMap
		if err := r.Get(ctx, client.ObjectKey{Namespace: w.Namespace, Name: name}, &cm); err != nil {
			return ctrl.Result{}, client.IgnoreNotFound(err)
		}
	}
	r.config[name] = true
	if r.flaw == "leaves a copy" {
		copied := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: w.Name + "-copy"}}
		if err := client.IgnoreAlreadyExists(r.Create(ctx, copied)); err != nil {
			return ctrl.Result{}, err
		}
	}
	if err := r.keep(ctx, &w, name); err != nil {
		if r.flaw == "swallows errors" {
			return ctrl.Result{}, nil
		}
		if r.flaw == "begins again" {
			failed := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: name}}
			return ctrl.Result{}, errors.Join(err, r.Delete(ctx, failed))
		}
		return ctrl.Result{}, err
	}
	return ctrl.Result{}, r.say(ctx, &w, status)
}

// SetupWithManager is what the operator ships.
func (r *widgets) SetupWithManager(mgr ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).For(&Widget{}).Owns(&corev1.ConfigMap{}).Complete(r)
}

// keep makes the ConfigMap what it should be.
func (r *widgets) keep(ctx context.Context, w *Widget, name string) error {
	cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: name}}
	_, err := controllerutil.CreateOrUpdate(ctx, r.Client, cm, func() error {
		cm.Labels = map[string]string{"widget": w.Name}
		s := w.Spec
		number, numbered := cm.Data["number"]
		first, known := cm.Data["first"]
		cm.Data = map[string]string{"text": fmt.Sprint(s.Size, s.Colour, s.Mode, s.Code, s.Parts)}
		if r.flaw == "numbers them" {
			if !numbered {
				number = r.next(ctx)
			}
			cm.Data["number"] = number
		}
		if r.flaw == "keeps the first" {
			if r.first = cmp.Or(r.first, w.Spec.Size); !known {
				first = fmt.Sprint(r.first)
			}
			cm.Data["first"] = first
		}
		if r.flaw == "writes blindly" {
			cm.ResourceVersion = ""
		}
		if r.flaw == "holds the config" {
			controllerutil.AddFinalizer(cm, finalizer)
		}
		return ctrl.SetControllerReference(w, cm, r.Scheme())
	})
	return err
}

// next is the number of the next ConfigMap: how many there are.
func (r *widgets) next(ctx context.Context) string {
	var all corev1.ConfigMapList
	if err := r.List(ctx, &all, client.HasLabels{"widget"}); err != nil {
		return err.Error()
	}
	return fmt.Sprint(len(all.Items))
}

func (r *widgets) say(ctx context.Context, w *Widget, status WidgetStatus) error {
	if w.Status == status {
		return nil
	}
	w.Status = status
	return r.Status().Update(ctx, w)
}

// start adds the operator to the world.
func start(w *sim.World, flaw string) {
	w.Install("testdata/widgets.yaml")
	w.Start("widgets", func(mgr ctrl.Manager) error {
		return (&widgets{mgr.GetClient(), flaw, map[string]bool{}, map[string]bool{}, 0}).SetupWithManager(mgr)
	}, sim.Options(ctrl.Options{Scheme: scheme}))
}
