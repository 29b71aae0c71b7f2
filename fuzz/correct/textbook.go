// This file holds operators as the books of kubebuilder and controller-runtime show them.

package correct

import (
	"context"
	"fmt"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/wavetank/wavetank/history"
)

func textbookOperators() []Operator {
	return []Operator{
		{"create-or-update", "For, Owns, CreateOrUpdate, SetControllerReference", createOrUpdate},
		{"create-or-patch", "CreateOrPatch of three kinds, patches of the status", createOrPatch},
		{"singleton", "reconcile.ObjectReconciler; one object with a fixed name counts", singleton},
	}
}

// configurer keeps a ConfigMap for each Widget.
type configurer struct{ client.Client }

func (r configurer) SetupWithManager(mgr ctrl.Manager, name string) error {
	return ctrl.NewControllerManagedBy(mgr).Named(name).For(&Widget{}).Owns(&corev1.ConfigMap{}).Complete(r)
}

func (r configurer) Reconcile(c context.Context, req ctrl.Request) (ctrl.Result, error) {
	var w Widget
	if err := r.Get(c, req.NamespacedName, &w); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if !w.DeletionTimestamp.IsZero() {
		return ctrl.Result{}, nil
	}
	config := &corev1.ConfigMap{ObjectMeta: named(w.Name + "-config")}
	if _, err := controllerutil.CreateOrUpdate(c, r.Client, config, func() error {
		metav1.SetMetaDataLabel(&config.ObjectMeta, "size", strconv.Itoa(int(w.Spec.Size)))
		config.Data = map[string]string{"text": w.Spec.Text}
		return controllerutil.SetControllerReference(&w, config, r.Scheme())
	}); err != nil {
		return ctrl.Result{}, err
	}
	return ctrl.Result{}, writeStatus(c, r.Client, &w, func(s *WidgetStatus) { s.Children = []string{config.Name} })
}

// configured holds when the ConfigMap of the Widget says what the Widget says.
func configured(h *history.History, w *Widget) error {
	var config corev1.ConfigMap
	into(h, "", "ConfigMap", ns, w.Name+"-config", &config)
	if config.Data["text"] != w.Spec.Text {
		return fmt.Errorf("the ConfigMap of %s has text %q instead of %q", w.Name, config.Data["text"], w.Spec.Text)
	}
	return nil
}

// usual is what most users do: two Widgets are created, one is changed, one is deleted and made
// again while the operator is still at work, the operator is restarted, and all is deleted.
func (s *stage) usual() { s.life(func() {}) }

// usualWithFinalizer waits until the Widget that is deleted is gone: to apply one that is being
// deleted changes nothing, so whether it comes back would depend on who is first.
func (s *stage) usualWithFinalizer() { s.life(s.Settle) }

func (s *stage) life(gone func()) {
	a, b := widget("a", WidgetSpec{Text: "red", Size: 1}), widget("b", WidgetSpec{Text: "blue", Size: 2})
	s.Apply(a.DeepCopy(), b.DeepCopy())
	s.Settle()
	s.edit("a", func(w *Widget) { w.Spec.Text, w.Spec.Size = "green", 3 })
	s.Remove(b.DeepCopy())
	gone()
	s.Apply(b.DeepCopy())
	s.Settle()
	s.restart()
	s.Remove(a, b)
	s.Settle()
}

func createOrUpdate(w *stage) {
	w.start("configurer", ctrl.Options{}, func(mgr ctrl.Manager) error {
		return configurer{mgr.GetClient()}.SetupWithManager(mgr, "configurer")
	})
	w.disturb()
	w.promise()
	w.finally("the ConfigMap is up to date", "a", configured)
	w.usual()
}

// tenant gives each Widget an account with a role.
type tenant struct{ client.Client }

func (r tenant) Reconcile(c context.Context, req ctrl.Request) (ctrl.Result, error) {
	var w Widget
	if err := r.Get(c, req.NamespacedName, &w); err != nil || !w.DeletionTimestamp.IsZero() {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	account := &corev1.ServiceAccount{ObjectMeta: named(w.Name)}
	role := &rbacv1.Role{ObjectMeta: named(w.Name)}
	binding := &rbacv1.RoleBinding{ObjectMeta: named(w.Name)}
	for _, step := range []struct {
		child client.Object
		fill  func()
	}{
		{account, func() { metav1.SetMetaDataAnnotation(&account.ObjectMeta, "text", w.Spec.Text) }},
		{role, func() {
			role.Rules = []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"configmaps"},
				ResourceNames: []string{w.Spec.Text}, Verbs: []string{"get"}}}
		}},
		{binding, func() {
			binding.Subjects = []rbacv1.Subject{{Kind: "ServiceAccount", Name: account.Name, Namespace: ns}}
			binding.RoleRef = rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: role.Name}
		}},
	} {
		if _, err := controllerutil.CreateOrPatch(c, r.Client, step.child, func() error {
			step.fill()
			return controllerutil.SetControllerReference(&w, step.child, r.Scheme())
		}); err != nil {
			return ctrl.Result{}, err
		}
	}
	before := w.DeepCopy()
	w.Status.ObservedGeneration = w.Generation
	meta.SetStatusCondition(&w.Status.Conditions, metav1.Condition{Type: "Ready", Status: metav1.ConditionTrue,
		Reason: "Granted", Message: "may read " + w.Spec.Text, ObservedGeneration: w.Generation})
	return ctrl.Result{}, r.Status().Patch(c, &w, client.MergeFrom(before))
}

func createOrPatch(w *stage) {
	w.start("tenants", ctrl.Options{}, func(mgr ctrl.Manager) error {
		return ctrl.NewControllerManagedBy(mgr).Named("tenants").For(&Widget{}).Owns(&corev1.ServiceAccount{}).
			Owns(&rbacv1.Role{}).Owns(&rbacv1.RoleBinding{}).Complete(tenant{mgr.GetClient()})
	})
	w.disturb()
	w.promise()
	w.finally("the role is up to date", "a", func(h *history.History, a *Widget) error {
		var role rbacv1.Role
		if !into(h, rbacv1.GroupName, "Role", ns, "a", &role) || role.Rules[0].ResourceNames[0] != a.Spec.Text {
			return fmt.Errorf("the rules are %v and the Widget has text %q", role.Rules, a.Spec.Text)
		}
		return nil
	})
	w.usual()
}

// settings is configured by the Widget "main" alone; others are told so.
type settings struct{ client.Client }

const settingsFinalizer = "correct.example/settings"

func (r settings) Reconcile(c context.Context, w *Widget) (ctrl.Result, error) {
	if w.Name != "main" {
		return ctrl.Result{}, writeStatus(c, r.Client, w, func(s *WidgetStatus) { s.Phase = "Ignored" })
	}
	config := &corev1.ConfigMap{ObjectMeta: named("settings")}
	if !w.DeletionTimestamp.IsZero() {
		if err := r.Delete(c, config); client.IgnoreNotFound(err) != nil {
			return ctrl.Result{}, err
		}
		if !controllerutil.RemoveFinalizer(w, settingsFinalizer) {
			return ctrl.Result{}, nil
		}
		return ctrl.Result{}, r.Update(c, w)
	}
	if controllerutil.AddFinalizer(w, settingsFinalizer) {
		return ctrl.Result{}, r.Update(c, w)
	}
	if _, err := controllerutil.CreateOrUpdate(c, r.Client, config, func() error {
		config.Data = map[string]string{"text": w.Spec.Text}
		return nil
	}); err != nil {
		return ctrl.Result{}, err
	}
	return ctrl.Result{}, writeStatus(c, r.Client, w, func(s *WidgetStatus) { s.Phase = "Active" })
}

func singleton(w *stage) {
	w.start("settings", ctrl.Options{}, func(mgr ctrl.Manager) error {
		return ctrl.NewControllerManagedBy(mgr).Named("settings").For(&Widget{}).
			Complete(reconcile.AsReconciler(mgr.GetClient(), settings{mgr.GetClient()}))
	})
	w.disturb()
	w.promise(deletes) // the ConfigMap is deleted by its name, which is the operator's
	w.finally("the settings are those of main", "main", func(h *history.History, main *Widget) error {
		var config corev1.ConfigMap
		if into(h, "", "ConfigMap", ns, "settings", &config); config.Data["text"] != main.Spec.Text {
			return fmt.Errorf("they are %q", config.Data["text"])
		}
		return nil
	})
	main, other := widget("main", WidgetSpec{Text: "red"}), widget("other", WidgetSpec{Text: "blue"})
	w.Apply(main.DeepCopy(), other)
	w.Settle()
	w.edit("main", func(o *Widget) { o.Spec.Text = "green" })
	w.Settle()
	w.restart()
	w.Remove(main)
	w.Settle()
	w.Eventually("the settings have gone", func(h *history.History) error { return absent(h, "ConfigMap", "settings") })
	w.Settle()
}
