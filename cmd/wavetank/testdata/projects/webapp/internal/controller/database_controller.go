package controller

import (
	"context"
	"crypto/rand"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	webv1 "example.com/webapp-operator/api/v1"
)

// DatabaseReconciler reconciles a Database object.
type DatabaseReconciler struct {
	client.Client
	Scheme *runtime.Scheme
}

// +kubebuilder:rbac:groups=web.example.com,resources=databases,verbs=get;list;watch;create;update;patch;delete
// +kubebuilder:rbac:groups=web.example.com,resources=databases/status,verbs=get;update;patch
// +kubebuilder:rbac:groups=apps,resources=statefulsets,verbs=get;list;watch;create;update;patch;delete
// +kubebuilder:rbac:groups="",resources=secrets;services,verbs=get;list;watch;create;update;patch;delete

// Reconcile makes credentials, a Service and a StatefulSet for each Database.
func (r *DatabaseReconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	db := &webv1.Database{}
	if err := r.Get(ctx, req.NamespacedName, db); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}

	// The password is made once.
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: db.Name + "-credentials", Namespace: db.Namespace}}
	err := r.Get(ctx, client.ObjectKeyFromObject(secret), secret)
	if apierrors.IsNotFound(err) {
		secret.StringData = map[string]string{"username": "app", "password": rand.Text()}
		if err := ctrl.SetControllerReference(db, secret, r.Scheme); err != nil {
			return ctrl.Result{}, err
		}
		err = r.Create(ctx, secret)
	}
	if err != nil {
		return ctrl.Result{}, err
	}

	labels := map[string]string{"app.kubernetes.io/name": "database", "app.kubernetes.io/instance": db.Name}
	service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: db.Name, Namespace: db.Namespace}}
	if _, err := controllerutil.CreateOrUpdate(ctx, r.Client, service, func() error {
		service.Spec.Selector = labels
		service.Spec.ClusterIP = corev1.ClusterIPNone
		service.Spec.Ports = []corev1.ServicePort{{Name: "postgres", Port: 5432}}
		return ctrl.SetControllerReference(db, service, r.Scheme)
	}); err != nil {
		return ctrl.Result{}, err
	}

	storage, err := resource.ParseQuantity(db.Spec.Storage)
	if err != nil {
		return ctrl.Result{}, err
	}
	set := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Name: db.Name, Namespace: db.Namespace}}
	if _, err := controllerutil.CreateOrUpdate(ctx, r.Client, set, func() error {
		if set.CreationTimestamp.IsZero() {
			set.Spec.Selector = &metav1.LabelSelector{MatchLabels: labels}
			set.Spec.ServiceName = service.Name
			set.Spec.VolumeClaimTemplates = []corev1.PersistentVolumeClaim{{
				ObjectMeta: metav1.ObjectMeta{Name: "data"},
				Spec: corev1.PersistentVolumeClaimSpec{
					AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
					Resources: corev1.VolumeResourceRequirements{
						Requests: corev1.ResourceList{corev1.ResourceStorage: storage}},
				},
			}}
			set.Spec.Template = corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec: corev1.PodSpec{Containers: []corev1.Container{{
					Name:         "postgres",
					Image:        "postgres:17",
					EnvFrom:      []corev1.EnvFromSource{{SecretRef: &corev1.SecretEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: secret.Name}}}},
					VolumeMounts: []corev1.VolumeMount{{Name: "data", MountPath: "/var/lib/postgresql/data"}},
				}}},
			}
		}
		return ctrl.SetControllerReference(db, set, r.Scheme)
	}); err != nil {
		return ctrl.Result{}, err
	}

	db.Status.Secret = secret.Name
	db.Status.Ready = set.Status.ReadyReplicas > 0
	return ctrl.Result{}, r.Status().Update(ctx, db)
}

// SetupWithManager sets up the controller with the Manager.
func (r *DatabaseReconciler) SetupWithManager(mgr ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).
		For(&webv1.Database{}).
		Owns(&appsv1.StatefulSet{}).
		Owns(&corev1.Service{}).
		Owns(&corev1.Secret{}).
		Named("database").
		Complete(r)
}
