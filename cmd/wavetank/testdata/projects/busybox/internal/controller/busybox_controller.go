package controller

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/record"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	logf "sigs.k8s.io/controller-runtime/pkg/log"

	demov1alpha1 "example.com/busybox-operator/api/v1alpha1"
)

const (
	busyboxFinalizer = "demo.example.com/finalizer"

	typeAvailableBusybox = "Available"
	typeDegradedBusybox  = "Degraded"
)

// BusyboxReconciler reconciles a Busybox object.
type BusyboxReconciler struct {
	client.Client
	Scheme   *runtime.Scheme
	Recorder record.EventRecorder
}

// +kubebuilder:rbac:groups=demo.example.com,resources=busyboxes,verbs=get;list;watch;create;update;patch;delete
// +kubebuilder:rbac:groups=demo.example.com,resources=busyboxes/status,verbs=get;update;patch
// +kubebuilder:rbac:groups=demo.example.com,resources=busyboxes/finalizers,verbs=update
// +kubebuilder:rbac:groups=core,resources=events,verbs=create;patch
// +kubebuilder:rbac:groups=apps,resources=deployments,verbs=get;list;watch;create;update;patch;delete

// Reconcile keeps a Deployment for each Busybox.
func (r *BusyboxReconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	log := logf.FromContext(ctx)

	busybox := &demov1alpha1.Busybox{}
	if err := r.Get(ctx, req.NamespacedName, busybox); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}

	if len(busybox.Status.Conditions) == 0 {
		meta.SetStatusCondition(&busybox.Status.Conditions, metav1.Condition{Type: typeAvailableBusybox,
			Status: metav1.ConditionUnknown, Reason: "Reconciling", Message: "Starting reconciliation"})
		if err := r.Status().Update(ctx, busybox); err != nil {
			return ctrl.Result{}, err
		}
		if err := r.Get(ctx, req.NamespacedName, busybox); err != nil {
			return ctrl.Result{}, err
		}
	}

	if !controllerutil.ContainsFinalizer(busybox, busyboxFinalizer) {
		log.Info("adding finalizer for Busybox")
		controllerutil.AddFinalizer(busybox, busyboxFinalizer)
		if err := r.Update(ctx, busybox); err != nil {
			return ctrl.Result{}, err
		}
	}

	if busybox.GetDeletionTimestamp() != nil {
		if controllerutil.ContainsFinalizer(busybox, busyboxFinalizer) {
			meta.SetStatusCondition(&busybox.Status.Conditions, metav1.Condition{Type: typeDegradedBusybox,
				Status: metav1.ConditionUnknown, Reason: "Finalizing", Message: "Performing finalizer operations"})
			if err := r.Status().Update(ctx, busybox); err != nil {
				return ctrl.Result{}, err
			}

			r.doFinalizerOperations(busybox)

			if err := r.Get(ctx, req.NamespacedName, busybox); err != nil {
				return ctrl.Result{}, err
			}
			meta.SetStatusCondition(&busybox.Status.Conditions, metav1.Condition{Type: typeDegradedBusybox,
				Status: metav1.ConditionTrue, Reason: "Finalizing", Message: "Finalizer operations were accomplished"})
			if err := r.Status().Update(ctx, busybox); err != nil {
				return ctrl.Result{}, err
			}
			controllerutil.RemoveFinalizer(busybox, busyboxFinalizer)
			if err := r.Update(ctx, busybox); err != nil {
				return ctrl.Result{}, err
			}
		}
		return ctrl.Result{}, nil
	}

	found := &appsv1.Deployment{}
	err := r.Get(ctx, client.ObjectKeyFromObject(busybox), found)
	if apierrors.IsNotFound(err) {
		dep, err := r.deploymentForBusybox(busybox)
		if err != nil {
			log.Error(err, "failed to define new Deployment resource for Busybox")
			meta.SetStatusCondition(&busybox.Status.Conditions, metav1.Condition{Type: typeAvailableBusybox,
				Status: metav1.ConditionFalse, Reason: "Reconciling",
				Message: fmt.Sprintf("Failed to create Deployment: %s", err)})
			if err := r.Status().Update(ctx, busybox); err != nil {
				return ctrl.Result{}, err
			}
			return ctrl.Result{}, err
		}
		if err := r.Create(ctx, dep); err != nil {
			return ctrl.Result{}, err
		}
		// Look again after a minute, and when the deployment has changed.
		return ctrl.Result{RequeueAfter: time.Minute}, nil
	} else if err != nil {
		return ctrl.Result{}, err
	}

	if size := busybox.Spec.Size; size != nil && *found.Spec.Replicas != *size {
		found.Spec.Replicas = size
		if err := r.Update(ctx, found); err != nil {
			return ctrl.Result{}, err
		}
		return ctrl.Result{RequeueAfter: time.Second}, nil
	}

	meta.SetStatusCondition(&busybox.Status.Conditions, metav1.Condition{Type: typeAvailableBusybox,
		Status: metav1.ConditionTrue, Reason: "Reconciling",
		Message: fmt.Sprintf("Deployment for %s with %d replicas created", busybox.Name, *busybox.Spec.Size)})
	return ctrl.Result{}, r.Status().Update(ctx, busybox)
}

func (r *BusyboxReconciler) doFinalizerOperations(cr *demov1alpha1.Busybox) {
	r.Recorder.Event(cr, "Warning", "Deleting",
		fmt.Sprintf("Custom Resource %s is being deleted from the namespace %s", cr.Name, cr.Namespace))
}

func (r *BusyboxReconciler) deploymentForBusybox(busybox *demov1alpha1.Busybox) (*appsv1.Deployment, error) {
	image, err := imageForBusybox()
	if err != nil {
		return nil, err
	}
	tag := ""
	if _, after, ok := strings.Cut(image, ":"); ok {
		tag = after
	}
	labels := map[string]string{"app.kubernetes.io/name": "busybox", "app.kubernetes.io/instance": busybox.Name,
		"app.kubernetes.io/version": tag}
	dep := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: busybox.Name, Namespace: busybox.Namespace},
		Spec: appsv1.DeploymentSpec{
			Replicas: busybox.Spec.Size,
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec: corev1.PodSpec{Containers: []corev1.Container{{
					Name:            "busybox",
					Image:           image,
					ImagePullPolicy: corev1.PullIfNotPresent,
				}}},
			},
		},
	}
	return dep, ctrl.SetControllerReference(busybox, dep, r.Scheme)
}

// imageForBusybox gets the image from the environment, where config/manager/manager.yaml sets it.
func imageForBusybox() (string, error) {
	const name = "BUSYBOX_IMAGE"
	image, found := os.LookupEnv(name)
	if !found {
		return "", fmt.Errorf("unable to find %s environment variable with the image", name)
	}
	return image, nil
}

// SetupWithManager sets up the controller with the Manager.
func (r *BusyboxReconciler) SetupWithManager(mgr ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).
		For(&demov1alpha1.Busybox{}).
		Owns(&appsv1.Deployment{}).
		Complete(r)
}
