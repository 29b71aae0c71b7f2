package controller

import (
	"context"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	booksv1 "example.com/library/api/v1"
)

// ShelfReconciler reconciles a Shelf object.
type ShelfReconciler struct {
	client.Client
	Scheme *runtime.Scheme
}

// +kubebuilder:rbac:groups=books.example.com,resources=shelves,verbs=get;list;watch;create;update;patch;delete
// +kubebuilder:rbac:groups=books.example.com,resources=shelves/status,verbs=get;update;patch
// +kubebuilder:rbac:groups=books.example.com,resources=shelves/finalizers,verbs=update

// Reconcile counts the free places of a shelf.
func (r *ShelfReconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	var shelf booksv1.Shelf
	if err := r.Get(ctx, req.NamespacedName, &shelf); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	shelf.Status.Free = shelf.Spec.Capacity - int32(len(shelf.Spec.Books))
	condition := metav1.Condition{Type: "Full", Status: metav1.ConditionFalse, Reason: "HasRoom",
		ObservedGeneration: shelf.Generation}
	if shelf.Status.Free <= 0 {
		condition.Status, condition.Reason = metav1.ConditionTrue, "NoRoom"
	}
	meta.SetStatusCondition(&shelf.Status.Conditions, condition)
	return ctrl.Result{}, r.Status().Update(ctx, &shelf)
}

// SetupWithManager sets up the controller with the Manager.
func (r *ShelfReconciler) SetupWithManager(mgr ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).For(&booksv1.Shelf{}).Named("shelf").Complete(r)
}
