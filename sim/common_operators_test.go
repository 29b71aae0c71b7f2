package sim_test

import (
	"context"
	"fmt"
	"net/http"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/client-go/util/retry"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/fault"
	"github.com/wavetank/wavetank/sim/internal/simtest"
)

// usual is an operator that does, in no sensible way, much of what operators usually do with
// controller-runtime.
type usual struct{ client.Client }

func (u *usual) setup(mgr ctrl.Manager) error {
	inDefault := func(o client.Object) bool { return o.GetNamespace() == "default" }
	ctx := context.Background()
	if err := mgr.GetFieldIndexer().IndexField(ctx, &corev1.ConfigMap{}, "of",
		func(o client.Object) []string { return []string{o.GetLabels()["of"]} }); err != nil {
		return err
	}
	if err := mgr.AddHealthzCheck("healthz", healthz.Ping); err != nil {
		return err
	}
	if err := mgr.AddReadyzCheck("readyz", func(r *http.Request) error {
		if !mgr.GetCache().WaitForCacheSync(r.Context()) {
			return fmt.Errorf("not synced")
		}
		return nil
	}); err != nil {
		return err
	}
	if err := mgr.Add(manager.RunnableFunc(func(ctx context.Context) error {
		<-mgr.Elected()
		w, err := client.NewWithWatch(mgr.GetConfig(),
			client.Options{Scheme: mgr.GetScheme(), Mapper: mgr.GetRESTMapper(), HTTPClient: mgr.GetHTTPClient()})
		if err != nil {
			return err
		}
		events, err := w.Watch(ctx, &corev1.ConfigMapList{}, client.InNamespace("default"))
		if err != nil {
			return err
		}
		defer events.Stop()
		for range events.ResultChan() {
		}
		return nil
	})); err != nil {
		return err
	}
	informer, err := mgr.GetCache().GetInformer(ctx, &corev1.ServiceAccount{})
	if err != nil {
		return err
	}
	ticks := make(chan event.GenericEvent)
	if err := mgr.Add(manager.RunnableFunc(func(ctx context.Context) error {
		for {
			select {
			case <-ctx.Done():
				return nil
			case <-time.After(time.Minute):
			}
			select {
			case <-ctx.Done():
				return nil
			case ticks <- event.GenericEvent{Object: simtest.ConfigMap("a")}:
			}
		}
	})); err != nil {
		return err
	}
	return ctrl.NewControllerManagedBy(mgr).Named("usual").
		For(&corev1.ConfigMap{}, builder.WithPredicates(predicate.Or(predicate.GenerationChangedPredicate{},
			predicate.LabelChangedPredicate{}, predicate.AnnotationChangedPredicate{}))).
		Owns(&appsv1.Deployment{}, builder.MatchEveryOwner).
		Owns(&corev1.Secret{}, builder.OnlyMetadata).
		WatchesRawSource(&source.Informer{Informer: informer, Handler: &handler.EnqueueRequestForObject{}}).
		WatchesRawSource(source.Channel(ticks, &handler.EnqueueRequestForObject{})).
		WithEventFilter(predicate.NewPredicateFuncs(inDefault)).
		WithOptions(controller.Options{MaxConcurrentReconciles: 2, ReconciliationTimeout: time.Minute,
			RecoverPanic: ptr.To(true),
			RateLimiter: workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](time.Second,
				time.Minute)}).
		Complete(u)
}

func (u *usual) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	cm := &corev1.ConfigMap{}
	if err := u.Get(ctx, req.NamespacedName, cm); err != nil || cm.Labels["of"] != "" {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	c := client.NewNamespacedClient(client.WithFieldOwner(u.Client, "usual"), req.Namespace)

	d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: req.Namespace, Name: cm.Name}}
	if _, err := controllerutil.CreateOrUpdate(ctx, c, d, func() error {
		labels := map[string]string{"app": cm.Name}
		d.Spec.Selector = &metav1.LabelSelector{MatchLabels: labels}
		d.Spec.Template.Labels = labels
		d.Spec.Template.Spec.Containers = []corev1.Container{{Name: "c", Image: "c"}}
		return controllerutil.SetControllerReference(cm, d, u.Scheme())
	}); err != nil {
		return reconcile.Result{}, err
	}
	if ptr.Deref(d.Spec.Replicas, 1) != 3 {
		scale := &autoscalingv1.Scale{Spec: autoscalingv1.ScaleSpec{Replicas: 3}}
		if err := c.SubResource("scale").Update(ctx, d, client.WithSubResourceBody(scale)); err != nil {
			return reconcile.Result{}, err
		}
	}
	secret := corev1ac.Secret(cm.Name, req.Namespace).WithStringData(map[string]string{"k": "v"}).WithOwnerReferences()
	if err := c.Apply(ctx, secret, client.ForceOwnership); err != nil {
		return reconcile.Result{}, err
	}
	copied := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap",
		"metadata": map[string]any{
			"name": cm.Name + "-copy", "namespace": req.Namespace, "labels": map[string]any{"of": cm.Name}}}}
	//nolint:staticcheck // operators still do
	if err := c.Patch(ctx, copied, client.Apply, client.ForceOwnership); err != nil {
		return reconcile.Result{}, err
	}
	list := &corev1.ConfigMapList{}
	if err := c.List(ctx, list,
		client.MatchingFieldsSelector{Selector: fields.OneTermEqualSelector("of", cm.Name)}); err != nil {
		return reconcile.Result{}, err
	}
	if len(list.Items) == 0 {
		return reconcile.Result{RequeueAfter: time.Second}, nil
	}
	return reconcile.Result{}, retry.RetryOnConflict(retry.DefaultRetry, func() error {
		if err := c.Get(ctx, client.ObjectKeyFromObject(cm), cm); err != nil || cm.Annotations["copied"] == "yes" {
			return err
		}
		cm.Annotations = map[string]string{"copied": "yes"}
		return c.Update(ctx, cm)
	})
}

func TestUsualOperatorRuns(t *testing.T) {
	sim.Check(t, func(w *sim.World) {
		w.Start("usual", func(mgr ctrl.Manager) error {
			u := &usual{Client: mgr.GetClient()}
			return u.setup(mgr)
		}, sim.Options(ctrl.Options{LeaderElection: true, LeaderElectionID: "usual",
			LeaderElectionNamespace: "default", HealthProbeBindAddress: ":8081"}))
		w.Inject(fault.StaleCache(10*time.Second), fault.Crash("usual"), fault.LostReply(), fault.Conflict(),
			fault.Restart("usual"))
		w.Eventually("it is copied", func(h *history.History) error {
			o, ok := h.Object("", "ConfigMap", "default", "a")
			var cm corev1.ConfigMap
			if err := o.Into(&cm); !ok || err != nil || cm.Annotations["copied"] != "yes" {
				return fmt.Errorf("%v %v", err, cm.Annotations)
			}
			return nil
		})
		w.Apply(simtest.ConfigMap("a"))
		w.Sleep(3 * time.Minute)
		w.Settle()
	}, sim.Runs(100), sim.For(0))
}
