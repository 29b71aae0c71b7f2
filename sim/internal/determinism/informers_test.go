package determinism

// Programs that did not replay once: client-go, or Go itself, let chance in.

import (
	"context"
	"errors"
	"fmt"
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
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/fault"
)

// nothing is a reconciler that does nothing.
var nothing = reconcile.Func(func(context.Context, reconcile.Request) (reconcile.Result, error) {
	return reconcile.Result{}, nil
})

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

// Two groups have a kind of one name, and one controller watches both.
func TestTwoGroupsOneKind(t *testing.T) {
	replays(t, func(w *sim.World) {
		w.Install(definition("a.example"), definition("b.example"))
		w.Start("p", func(mgr ctrl.Manager) error {
			return ctrl.NewControllerManagedBy(mgr).Named("two").For(widgetOf("a.example", "", "")).
				Watches(widgetOf("b.example", "", ""), &handler.EnqueueRequestForObject{}).
				Watches(&corev1.ConfigMap{}, &handler.EnqueueRequestForObject{}).Complete(nothing)
		})
		w.Inject(fault.StaleCache(time.Minute, fault.OfKind("Widget")))
		w.Apply(widgetOf("a.example", "x", "1"), widgetOf("b.example", "x", "1"), source("x", ""))
		w.Sleep(time.Second)
		w.Apply(widgetOf("a.example", "x", "2"), widgetOf("b.example", "x", "2"), source("x", "v"))
		w.Settle()
	})
}

// One kind is watched as a whole and as metadata alone.
func TestMetadataBesideTheWhole(t *testing.T) {
	partial := func(kind string) *metav1.PartialObjectMetadata {
		m := &metav1.PartialObjectMetadata{}
		m.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind(kind))
		return m
	}
	replays(t, func(w *sim.World) {
		w.Apply(source("a", "v"), source("b", "v"))
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
				Watches(&corev1.Pod{}, &handler.EnqueueRequestForObject{}, builder.OnlyMetadata).Complete(nothing)
		})
		w.Inject(fault.StaleCache(time.Minute), fault.Crash("p"))
		w.Apply(source("a", "w"))
		w.Settle()
	})
}

// Informers of one kind, one of Go's types and one of maps, send the same requests.
func TestInformersOfTwoSorts(t *testing.T) {
	loose := func(kind string) *unstructured.Unstructured {
		u := &unstructured.Unstructured{}
		u.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind(kind))
		return u
	}
	replays(t, func(w *sim.World) {
		w.Apply(source("a", "v"), source("b", "v"))
		w.Start("p", func(mgr ctrl.Manager) error {
			for _, o := range []client.Object{&corev1.ConfigMap{}, loose("ConfigMap"), loose("Secret"), loose("Pod")} {
				if err := mgr.GetFieldIndexer().IndexField(context.Background(), o, "name",
					func(o client.Object) []string { return []string{o.GetName()} }); err != nil {
					return err
				}
			}
			if err := ctrl.NewControllerManagedBy(mgr).Named("maps").Watches(loose("ConfigMap"),
				&handler.EnqueueRequestForObject{}).Complete(nothing); err != nil {
				return err
			}
			return ctrl.NewControllerManagedBy(mgr).Named("copies").For(&corev1.ConfigMap{}).
				Complete(&copies{mgr.GetClient()})
		})
		w.Inject(fault.StaleCache(time.Minute), fault.Crash("p"), fault.DroppedWatch(), fault.Relist())
		w.Sleep(time.Second)
		w.Apply(source("a", "w"))
		w.Sleep(time.Second)
		w.Apply(source("b", "w"))
		w.Settle()
	})
}

// An error that prints a pointer says something else in each run, and the program does nothing
// else.
func TestErrorWithAnAddress(t *testing.T) {
	replays(t, func(w *sim.World) {
		n := 0
		w.Start("p", func(mgr ctrl.Manager) error {
			return ctrl.NewControllerManagedBy(mgr).Named("failing").For(&corev1.ConfigMap{}).
				Complete(reconcile.Func(func(context.Context, reconcile.Request) (reconcile.Result, error) {
					if n++; n > 3 {
						return reconcile.Result{}, nil
					}
					replicas := int32(n)
					return reconcile.Result{}, fmt.Errorf("not yet: %+v", struct{ Replicas *int32 }{&replicas})
				}))
		})
		w.Apply(source("a", ""))
		w.Settle()
	})
}

// A runnable that fails ends its manager gracefully while keys come due.
func TestRunnableThatFails(t *testing.T) {
	replays(t, func(w *sim.World) {
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
			return ctrl.NewControllerManagedBy(mgr).Named("doing").For(&corev1.ConfigMap{}).
				WithOptions(controller.Options{MaxConcurrentReconciles: 2}).
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
		w.Apply(source("a", ""), source("b", ""),
			source("c", ""))
		w.Sleep(3 * time.Minute)
	})
}
