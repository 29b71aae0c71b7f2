// Package controller is the operator: one claim for each Backup.
package controller

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "example.com/backup/api/v1"
)

// BackupReconciler gives each Backup a claim.
type BackupReconciler struct {
	client.Client
	// Generated lets the server choose the claim's name, which the status alone remembers: an
	// operator that dies between the two writes makes another claim.
	Generated bool
}

// SetupWithManager registers the controller.
func (r *BackupReconciler) SetupWithManager(mgr ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).For(&v1.Backup{}).Owns(&corev1.PersistentVolumeClaim{}).Complete(r)
}

// Reconcile implements reconcile.Reconciler.
func (r *BackupReconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	var b v1.Backup
	if err := r.Get(ctx, req.NamespacedName, &b); err != nil || b.Status.PVC != "" {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	claim := &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Namespace: b.Namespace, Name: b.Name + "-data"},
		Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			Resources: corev1.VolumeResourceRequirements{
				Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")},
			},
		},
	}
	if r.Generated {
		claim.Name, claim.GenerateName = "", b.Name+"-"
	}
	if err := ctrl.SetControllerReference(&b, claim, r.Scheme()); err != nil {
		return ctrl.Result{}, err
	}
	if err := r.Create(ctx, claim); client.IgnoreAlreadyExists(err) != nil {
		return ctrl.Result{}, err
	}
	b.Status.PVC = claim.Name
	return ctrl.Result{}, r.Status().Update(ctx, &b)
}
