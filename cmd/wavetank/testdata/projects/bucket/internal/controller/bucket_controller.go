package controller

import (
	"context"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	storagev1alpha1 "example.com/bucket-operator/api/v1alpha1"
	"example.com/bucket-operator/internal/cloud"
)

const bucketFinalizer = "storage.example.com/finalizer"

// BucketReconciler reconciles a Bucket object.
type BucketReconciler struct {
	client.Client
	Scheme  *runtime.Scheme
	Buckets cloud.Buckets
}

// +kubebuilder:rbac:groups=storage.example.com,resources=buckets,verbs=get;list;watch;create;update;patch;delete
// +kubebuilder:rbac:groups=storage.example.com,resources=buckets/status,verbs=get;update;patch
// +kubebuilder:rbac:groups=storage.example.com,resources=buckets/finalizers,verbs=update

// Reconcile keeps a bucket at the provider until the Bucket is deleted.
func (r *BucketReconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	bucket := &storagev1alpha1.Bucket{}
	if err := r.Get(ctx, req.NamespacedName, bucket); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	name := bucket.Namespace + "-" + bucket.Name

	if bucket.DeletionTimestamp.IsZero() {
		// Register the finalizer before anything is made outside of the cluster.
		if controllerutil.AddFinalizer(bucket, bucketFinalizer) {
			if err := r.Update(ctx, bucket); err != nil {
				return ctrl.Result{}, err
			}
		}
	} else {
		if controllerutil.ContainsFinalizer(bucket, bucketFinalizer) {
			if err := r.Buckets.Remove(ctx, name); err != nil {
				return ctrl.Result{}, err
			}
			controllerutil.RemoveFinalizer(bucket, bucketFinalizer)
			if err := r.Update(ctx, bucket); err != nil {
				return ctrl.Result{}, err
			}
		}
		return ctrl.Result{}, nil
	}

	condition := metav1.Condition{Type: "Ready", Status: metav1.ConditionTrue, Reason: "Provisioned",
		Message: "the bucket is there", ObservedGeneration: bucket.Generation}
	err := r.Buckets.Ensure(ctx, name, bucket.Spec.Region, bucket.Spec.Versioning)
	if err != nil {
		condition.Status, condition.Reason, condition.Message = metav1.ConditionFalse, "ProviderError", err.Error()
	}
	if meta.SetStatusCondition(&bucket.Status.Conditions, condition) {
		if err := r.Status().Update(ctx, bucket); err != nil {
			return ctrl.Result{}, err
		}
	}
	return ctrl.Result{}, err
}

// SetupWithManager sets up the controller with the Manager.
func (r *BucketReconciler) SetupWithManager(mgr ctrl.Manager, workers int) error {
	return ctrl.NewControllerManagedBy(mgr).
		For(&storagev1alpha1.Bucket{}).
		WithOptions(controller.Options{MaxConcurrentReconciles: workers}).
		Complete(r)
}
