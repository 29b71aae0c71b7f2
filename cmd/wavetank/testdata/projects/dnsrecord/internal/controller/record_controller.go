package controller

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	logf "sigs.k8s.io/controller-runtime/pkg/log"

	netv1 "example.com/dns-operator/api/v1"
	"example.com/dns-operator/internal/dns"
)

const finalizer = "net.example.com/record"

// RecordReconciler reconciles a Record object.
type RecordReconciler struct {
	client.Client
	Scheme *runtime.Scheme
	DNS    *dns.Client
}

// +kubebuilder:rbac:groups=net.example.com,resources=records,verbs=get;list;watch;create;update;patch;delete
// +kubebuilder:rbac:groups=net.example.com,resources=records/status,verbs=get;update;patch
// +kubebuilder:rbac:groups=net.example.com,resources=records/finalizers,verbs=update

// Reconcile keeps a record at the provider for each Record.
func (r *RecordReconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	log := logf.FromContext(ctx)

	var record netv1.Record
	if err := r.Get(ctx, req.NamespacedName, &record); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}

	if !record.DeletionTimestamp.IsZero() {
		if !controllerutil.ContainsFinalizer(&record, finalizer) {
			return ctrl.Result{}, nil
		}
		if record.Status.ID != "" {
			if err := r.DNS.Delete(ctx, record.Status.ID); err != nil {
				return ctrl.Result{}, err
			}
		}
		controllerutil.RemoveFinalizer(&record, finalizer)
		return ctrl.Result{}, r.Update(ctx, &record)
	}

	if controllerutil.AddFinalizer(&record, finalizer) {
		if err := r.Update(ctx, &record); err != nil {
			return ctrl.Result{}, err
		}
	}

	want := dns.Record{ID: record.Status.ID, Host: record.Spec.Host, Address: record.Spec.Address}
	switch {
	case record.Status.ID == "":
		id, err := r.DNS.Create(ctx, want)
		if err != nil {
			return ctrl.Result{}, err
		}
		log.Info("record created", "id", id)
		record.Status.ID = id
	case record.Status.Address != record.Spec.Address:
		if err := r.DNS.Update(ctx, want); err != nil {
			return ctrl.Result{}, err
		}
	default:
		return ctrl.Result{}, nil
	}
	record.Status.Address = record.Spec.Address
	return ctrl.Result{}, r.Status().Update(ctx, &record)
}

// SetupWithManager sets up the controller with the Manager.
func (r *RecordReconciler) SetupWithManager(mgr ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).For(&netv1.Record{}).Complete(r)
}
