// This file holds operators that act on the whole cluster: namespaces and admission.

package correct

import (
	"context"
	"errors"
	"fmt"
	"time"

	admissionregv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/handler"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/sim/fault"
)

func clusterOperators() []Operator {
	return []Operator{
		{"namespaces", "provisions a Namespace with a RoleBinding and a quota, behind a finalizer", namespaces},
		{"defaulter", "a mutating webhook gives defaults, and a controller relies on them", defaulting},
	}
}

// provisioner gives each Widget a Namespace. An owner reference cannot lead out of a namespace, so
// a finalizer waits until the Namespace is gone.
type provisioner struct {
	client.Client
	live client.Reader
}

const namespaceFinalizer = "correct.example/namespace"

func (r provisioner) Reconcile(c context.Context, req ctrl.Request) (ctrl.Result, error) {
	var w Widget
	if err := r.Get(c, req.NamespacedName, &w); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	space := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "tenant-" + w.Name}}
	if !w.DeletionTimestamp.IsZero() {
		return ctrl.Result{}, r.finish(c, &w, space)
	}
	if controllerutil.AddFinalizer(&w, namespaceFinalizer) {
		if err := r.Update(c, &w); err != nil {
			return ctrl.Result{}, err
		}
	}
	quota := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Namespace: space.Name, Name: "quota"}}
	binding := &rbacv1.RoleBinding{ObjectMeta: metav1.ObjectMeta{Namespace: space.Name, Name: "admin"}}
	for _, step := range []struct {
		object client.Object
		fill   func()
	}{
		{space, func() { metav1.SetMetaDataLabel(&space.ObjectMeta, "widget", w.Name) }},
		{quota, func() {
			pods := resource.NewQuantity(int64(w.Spec.Size), resource.DecimalSI)
			quota.Spec.Hard = corev1.ResourceList{corev1.ResourcePods: *pods}
		}},
		{binding, func() {
			binding.Subjects = []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: "User", Name: w.Spec.Text}}
			binding.RoleRef = rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "admin"}
		}},
	} {
		if _, err := controllerutil.CreateOrUpdate(c, r.Client, step.object, func() error {
			step.fill()
			return nil
		}); err != nil {
			return ctrl.Result{}, err
		}
	}
	return ctrl.Result{}, writeStatus(c, r.Client, &w, func(s *WidgetStatus) { s.Phase = "Ready" })
}

// finish deletes the Namespace, and takes the finalizer off when it is gone. A cache that does not
// know of the Namespace proves nothing.
func (r provisioner) finish(c context.Context, w *Widget, space *corev1.Namespace) error {
	if !controllerutil.ContainsFinalizer(w, namespaceFinalizer) {
		return nil
	}
	err := r.live.Get(c, client.ObjectKeyFromObject(space), space)
	if err == nil && space.DeletionTimestamp.IsZero() {
		return client.IgnoreNotFound(r.Delete(c, space, client.Preconditions{UID: &space.UID}))
	}
	if err == nil || !apierrors.IsNotFound(err) {
		return err // its end will wake the controller
	}
	controllerutil.RemoveFinalizer(w, namespaceFinalizer)
	return client.IgnoreNotFound(r.Update(c, w))
}

func namespaces(w *stage) {
	tenant := func(_ context.Context, o client.Object) []ctrl.Request {
		name := o.GetLabels()["widget"]
		if space := o.GetNamespace(); name == "" && len(space) > len("tenant-") && space[:len("tenant-")] == "tenant-" {
			name = space[len("tenant-"):]
		}
		if name == "" {
			return nil
		}
		return []ctrl.Request{{NamespacedName: key(name)}}
	}
	w.start("provisioner", ctrl.Options{}, func(mgr ctrl.Manager) error {
		wake := handler.EnqueueRequestsFromMapFunc(tenant)
		return ctrl.NewControllerManagedBy(mgr).Named("provisioner").For(&Widget{}).Watches(&corev1.Namespace{}, wake).
			Watches(&corev1.ResourceQuota{}, wake).Watches(&rbacv1.RoleBinding{}, wake).
			Complete(provisioner{mgr.GetClient(), mgr.GetAPIReader()})
	})
	w.disturb(fault.SlowNamespace(20 * time.Second))
	w.promise()
	w.finally("the tenant has what it needs", "a", func(h *history.History, a *Widget) error {
		var quota corev1.ResourceQuota
		var binding rbacv1.RoleBinding
		if !into(h, "", "ResourceQuota", "tenant-a", "quota", &quota) ||
			quota.Spec.Hard.Pods().Value() != int64(a.Spec.Size) ||
			!into(h, rbacv1.GroupName, "RoleBinding", "tenant-a", "admin", &binding) ||
			binding.Subjects[0].Name != a.Spec.Text {
			return fmt.Errorf("the quota is %v and the subjects %v", quota.Spec.Hard, binding.Subjects)
		}
		return nil
	})
	w.Eventually("no tenant outlives its Widget", func(h *history.History) error {
		for _, name := range []string{"a", "b"} {
			_, wanted := h.Object(group.Group, "Widget", ns, name)
			if _, there := h.Object("", "Namespace", "", "tenant-"+name); there != wanted {
				return fmt.Errorf("Widget %s exists: %v, its Namespace: %v", name, wanted, there)
			}
		}
		return nil
	})
	w.usualWithFinalizer()
}

// defaulter gives a Widget without a text one.
type defaulter struct{}

func (defaulter) Default(_ context.Context, w *Widget) error {
	if w.Spec.Text == "" {
		w.Spec.Text = "grey"
	}
	return nil
}

func defaulting(w *stage) {
	w.start("configurer", ctrl.Options{}, func(mgr ctrl.Manager) error {
		if err := ctrl.NewWebhookManagedBy(mgr, &Widget{}).WithDefaulter(defaulter{}).Complete(); err != nil {
			return err
		}
		return configurer{mgr.GetClient()}.SetupWithManager(mgr, "configurer")
	})
	w.Install(&admissionregv1.MutatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: "defaulter"},
		Webhooks: []admissionregv1.MutatingWebhook{{
			Name: "defaulter.correct.example", AdmissionReviewVersions: []string{"v1"},
			SideEffects:   new(admissionregv1.SideEffectClassNone),
			FailurePolicy: new(admissionregv1.Fail),
			ClientConfig: admissionregv1.WebhookClientConfig{Service: &admissionregv1.ServiceReference{Namespace: ns,
				Name: "configurer", Path: new("/mutate-correct-example-v1-widget")}},
			Rules: []admissionregv1.RuleWithOperations{{
				Operations: []admissionregv1.OperationType{admissionregv1.Create, admissionregv1.Update},
				Rule: admissionregv1.Rule{APIGroups: []string{group.Group}, APIVersions: []string{group.Version},
					Resources: []string{"widgets"}},
			}},
		}},
	})
	w.disturb(fault.WebhookDown(20 * time.Second))
	w.promise()
	w.finally("the default reaches the ConfigMap", "a", func(h *history.History, a *Widget) error {
		if a.Spec.Text == "" {
			return errors.New("the text has no default")
		}
		return configured(h, a)
	})
	w.Settle() // the webhook serves before users need it
	a := widget("a", WidgetSpec{Size: 1})
	w.Apply(a.DeepCopy())
	w.Settle()
	w.Apply(widget("a", WidgetSpec{Text: "red", Size: 2}))
	w.Settle()
	w.restart()
	w.Remove(a)
	w.Settle()
}
