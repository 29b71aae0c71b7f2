// This file holds operators with caches that are not the usual ones.

package correct

import (
	"context"
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/handler"

	"github.com/wavetank/wavetank/history"
)

func cacheOperators() []Operator {
	return []Operator{
		{"metadata-only", "a cache of metadata alone", metadataOnly},
		{"unstructured", "unstructured objects, read from a cache", unstructuredCache},
		{"selectors", "a cache that holds only labelled objects (ByObject)", selectors},
		{"index", "a field index, and a map function from a Secret to those that refer to it", index},
		{"unique", "a live list (APIReader) decides which of two objects gets a name", unique},
	}
}

// labeller gives the Secrets of a Widget its text as a label, and reads nothing but metadata.
type labeller struct{ client.Client }

func (r labeller) Reconcile(c context.Context, req ctrl.Request) (ctrl.Result, error) {
	var w Widget
	if err := r.Get(c, req.NamespacedName, &w); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if w.Spec.Ref == "" {
		return ctrl.Result{}, writeStatus(c, r.Client, &w, func(s *WidgetStatus) { s.Phase = "" })
	}
	secret := &metav1.PartialObjectMetadata{}
	secret.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Secret"))
	err := r.Get(c, client.ObjectKey{Namespace: w.Namespace, Name: w.Spec.Ref}, secret)
	if apierrors.IsNotFound(err) {
		return ctrl.Result{}, writeStatus(c, r.Client, &w, func(s *WidgetStatus) { s.Phase = "Waiting" })
	}
	if err != nil {
		return ctrl.Result{}, err
	}
	if secret.Labels["text"] != w.Spec.Text {
		before := secret.DeepCopy()
		metav1.SetMetaDataLabel(&secret.ObjectMeta, "text", w.Spec.Text)
		if err := r.Patch(c, secret, client.MergeFrom(before)); err != nil {
			return ctrl.Result{}, err
		}
	}
	return ctrl.Result{}, writeStatus(c, r.Client, &w, func(s *WidgetStatus) { s.Phase = "Labelled" })
}

// referring maps an object to the Widgets of its namespace that refer to it.
func referring(cl client.Reader) handler.MapFunc {
	return func(c context.Context, o client.Object) (out []ctrl.Request) {
		var all WidgetList
		if err := cl.List(c, &all, client.InNamespace(o.GetNamespace()),
			client.MatchingFields{"ref": o.GetName()}); err != nil {
			panic(err) // the cache does not know the index
		}
		for i := range all.Items {
			out = append(out, ctrl.Request{NamespacedName: client.ObjectKeyFromObject(&all.Items[i])})
		}
		return out
	}
}

// indexed adds the index that referring asks.
func indexed(mgr ctrl.Manager) error {
	return mgr.GetFieldIndexer().IndexField(context.Background(), &Widget{}, "ref", func(o client.Object) []string {
		if ref := o.(*Widget).Spec.Ref; ref != "" {
			return []string{ref}
		}
		return nil
	})
}

func metadataOnly(w *stage) {
	w.start("labeller", ctrl.Options{}, func(mgr ctrl.Manager) error {
		if err := indexed(mgr); err != nil {
			return err
		}
		return ctrl.NewControllerManagedBy(mgr).Named("labeller").For(&Widget{}).
			Watches(&corev1.Secret{}, handler.EnqueueRequestsFromMapFunc(referring(mgr.GetClient())),
				builder.OnlyMetadata).
			Complete(labeller{mgr.GetClient()})
	})
	w.disturb()
	w.promise()
	w.finally("the Secret has the text as a label", "a", func(h *history.History, a *Widget) error {
		var secret corev1.Secret
		if into(h, "", "Secret", ns, a.Spec.Ref, &secret) && secret.Labels["text"] != a.Spec.Text {
			return fmt.Errorf("its label is %q", secret.Labels["text"])
		}
		return nil
	})
	w.referring()
}

// referring is what users do with a Widget and the Secret that it refers to.
func (s *stage) referring() {
	secret := func(text string) *corev1.Secret {
		return &corev1.Secret{ObjectMeta: named("s"), Data: map[string][]byte{"text": []byte(text)}}
	}
	s.Apply(widget("a", WidgetSpec{Text: "red", Ref: "s"}))
	s.Settle()
	s.Apply(secret("one"))
	s.Settle()
	s.Remove(secret(""))
	s.Apply(secret("two"))
	s.edit("a", func(o *Widget) { o.Spec.Text = "green" })
	s.Settle()
	s.restart()
	s.Remove(secret(""))
	s.Settle()
}

// copier copies the text of a Widget to a ConfigMap, and knows both without their Go types.
type copier struct{ client.Client }

func (r copier) Reconcile(c context.Context, req ctrl.Request) (ctrl.Result, error) {
	w := untyped(group.String(), "Widget")
	if err := r.Get(c, req.NamespacedName, w); err != nil || w.GetDeletionTimestamp() != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	text, _, err := unstructured.NestedString(w.Object, "spec", "text")
	if err != nil {
		return ctrl.Result{}, err
	}
	config := untyped("v1", "ConfigMap")
	config.SetNamespace(w.GetNamespace())
	config.SetName(w.GetName() + "-config")
	if _, err = controllerutil.CreateOrPatch(c, r.Client, config, func() error {
		if err := unstructured.SetNestedField(config.Object, text, "data", "text"); err != nil {
			return err
		}
		return controllerutil.SetControllerReference(w, config, r.Scheme())
	}); err != nil {
		return ctrl.Result{}, err
	}
	before := w.DeepCopy()
	if err := unstructured.SetNestedField(w.Object, w.GetGeneration(), "status", "observedGeneration"); err != nil {
		return ctrl.Result{}, err
	}
	return ctrl.Result{}, r.Status().Patch(c, w, client.MergeFrom(before))
}

func untyped(version, kind string) *unstructured.Unstructured {
	u := &unstructured.Unstructured{}
	u.SetAPIVersion(version)
	u.SetKind(kind)
	return u
}

func unstructuredCache(w *stage) {
	options := ctrl.Options{Client: client.Options{Cache: &client.CacheOptions{Unstructured: true}}}
	w.start("copier", options, func(mgr ctrl.Manager) error {
		return ctrl.NewControllerManagedBy(mgr).Named("copier").For(untyped(group.String(), "Widget")).
			Owns(untyped("v1", "ConfigMap")).Complete(copier{mgr.GetClient()})
	})
	w.disturb()
	w.promise()
	w.finally("the ConfigMap is up to date", "a", configured)
	w.usual()
}

// teamster is a configurer whose cache has only what has its team's label.
type teamster struct{ client.Client }

func (r teamster) Reconcile(c context.Context, req ctrl.Request) (ctrl.Result, error) {
	var w Widget
	if err := r.Get(c, req.NamespacedName, &w); err != nil || !w.DeletionTimestamp.IsZero() {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	config := &corev1.ConfigMap{ObjectMeta: named(w.Name + "-config")}
	_, err := controllerutil.CreateOrUpdate(c, r.Client, config, func() error {
		metav1.SetMetaDataLabel(&config.ObjectMeta, "team", "red")
		config.Data = map[string]string{"text": w.Spec.Text}
		return controllerutil.SetControllerReference(&w, config, r.Scheme())
	})
	return ctrl.Result{}, err
}

func selectors(w *stage) {
	mine := labels.SelectorFromSet(labels.Set{"team": "red"})
	options := ctrl.Options{Cache: cache.Options{ByObject: map[client.Object]cache.ByObject{
		&Widget{}:           {Label: mine},
		&corev1.ConfigMap{}: {Label: mine, Namespaces: map[string]cache.Config{ns: {}}},
	}}}
	w.start("team", options, func(mgr ctrl.Manager) error {
		return ctrl.NewControllerManagedBy(mgr).Named("team").For(&Widget{}).Owns(&corev1.ConfigMap{}).
			Complete(teamster{mgr.GetClient()})
	})
	w.disturb()
	w.promise()
	w.finally("the ConfigMap is up to date", "a", configured)
	w.Eventually("others are left alone", func(h *history.History) error { return absent(h, "ConfigMap", "b-config") })
	red := func(text string) *Widget {
		a := widget("a", WidgetSpec{Text: text})
		a.Labels = map[string]string{"team": "red"}
		return a
	}
	w.Apply(red("one"), widget("b", WidgetSpec{Text: "blue"}))
	w.Settle()
	w.Remove(red(""))
	w.Apply(red("two"))
	w.Settle()
	w.Apply(red("three"))
	w.Settle()
	w.restart()
	w.Remove(red(""))
	w.Settle()
}

// follower writes into its status what the Secret of a Widget says.
type follower struct{ client.Client }

func (r follower) Reconcile(c context.Context, req ctrl.Request) (ctrl.Result, error) {
	var w Widget
	if err := r.Get(c, req.NamespacedName, &w); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	var secret corev1.Secret
	err := r.Get(c, client.ObjectKey{Namespace: w.Namespace, Name: w.Spec.Ref}, &secret)
	if client.IgnoreNotFound(err) != nil {
		return ctrl.Result{}, err
	}
	return ctrl.Result{}, writeStatus(c, r.Client, &w, func(s *WidgetStatus) { s.Text = string(secret.Data["text"]) })
}

func index(w *stage) {
	w.start("follower", ctrl.Options{}, func(mgr ctrl.Manager) error {
		if err := indexed(mgr); err != nil {
			return err
		}
		return ctrl.NewControllerManagedBy(mgr).Named("follower").For(&Widget{}).
			Watches(&corev1.Secret{}, handler.EnqueueRequestsFromMapFunc(referring(mgr.GetClient()))).
			Complete(follower{mgr.GetClient()})
	})
	w.disturb()
	w.promise()
	w.finally("the status follows the Secret", "a", func(h *history.History, a *Widget) error {
		var secret corev1.Secret
		if into(h, "", "Secret", ns, "s", &secret); a.Status.Text != string(secret.Data["text"]) {
			return fmt.Errorf("the status has %q and the Secret %q", a.Status.Text, secret.Data["text"])
		}
		return nil
	})
	w.referring()
}

// registrar gives a text to the oldest Widget that wants it. A cache may not know the others yet.
type registrar struct {
	client.Client
	live client.Reader
}

func (r registrar) Reconcile(c context.Context, req ctrl.Request) (ctrl.Result, error) {
	var w Widget
	if err := r.Get(c, req.NamespacedName, &w); err != nil || !w.DeletionTimestamp.IsZero() {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	var all WidgetList
	if err := r.live.List(c, &all, client.InNamespace(w.Namespace)); err != nil {
		return ctrl.Result{}, err
	}
	phase := "Registered"
	for i := range all.Items {
		if o := &all.Items[i]; o.UID != w.UID && o.Spec.Text == w.Spec.Text && older(o, &w) {
			phase = "Taken"
		}
	}
	return ctrl.Result{}, writeStatus(c, r.Client, &w, func(s *WidgetStatus) { s.Phase = phase })
}

func older(a, b *Widget) bool {
	if !a.CreationTimestamp.Equal(&b.CreationTimestamp) {
		return a.CreationTimestamp.Before(&b.CreationTimestamp)
	}
	return a.Name < b.Name
}

func unique(w *stage) {
	w.start("registrar", ctrl.Options{}, func(mgr ctrl.Manager) error {
		cl := mgr.GetClient()
		others := func(c context.Context, o client.Object) (out []ctrl.Request) {
			var all WidgetList
			if err := cl.List(c, &all, client.InNamespace(o.GetNamespace())); err != nil {
				panic(err)
			}
			for i := range all.Items {
				out = append(out, ctrl.Request{NamespacedName: client.ObjectKeyFromObject(&all.Items[i])})
			}
			return out
		}
		return ctrl.NewControllerManagedBy(mgr).Named("registrar").For(&Widget{}).
			Watches(&Widget{}, handler.EnqueueRequestsFromMapFunc(others)).
			Complete(registrar{cl, mgr.GetAPIReader()})
	})
	w.disturb()
	w.promise()
	w.Eventually("each text is registered once", func(h *history.History) error {
		by := map[string][]string{}
		for _, o := range h.Objects(group.Group, "Widget") {
			var one Widget
			if o.Into(&one) == nil && one.Status.Phase == "Registered" {
				by[one.Spec.Text] = append(by[one.Spec.Text], one.Name)
			}
		}
		if len(by["red"]) != 1 || slices.ContainsFunc(by["blue"], func(s string) bool { return s == "" }) {
			return errors.New(fmt.Sprint(by))
		}
		return nil
	})
	a, b := widget("a", WidgetSpec{Text: "red"}), widget("b", WidgetSpec{Text: "red"})
	w.Apply(a.DeepCopy(), b.DeepCopy())
	w.Settle()
	w.edit("a", func(o *Widget) { o.Spec.Text = "blue" })
	w.Settle()
	w.edit("a", func(o *Widget) { o.Spec.Text = "red" })
	w.Settle()
	w.Remove(a)
	w.restart()
}
