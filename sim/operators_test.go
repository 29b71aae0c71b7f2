package sim_test

import (
	"context"
	"fmt"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// Small operators for the tests of the harness. Each is ordinary controller-runtime code over
// ConfigMaps.

func configMap(name string, data ...string) *corev1.ConfigMap {
	cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}}
	for i := 0; i+1 < len(data); i += 2 {
		if cm.Data == nil {
			cm.Data = map[string]string{}
		}
		cm.Data[data[i]] = data[i+1]
	}
	return cm
}

// role lets a reconciler see only the ConfigMaps that are meant for it.
func role(r string) builder.Predicates {
	has := func(o client.Object) bool { return o.GetLabels()["role"] == r }
	return builder.WithPredicates(predicate.NewPredicateFuncs(has))
}

func withRole(r string, cm *corev1.ConfigMap) *corev1.ConfigMap {
	cm.Labels = map[string]string{"role": r}
	return cm
}

// counter adds 1 to the ConfigMap "total" for each new ticket: read, then a patch without a lock.
type counter struct {
	client.Client
	live    client.Reader
	workers int
	locked  bool
}

func (c *counter) SetupWithManager(mgr ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).Named("counter").For(&corev1.ConfigMap{}, role("ticket")).
		WithOptions(controller.Options{MaxConcurrentReconciles: c.workers}).Complete(c)
}

func (c *counter) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	var ticket, total corev1.ConfigMap
	if err := c.Get(ctx, req.NamespacedName, &ticket); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	if err := c.live.Get(ctx, client.ObjectKey{Namespace: "default", Name: "total"}, &total); err != nil {
		return reconcile.Result{}, err
	}
	if total.Data["counted-"+req.Name] != "" {
		return reconcile.Result{}, nil
	}
	n, _ := strconv.Atoi(total.Data["n"])
	patch := client.MergeFrom(total.DeepCopy())
	if c.locked {
		patch = client.MergeFromWithOptions(total.DeepCopy(), client.MergeFromWithOptimisticLock{})
	}
	total.Data["n"] = strconv.Itoa(n + 1)
	total.Data["counted-"+req.Name] = "yes"
	return reconcile.Result{}, c.Patch(ctx, &total, patch)
}

// mirror copies each ConfigMap with the role "source" to one called "<name>-copy".
type mirror struct {
	client.Client
}

func (m *mirror) SetupWithManager(mgr ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).Named("mirror").For(&corev1.ConfigMap{}, role("source")).Complete(m)
}

func (m *mirror) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	var src, dst corev1.ConfigMap
	if err := m.Get(ctx, req.NamespacedName, &src); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	name := client.ObjectKey{Namespace: req.Namespace, Name: req.Name + "-copy"}
	err := m.Get(ctx, name, &dst)
	if apierrors.IsNotFound(err) {
		dst.Namespace, dst.Name, dst.Data = name.Namespace, name.Name, src.Data
		return reconcile.Result{}, m.Create(ctx, &dst)
	}
	if err != nil || fmt.Sprint(dst.Data) == fmt.Sprint(src.Data) {
		return reconcile.Result{}, err
	}
	dst.Data = src.Data
	return reconcile.Result{}, m.Update(ctx, &dst)
}

// grumbler fails for ever.
type grumbler struct{ client.Client }

func (g *grumbler) SetupWithManager(mgr ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).Named("grumbler").For(&corev1.ConfigMap{}, role("source")).Complete(g)
}

func (g *grumbler) Reconcile(context.Context, reconcile.Request) (reconcile.Result, error) {
	return reconcile.Result{}, fmt.Errorf("out of luck")
}

// restless writes the time into its object every minute.
type restless struct{ client.Client }

func (r *restless) SetupWithManager(mgr ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).Named("restless").For(&corev1.ConfigMap{}, role("source")).Complete(r)
}

func (r *restless) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	var cm corev1.ConfigMap
	if err := r.Get(ctx, req.NamespacedName, &cm); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	cm.Data = map[string]string{"now": time.Now().Truncate(time.Minute).String()}
	return reconcile.Result{RequeueAfter: time.Minute}, r.Update(ctx, &cm)
}
