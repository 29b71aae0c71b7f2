package property_test

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/property"
)

// deployments runs an operator that writes the status of Deployments, and has a user make one.
func deployments(w *sim.World,
	reconcile func(context.Context, client.Client, *appsv1.Deployment) error) *appsv1.Deployment {
	w.Start("operator", func(mgr ctrl.Manager) error {
		return ctrl.NewControllerManagedBy(mgr).Named("work").For(&appsv1.Deployment{}).Owns(&corev1.ConfigMap{}).
			Complete(reconciler(func(c context.Context, req request) (result, error) {
				var d appsv1.Deployment
				if err := mgr.GetClient().Get(c, req.NamespacedName, &d); err != nil {
					return result{}, client.IgnoreNotFound(err)
				}
				return result{}, reconcile(c, mgr.GetClient(), &d)
			}))
	})
	d := &appsv1.Deployment{ObjectMeta: named("a")}
	d.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": "a"}}
	d.Spec.Template.Labels = d.Spec.Selector.MatchLabels
	d.Spec.Template.Spec.Containers = []corev1.Container{{Name: "c", Image: "i"}}
	w.Apply(d)
	w.Settle()
	return d
}

func observesOnce(w *sim.World, flawed bool) {
	w.Eventually("ObservedGeneration", property.ObservedGeneration())
	d := deployments(w, func(c context.Context, cl client.Client, d *appsv1.Deployment) error {
		if d.Status.ObservedGeneration == d.Generation || flawed && d.Status.ObservedGeneration > 0 {
			return nil
		}
		d.Status.ObservedGeneration = d.Generation
		return cl.Status().Update(c, d)
	})
	patch := client.RawPatch(types.MergePatchType, []byte(`{"spec":{"replicas":2}}`))
	if err := w.Client().Patch(w.Context(), d, patch); err != nil {
		panic(err)
	}
	w.Settle()
}

func namesTheGone(w *sim.World, flawed bool) {
	w.Eventually("StatusNamesWhatExists", property.StatusNamesWhatExists())
	child := &corev1.ConfigMap{ObjectMeta: named("child")}
	deployments(w, func(c context.Context, cl client.Client, d *appsv1.Deployment) error {
		if len(d.Status.Conditions) == 0 {
			made := child.DeepCopy()
			if err := ctrl.SetControllerReference(d, made, cl.Scheme()); err != nil {
				return err
			}
			if err := cl.Create(c, made); client.IgnoreAlreadyExists(err) != nil {
				return err
			}
			d.Status.Conditions = []appsv1.DeploymentCondition{{Type: "Child", Status: "True", Message: child.Name}}
			return cl.Status().Update(c, d)
		}
		err := cl.Get(c, client.ObjectKeyFromObject(child), &corev1.ConfigMap{})
		if !apierrors.IsNotFound(err) || flawed || d.Status.Conditions[0].Status == "False" {
			return client.IgnoreNotFound(err)
		}
		d.Status.Conditions[0].Status, d.Status.Conditions[0].Message = "False", "a user has deleted it"
		return cl.Status().Update(c, d)
	})
	w.Remove(child)
	w.Settle()
}
