// Package controller is an operator as kubebuilder lays it out: a suite with envtest beside the controller, and
// simulations that need no etcd.
package controller

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	logf "sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// GreeterReconciler greets each ConfigMap.
type GreeterReconciler struct{ client.Client }

// Reconcile implements reconcile.Reconciler.
func (r *GreeterReconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	cm := &corev1.ConfigMap{}
	if err := r.Get(ctx, req.NamespacedName, cm); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	if cm.Data["greeting"] != "" {
		return reconcile.Result{}, nil
	}
	logf.FromContext(ctx).Info("greeting")
	cm.Data = map[string]string{"greeting": "hello"}
	return reconcile.Result{}, r.Update(ctx, cm)
}

// SetupWithManager sets up the controller with the manager.
func (r *GreeterReconciler) SetupWithManager(mgr ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).For(&corev1.ConfigMap{}).Named("greeter").Complete(r)
}
