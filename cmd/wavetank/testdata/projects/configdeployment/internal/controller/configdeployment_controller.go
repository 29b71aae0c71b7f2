package controller

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	appsexamplev1 "example.com/configdeployment/api/v1"
)

const (
	configMapField          = ".spec.configMap"
	configVersionAnnotation = "apps.example.com/config-version"
)

// ConfigDeploymentReconciler reconciles a ConfigDeployment object.
type ConfigDeploymentReconciler struct {
	client.Client
	Scheme *runtime.Scheme
}

// +kubebuilder:rbac:groups=apps.example.com,resources=configdeployments,verbs=get;list;watch;create;update;patch;delete
// +kubebuilder:rbac:groups=apps.example.com,resources=configdeployments/status,verbs=get;update;patch
// +kubebuilder:rbac:groups=apps.example.com,resources=configdeployments/finalizers,verbs=update
// +kubebuilder:rbac:groups=apps,resources=deployments,verbs=get;list;watch;create;update;patch;delete
// +kubebuilder:rbac:groups="",resources=configmaps,verbs=get;list;watch

// Reconcile restarts the pods of a deployment when the ConfigMap that they use has changed.
func (r *ConfigDeploymentReconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	var cd appsexamplev1.ConfigDeployment
	if err := r.Get(ctx, req.NamespacedName, &cd); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}

	version := ""
	if cd.Spec.ConfigMap != "" {
		var found corev1.ConfigMap
		if err := r.Get(ctx, types.NamespacedName{Name: cd.Spec.ConfigMap, Namespace: cd.Namespace}, &found); err != nil {
			// A ConfigMap that is named must exist.
			return ctrl.Result{}, err
		}
		version = found.ResourceVersion
	}

	deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: cd.Name, Namespace: cd.Namespace}}
	_, err := controllerutil.CreateOrUpdate(ctx, r.Client, deployment, func() error {
		labels := map[string]string{"app": cd.Name}
		deployment.Spec.Selector = &metav1.LabelSelector{MatchLabels: labels}
		deployment.Spec.Template.Labels = labels
		deployment.Spec.Template.Annotations = map[string]string{configVersionAnnotation: version}
		if len(deployment.Spec.Template.Spec.Containers) == 0 {
			deployment.Spec.Template.Spec.Containers = []corev1.Container{{Name: "app"}}
		}
		deployment.Spec.Template.Spec.Containers[0].Image = cd.Spec.Image
		return ctrl.SetControllerReference(&cd, deployment, r.Scheme)
	})
	if err != nil {
		return ctrl.Result{}, err
	}

	if cd.Status.ConfigVersion != version {
		cd.Status.ConfigVersion = version
		return ctrl.Result{}, r.Status().Update(ctx, &cd)
	}
	return ctrl.Result{}, nil
}

// SetupWithManager sets up the controller with the Manager.
func (r *ConfigDeploymentReconciler) SetupWithManager(mgr ctrl.Manager) error {
	index := func(o client.Object) []string {
		if name := o.(*appsexamplev1.ConfigDeployment).Spec.ConfigMap; name != "" {
			return []string{name}
		}
		return nil
	}
	err := mgr.GetFieldIndexer().IndexField(context.Background(), &appsexamplev1.ConfigDeployment{}, configMapField, index)
	if err != nil {
		return err
	}
	return ctrl.NewControllerManagedBy(mgr).
		For(&appsexamplev1.ConfigDeployment{}).
		Owns(&appsv1.Deployment{}).
		Watches(&corev1.ConfigMap{}, handler.EnqueueRequestsFromMapFunc(r.findObjectsForConfigMap),
			builder.WithPredicates(predicate.ResourceVersionChangedPredicate{})).
		Complete(r)
}

func (r *ConfigDeploymentReconciler) findObjectsForConfigMap(ctx context.Context, o client.Object) []reconcile.Request {
	var attached appsexamplev1.ConfigDeploymentList
	err := r.List(ctx, &attached, &client.ListOptions{
		FieldSelector: fields.OneTermEqualSelector(configMapField, o.GetName()), Namespace: o.GetNamespace()})
	if err != nil {
		return nil
	}
	requests := make([]reconcile.Request, len(attached.Items))
	for i, item := range attached.Items {
		requests[i] = reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&item)}
	}
	return requests
}
