package website

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// reconciler keeps what belongs to a Site as the Site wants it.
type reconciler struct{ client.Client }

func (r *reconciler) setup(mgr ctrl.Manager) error {
	r.Client = mgr.GetClient()
	return ctrl.NewControllerManagedBy(mgr).For(&Site{}).Owns(&corev1.ConfigMap{}).Owns(&appsv1.Deployment{}).
		Owns(&corev1.Service{}).Complete(r)
}

// Reconcile implements reconcile.Reconciler.
func (r *reconciler) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	var s Site
	if err := r.Get(ctx, req.NamespacedName, &s); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	if !s.DeletionTimestamp.IsZero() {
		return reconcile.Result{}, nil
	}
	named := metav1.ObjectMeta{Namespace: s.Namespace, Name: s.Name}
	cm := &corev1.ConfigMap{ObjectMeta: named}
	d, svc := &appsv1.Deployment{ObjectMeta: named}, &corev1.Service{ObjectMeta: named}
	for _, child := range []struct {
		object client.Object
		mutate func()
	}{
		{cm, func() { cm.Data = map[string]string{"index.html": s.Spec.Page} }},
		{d, func() { deploy(&s, d) }},
		{svc, func() { serve(&s, svc) }},
	} {
		if _, err := ctrl.CreateOrUpdate(ctx, r.Client, child.object, func() error {
			child.mutate()
			return controllerutil.SetControllerReference(&s, child.object, r.Scheme())
		}); err != nil {
			return reconcile.Result{}, err
		}
	}
	return reconcile.Result{}, r.report(ctx, &s, d)
}

// report tells in the status how many pods serve the page, if that has changed.
func (r *reconciler) report(ctx context.Context, s *Site, d *appsv1.Deployment) error {
	was := s.Status
	is := SiteStatus{Ready: d.Status.ReadyReplicas, ObservedGeneration: s.Generation}
	for i := range was.Conditions {
		is.Conditions = append(is.Conditions, *was.Conditions[i].DeepCopy())
	}
	c := metav1.Condition{Type: "Available", Status: metav1.ConditionFalse, Reason: "Rolling",
		Message: fmt.Sprintf("%d of %d pods are ready", is.Ready, s.Spec.Replicas), ObservedGeneration: s.Generation}
	if rolledOut(d) {
		c.Status, c.Reason = metav1.ConditionTrue, "Serving"
	}
	meta.SetStatusCondition(&is.Conditions, c)
	if equality.Semantic.DeepEqual(was, is) {
		return nil
	}
	s.Status = is
	return r.Status().Update(ctx, s)
}

// rolledOut is what kubectl rollout status waits for.
func rolledOut(d *appsv1.Deployment) bool {
	n := int32(1)
	if d.Spec.Replicas != nil {
		n = *d.Spec.Replicas
	}
	st := d.Status
	return st.ObservedGeneration == d.Generation && st.UpdatedReplicas == n && st.Replicas == n &&
		st.AvailableReplicas == n
}

func deploy(s *Site, d *appsv1.Deployment) {
	labels := map[string]string{"site": s.Name}
	d.Spec.Replicas, d.Spec.Selector = &s.Spec.Replicas, &metav1.LabelSelector{MatchLabels: labels}
	d.Spec.Template.Labels = labels
	if len(d.Spec.Template.Spec.Containers) == 0 {
		d.Spec.Template.Spec.Containers = []corev1.Container{{Name: "web"}}
		d.Spec.Template.Spec.Volumes = []corev1.Volume{{Name: "page", VolumeSource: corev1.VolumeSource{
			ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: s.Name}}}}}
	}
	c := &d.Spec.Template.Spec.Containers[0]
	c.Image, c.Ports = s.Spec.Image, []corev1.ContainerPort{{Name: "http", ContainerPort: 8080, Protocol: "TCP"}}
	c.VolumeMounts = []corev1.VolumeMount{{Name: "page", MountPath: "/www"}}
}

func serve(s *Site, svc *corev1.Service) {
	svc.Spec.Selector = map[string]string{"site": s.Name}
	if len(svc.Spec.Ports) == 0 {
		svc.Spec.Ports = []corev1.ServicePort{{Name: "http", Port: 80}}
	}
}
