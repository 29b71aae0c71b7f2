// This file holds Widget, the kind that most operators of the suite reconcile.

package correct

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Widget has a field for each thing that an operator of the suite wants to be told.
type Widget struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              WidgetSpec   `json:"spec,omitempty"`
	Status            WidgetStatus `json:"status,omitempty"`
}

// WidgetSpec is the desired state.
type WidgetSpec struct {
	Text       string   `json:"text,omitempty"`
	Size       int32    `json:"size,omitempty"`
	Ref        string   `json:"ref,omitempty"` // the name of another object
	TTLSeconds int32    `json:"ttlSeconds,omitempty"`
	Shares     []string `json:"shares,omitempty"` // the names of objects that several Widgets own
}

// WidgetStatus is the observed state.
type WidgetStatus struct {
	ObservedGeneration int64              `json:"observedGeneration,omitempty"`
	Phase              string             `json:"phase,omitempty"`
	ID                 string             `json:"id,omitempty"`
	Text               string             `json:"text,omitempty"`
	Ready              int32              `json:"ready,omitempty"`
	Last               *metav1.Time       `json:"last,omitempty"`
	Children           []string           `json:"children,omitempty"`
	Conditions         []metav1.Condition `json:"conditions,omitempty"`
}

// WidgetList is a list of Widgets.
type WidgetList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Widget `json:"items"`
}

// DeepCopy copies the Widget.
func (w *Widget) DeepCopy() *Widget {
	out := *w
	w.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	out.Spec.Shares = slices.Clone(w.Spec.Shares)
	out.Status.Last = w.Status.Last.DeepCopy()
	out.Status.Children = slices.Clone(w.Status.Children)
	out.Status.Conditions = slices.Clone(w.Status.Conditions)
	return &out
}

// DeepCopyObject implements runtime.Object.
func (w *Widget) DeepCopyObject() runtime.Object { return w.DeepCopy() }

// DeepCopyObject implements runtime.Object.
func (w *WidgetList) DeepCopyObject() runtime.Object {
	out := *w
	w.ListMeta.DeepCopyInto(&out.ListMeta)
	out.Items = make([]Widget, len(w.Items))
	for i := range w.Items {
		out.Items[i] = *w.Items[i].DeepCopy()
	}
	return &out
}

var group = schema.GroupVersion{Group: "correct.example", Version: "v1"}

// scheme is made once, as in an operator's main.
var scheme = newScheme()

func newScheme() *runtime.Scheme {
	s := runtime.NewScheme()
	utilruntime.Must(clientgoscheme.AddToScheme(s))
	s.AddKnownTypes(group, &Widget{}, &WidgetList{})
	metav1.AddToGroupVersion(s, group)
	return s
}

const ns = "default"

func key(name string) client.ObjectKey { return client.ObjectKey{Namespace: ns, Name: name} }

func named(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Namespace: ns, Name: name} }

func widget(name string, spec WidgetSpec) *Widget {
	return &Widget{ObjectMeta: named(name), Spec: spec}
}

// writeStatus changes the status if that makes a difference. An update of an old version is refused
// with a conflict, and the reconcile is repeated.
func writeStatus(c context.Context, cl client.Client, w *Widget, change func(*WidgetStatus)) error {
	next := w.DeepCopy()
	change(&next.Status)
	next.Status.ObservedGeneration = next.Generation
	if equality.Semantic.DeepEqual(w.Status, next.Status) {
		return nil
	}
	return cl.Status().Update(c, next)
}
