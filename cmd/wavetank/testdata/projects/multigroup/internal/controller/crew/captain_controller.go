package crew

import (
	"context"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	crewv1 "example.com/fleet/api/crew/v1"
)

// CaptainReconciler reconciles a Captain object.
type CaptainReconciler struct {
	client.Client
	Scheme *runtime.Scheme
}

// +kubebuilder:rbac:groups=crew.fleet.example.com,resources=captains,verbs=get;list;watch;create;update;patch;delete
// +kubebuilder:rbac:groups=crew.fleet.example.com,resources=captains/status,verbs=get;update;patch
// +kubebuilder:rbac:groups=crew.fleet.example.com,resources=captains/finalizers,verbs=update
// +kubebuilder:rbac:groups="",resources=configmaps,verbs=get;list;watch;create;update;patch;delete

// Reconcile writes the orders of a captain into a ConfigMap.
func (r *CaptainReconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	var captain crewv1.Captain
	if err := r.Get(ctx, req.NamespacedName, &captain); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	logbook := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: captain.Name + "-logbook", Namespace: captain.Namespace}}
	_, err := controllerutil.CreateOrUpdate(ctx, r.Client, logbook, func() error {
		logbook.Data = map[string]string{"orders": strings.Join(captain.Spec.Orders, "\n")}
		return controllerutil.SetControllerReference(&captain, logbook, r.Scheme)
	})
	if err != nil {
		return ctrl.Result{}, err
	}
	captain.Status.Logbook = logbook.Name
	return ctrl.Result{}, r.Status().Update(ctx, &captain)
}

// SetupWithManager sets up the controller with the Manager.
func (r *CaptainReconciler) SetupWithManager(mgr ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).
		For(&crewv1.Captain{}).
		Owns(&corev1.ConfigMap{}).
		Named("crew-captain").
		Complete(r)
}
