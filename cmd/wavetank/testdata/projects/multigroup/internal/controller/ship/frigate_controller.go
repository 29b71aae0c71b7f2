package ship

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	crewv1 "example.com/fleet/api/crew/v1"
	shipv1beta1 "example.com/fleet/api/ship/v1beta1"
)

// FrigateReconciler reconciles a Frigate object.
type FrigateReconciler struct {
	client.Client
	Scheme *runtime.Scheme
}

// +kubebuilder:rbac:groups=ship.fleet.example.com,resources=frigates,verbs=get;list;watch;create;update;patch;delete
// +kubebuilder:rbac:groups=ship.fleet.example.com,resources=frigates/status,verbs=get;update;patch
// +kubebuilder:rbac:groups=ship.fleet.example.com,resources=frigates/finalizers,verbs=update
// +kubebuilder:rbac:groups=crew.fleet.example.com,resources=captains,verbs=get;list;watch

// Reconcile says in the status of a frigate whether its captain is there.
func (r *FrigateReconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	var frigate shipv1beta1.Frigate
	if err := r.Get(ctx, req.NamespacedName, &frigate); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	commanded := false
	if frigate.Spec.Captain != "" {
		var captain crewv1.Captain
		err := r.Get(ctx, types.NamespacedName{Namespace: frigate.Namespace, Name: frigate.Spec.Captain}, &captain)
		if err != nil && !apierrors.IsNotFound(err) {
			return ctrl.Result{}, err
		}
		commanded = err == nil && captain.DeletionTimestamp.IsZero()
	}
	before := frigate.DeepCopy()
	frigate.Status.Commanded = commanded
	frigate.Status.ObservedGeneration = frigate.Generation
	return ctrl.Result{}, r.Status().Patch(ctx, &frigate, client.MergeFrom(before))
}

// SetupWithManager sets up the controller with the Manager.
func (r *FrigateReconciler) SetupWithManager(mgr ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).
		For(&shipv1beta1.Frigate{}).
		Watches(&crewv1.Captain{}, handler.EnqueueRequestsFromMapFunc(r.frigatesOf)).
		Named("ship-frigate").
		Complete(r)
}

func (r *FrigateReconciler) frigatesOf(ctx context.Context, captain client.Object) []reconcile.Request {
	var list shipv1beta1.FrigateList
	if err := r.List(ctx, &list, client.InNamespace(captain.GetNamespace())); err != nil {
		return nil
	}
	var out []reconcile.Request
	for _, f := range list.Items {
		if f.Spec.Captain == captain.GetName() {
			out = append(out, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&f)})
		}
	}
	return out
}
