// Package vault is an operator that remembers in a package variable, which outlives a crash.
package vault

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

var opened = map[string]bool{}

// Setup is what the operator's main calls.
func Setup(mgr ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).For(&corev1.ConfigMap{}).Complete(reconcile.Func(open))
}

func open(_ context.Context, req reconcile.Request) (reconcile.Result, error) {
	opened[req.Name] = true
	return reconcile.Result{}, nil
}
