// This file holds operators that share objects with others by field, not by object.

package correct

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/wavetank/wavetank/history"
)

func applyOperators() []Operator {
	return []Operator{
		{"two-field-owners", "server-side apply of one object by two controllers with different field owners",
			twoFieldOwners},
		{"strict-dry-run", "a field owner, strict validation, and a dry run before each write", strictDryRun},
	}
}

// layer applies its part of a ConfigMap: the base writes the text, the overlay the size.
type layer struct {
	client.Client
	name string
	part func(*Widget) map[string]string
}

func (r layer) Reconcile(c context.Context, req ctrl.Request) (ctrl.Result, error) {
	var w Widget
	if err := r.Get(c, req.NamespacedName, &w); err != nil || !w.DeletionTimestamp.IsZero() {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	config := corev1ac.ConfigMap(w.Name+"-config", w.Namespace).WithLabels(map[string]string{r.name: "yes"}).
		WithData(r.part(&w)).
		WithOwnerReferences(metav1ac.OwnerReference().WithAPIVersion(group.String()).WithKind("Widget").
			WithName(w.Name).WithUID(w.UID))
	return ctrl.Result{}, r.Apply(c, config, client.FieldOwner(r.name), client.ForceOwnership)
}

func twoFieldOwners(w *stage) {
	add := func(name string, part func(*Widget) map[string]string) {
		w.start(name, ctrl.Options{}, func(mgr ctrl.Manager) error {
			return ctrl.NewControllerManagedBy(mgr).Named(name).For(&Widget{}).
				Watches(&corev1.ConfigMap{}, ownedBy(mgr)).Complete(layer{mgr.GetClient(), name, part})
		})
	}
	add("base", func(w *Widget) map[string]string { return map[string]string{"text": w.Spec.Text} })
	add("overlay", func(w *Widget) map[string]string {
		if w.Spec.Size == 0 {
			return nil // a key that is no longer applied goes away
		}
		return map[string]string{"size": fmt.Sprint(w.Spec.Size)}
	})
	w.disturb()
	w.promise()
	w.finally("both parts are there", "a", func(h *history.History, a *Widget) error {
		var config corev1.ConfigMap
		into(h, "", "ConfigMap", ns, "a-config", &config)
		if config.Data["text"] != a.Spec.Text || (config.Data["size"] != "") != (a.Spec.Size > 0) {
			return fmt.Errorf("the Widget is %+v and the ConfigMap %v", a.Spec, config.Data)
		}
		return nil
	})
	a := widget("a", WidgetSpec{Text: "red", Size: 1})
	w.Apply(a.DeepCopy())
	w.Settle()
	w.edit("a", func(o *Widget) { o.Spec = WidgetSpec{Text: "green"} })
	w.Settle()
	w.restart()
	w.Remove(a)
	w.Settle()
}

// careful asks the server first whether it would take what is going to be written.
type careful struct{ client.Client }

func (r careful) Reconcile(c context.Context, req ctrl.Request) (ctrl.Result, error) {
	var w Widget
	if err := r.Get(c, req.NamespacedName, &w); err != nil || !w.DeletionTimestamp.IsZero() {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	for _, cl := range []client.Client{client.NewDryRunClient(r.Client), r.Client} {
		service := &corev1.Service{ObjectMeta: named(w.Name)}
		if _, err := controllerutil.CreateOrUpdate(c, cl, service, func() error {
			metav1.SetMetaDataLabel(&service.ObjectMeta, "text", w.Spec.Text)
			service.Spec.Type = corev1.ServiceTypeExternalName
			service.Spec.ExternalName = w.Spec.Text + ".example"
			return controllerutil.SetControllerReference(&w, service, r.Scheme())
		}); err != nil {
			return ctrl.Result{}, err
		}
	}
	return ctrl.Result{}, writeStatus(c, r.Client, &w, func(s *WidgetStatus) { s.Phase = "Ready" })
}

func strictDryRun(w *stage) {
	w.start("careful", ctrl.Options{}, func(mgr ctrl.Manager) error {
		strict := client.WithFieldValidation(mgr.GetClient(), metav1.FieldValidationStrict)
		return ctrl.NewControllerManagedBy(mgr).Named("careful").For(&Widget{}).Owns(&corev1.Service{}).
			Complete(careful{client.WithFieldOwner(strict, "careful")})
	})
	w.disturb()
	w.promise()
	w.finally("the service points to the text", "a", func(h *history.History, a *Widget) error {
		var service corev1.Service
		into(h, "", "Service", ns, "a", &service)
		if service.Spec.ExternalName != a.Spec.Text+".example" {
			return fmt.Errorf("it points to %q", service.Spec.ExternalName)
		}
		return nil
	})
	w.usual()
}
