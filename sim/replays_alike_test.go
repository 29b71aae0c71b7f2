package sim_test

// Programs that did not replay, as client-go or Go itself lets chance in: each is run twice.

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/fault"
	"github.com/wavetank/wavetank/sim/result"
)

func definition(group string) *apiextensionsv1.CustomResourceDefinition {
	yes := true
	return &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: "widgets." + group},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: group, Scope: apiextensionsv1.NamespaceScoped,
			Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: "widgets", Singular: "widget", Kind: "Widget",
				ListKind: "WidgetList"},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{Name: "v1", Served: true, Storage: true,
				Schema: &apiextensionsv1.CustomResourceValidation{
					OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Type: "object", XPreserveUnknownFields: &yes}}}}}}
}

func widgetOf(group, name, v string) *unstructured.Unstructured {
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(schema.GroupVersionKind{Group: group, Version: "v1", Kind: "Widget"})
	u.SetNamespace("default")
	u.SetName(name)
	u.SetLabels(map[string]string{"v": v})
	return u
}

func TestTwoGroupsOneKind(t *testing.T) {
	r := sim.Explore(t, func(w *sim.World) {
		w.Install(definition("a.example"), definition("b.example"))
		w.Start("p", func(mgr ctrl.Manager) error {
			return ctrl.NewControllerManagedBy(mgr).Named("two").For(widgetOf("a.example", "", "")).
				Watches(widgetOf("b.example", "", ""), &handler.EnqueueRequestForObject{}).
				Watches(&corev1.ConfigMap{}, &handler.EnqueueRequestForObject{}).Complete(noReconcile{})
		})
		w.Inject(fault.StaleCache(time.Minute, fault.OfKind("Widget")))
		w.Apply(widgetOf("a.example", "x", "1"), widgetOf("b.example", "x", "1"), configMap("x"))
		w.Sleep(time.Second)
		w.Apply(widgetOf("a.example", "x", "2"), widgetOf("b.example", "x", "2"), configMap("x", "k", "v"))
		w.Settle()
	}, sim.Runs(300), sim.For(0), sim.Verify(1))
	if r.Failure != nil {
		t.Error(r.Failure.Text())
	}
}

func TestMetadataBesideTheWhole(t *testing.T) {
	partial := func(kind string) *metav1.PartialObjectMetadata {
		m := &metav1.PartialObjectMetadata{}
		m.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind(kind))
		return m
	}
	r := sim.Explore(t, func(w *sim.World) {
		w.Apply(configMap("a", "k", "v"), configMap("b", "k", "v"))
		w.Start("p", func(mgr ctrl.Manager) error {
			for _, o := range []client.Object{&corev1.ConfigMap{}, partial("ConfigMap"), partial("Secret"),
				partial("Pod")} {
				if err := mgr.GetFieldIndexer().IndexField(context.Background(), o, "name",
					func(o client.Object) []string { return []string{o.GetName()} }); err != nil {
					return err
				}
			}
			return ctrl.NewControllerManagedBy(mgr).Named("both").For(&corev1.ConfigMap{}).
				Watches(&corev1.ConfigMap{}, &handler.EnqueueRequestForObject{}, builder.OnlyMetadata).
				Watches(&corev1.Secret{}, &handler.EnqueueRequestForObject{}, builder.OnlyMetadata).
				Watches(&corev1.Pod{}, &handler.EnqueueRequestForObject{}, builder.OnlyMetadata).Complete(noReconcile{})
		})
		w.Inject(fault.StaleCache(time.Minute), fault.Crash("p"))
		w.Apply(configMap("a", "k", "w"))
		w.Settle()
	}, sim.Runs(200), sim.For(0), sim.Verify(1))
	if r.Failure != nil {
		t.Error(r.Failure.Text())
	}
}

// Informers of one kind, one of Go's types and one of maps, send the same requests.
func TestInformersOfTwoSorts(t *testing.T) {
	loose := func(kind string) *unstructured.Unstructured {
		u := &unstructured.Unstructured{}
		u.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind(kind))
		return u
	}
	r := sim.Explore(t, func(w *sim.World) {
		w.Apply(configMap("a", "k", "v"), configMap("b", "k", "v"))
		w.Start("p", func(mgr ctrl.Manager) error {
			for _, o := range []client.Object{&corev1.ConfigMap{}, loose("ConfigMap"), loose("Secret"), loose("Pod")} {
				if err := mgr.GetFieldIndexer().IndexField(context.Background(), o, "name",
					func(o client.Object) []string { return []string{o.GetName()} }); err != nil {
					return err
				}
			}
			if err := ctrl.NewControllerManagedBy(mgr).Named("maps").Watches(loose("ConfigMap"),
				&handler.EnqueueRequestForObject{}).Complete(noReconcile{}); err != nil {
				return err
			}
			return (&mirror{mgr.GetClient()}).SetupWithManager(mgr)
		})
		w.Inject(fault.StaleCache(time.Minute), fault.Crash("p"), fault.DroppedWatch(), fault.Relist())
		w.Sleep(time.Second)
		w.Apply(withRole("source", configMap("a", "k", "w")))
		w.Sleep(time.Second)
		w.Apply(withRole("source", configMap("b", "k", "w")))
		w.Settle()
	}, sim.Runs(200), sim.For(0), sim.Verify(1))
	if r.Failure != nil {
		t.Error(r.Failure.Text())
	}
}

// Two controllers with requests of their own watch one kind, and one begins later than the other.
func TestTypedControllersReplay(t *testing.T) {
	r := sim.Explore(t, func(w *sim.World) {
		for i := range 6 {
			w.Apply(configMap(fmt.Sprint("letter-", i)))
		}
		w.Start("post", func(mgr ctrl.Manager) error {
			if err := (&mirror{mgr.GetClient()}).SetupWithManager(mgr); err != nil {
				return err
			}
			return stamp(mgr)
		})
		w.Inject(fault.StaleCache(10*time.Second), fault.ServerError(), fault.Crash("post"))
		w.Settle()
	}, sim.Runs(100), sim.For(0), sim.Verify(1))
	if r.Failure != nil {
		t.Error(r.Failure.Text())
	}
}

// An error that prints a pointer says something else in each run, and the program does nothing
// else.
func TestAnErrorWithAnAddress(t *testing.T) {
	r := sim.Explore(t, func(w *sim.World) {
		n := 0
		doing(w, controller.Options{},
			func(_ context.Context, _ client.Client, cm *corev1.ConfigMap) (reconcile.Result, error) {
				if n++; n > 3 {
					return reconcile.Result{}, nil
				}
				replicas := int32(n)
				return reconcile.Result{}, fmt.Errorf("not yet: %+v", struct{ Replicas *int32 }{&replicas})
			})
		w.Apply(withRole("source", configMap("a")))
		w.Settle()
	}, sim.Runs(100), sim.For(0), sim.Verify(1))
	if r.Failure != nil {
		t.Error(r.Failure.Text())
	}
}

// A runnable that fails ends its manager gracefully while keys come due.
func TestARunnableThatFails(t *testing.T) {
	r := sim.Explore(t, func(w *sim.World) {
		w.Start("p", func(mgr ctrl.Manager) error {
			if err := mgr.Add(manager.RunnableFunc(func(ctx context.Context) error {
				select {
				case <-time.After(20 * time.Second):
					return errors.New("enough")
				case <-ctx.Done():
					return nil
				}
			})); err != nil {
				return err
			}
			return ctrl.NewControllerManagedBy(mgr).Named("doing").For(&corev1.ConfigMap{},
				role("source")).WithOptions(controller.Options{MaxConcurrentReconciles: 2}).
				Complete(reconcile.Func(func(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
					var cm corev1.ConfigMap
					if err := mgr.GetAPIReader().Get(ctx, req.NamespacedName, &cm); err != nil {
						return reconcile.Result{}, client.IgnoreNotFound(err)
					}
					sinceSecond := time.Duration(time.Now().Nanosecond()) % time.Second
					return reconcile.Result{RequeueAfter: time.Second - sinceSecond}, nil
				}))
		})
		w.Inject(fault.RacingRequeue())
		w.Apply(withRole("source", configMap("a")), withRole("source", configMap("b")),
			withRole("source", configMap("c")))
		w.Sleep(3 * time.Minute)
	}, sim.Runs(60), sim.For(0), sim.Verify(1))
	if r.Failure != nil {
		t.Error(r.Failure.Text())
	}
}

// A predicate that panics ends its program, as in production, and is told as a finding. It does not
// end the test binary.
func TestAPredicateThatPanics(t *testing.T) {
	r := sim.Explore(t, func(w *sim.World) {
		w.Start("p", func(mgr ctrl.Manager) error {
			return ctrl.NewControllerManagedBy(mgr).Named("p").For(&corev1.ConfigMap{},
				builder.WithPredicates(predicate.NewPredicateFuncs(func(o client.Object) bool {
					return o.GetAnnotations()["wavetank.example/touched"] == "" || o.GetLabels()["x"][0] == 'y'
				}))).Complete(noReconcile{})
		})
		w.Start("mirror", func(mgr ctrl.Manager) error { return (&mirror{mgr.GetClient()}).SetupWithManager(mgr) })
		w.Inject(fault.Conflict())
		w.Apply(withRole("source", configMap("src-a", "k", "v")))
		w.Settle()
		w.Apply(withRole("source", configMap("src-a", "k", "w")))
		w.Settle()
	}, sim.Runs(100), sim.For(0))
	if r.Failure == nil || r.Failure.Kind != result.Panic || !strings.Contains(r.Failure.Message,
		`process "p" panicked outside a reconcile: runtime error: index out of range`) || r.Failure.Flaky {
		t.Errorf("got %+v", r.Failure)
	}
}
