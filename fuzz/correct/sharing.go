// This file holds operators that write to what others write, too.

package correct

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	"k8s.io/client-go/tools/record"
	"k8s.io/client-go/util/retry"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/handler"

	"github.com/wavetank/wavetank/history"
)

func sharingOperators() []Operator {
	return []Operator{
		{"hand-over", "two controllers hand an object over by conditions with an optimistic lock", handOver},
		{"retry-on-conflict", "retry.RetryOnConflict on the labels of another's object", retryOnConflict},
		{"events", "records Events with both recorders of the manager", eventful},
	}
}

// condition sets a condition. A merge patch replaces the whole list, so it takes a lock.
func condition(c context.Context, cl client.Client, w *Widget, kind, text string) error {
	before := w.DeepCopy()
	changed := meta.SetStatusCondition(&w.Status.Conditions, metav1.Condition{Type: kind, Status: metav1.ConditionTrue,
		Reason: "Done", Message: text, ObservedGeneration: w.Generation})
	if !changed {
		return nil
	}
	return cl.Status().Patch(c, w, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}))
}

// conditionOf is the message of a condition if it is about the newest generation.
func conditionOf(w *Widget, kind string) string {
	if o := meta.FindStatusCondition(w.Status.Conditions, kind); o != nil && o.ObservedGeneration == w.Generation {
		return o.Message
	}
	return ""
}

// builds makes the ConfigMap and sets the condition Built.
type builds struct{ client.Client }

func (r builds) Reconcile(c context.Context, req ctrl.Request) (ctrl.Result, error) {
	var w Widget
	if err := r.Get(c, req.NamespacedName, &w); err != nil || !w.DeletionTimestamp.IsZero() {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	config := &corev1.ConfigMap{ObjectMeta: named(w.Name + "-config")}
	if _, err := controllerutil.CreateOrUpdate(c, r.Client, config, func() error {
		config.Data = map[string]string{"text": w.Spec.Text}
		return controllerutil.SetControllerReference(&w, config, r.Scheme())
	}); err != nil {
		return ctrl.Result{}, err
	}
	return ctrl.Result{}, condition(c, r.Client, &w, "Built", w.Spec.Text)
}

// deploys makes a Secret of what is built, and sets the condition Deployed.
type deploys struct{ client.Client }

func (r deploys) Reconcile(c context.Context, req ctrl.Request) (ctrl.Result, error) {
	var w Widget
	if err := r.Get(c, req.NamespacedName, &w); err != nil || !w.DeletionTimestamp.IsZero() {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	text := conditionOf(&w, "Built")
	if text == "" {
		return ctrl.Result{}, nil // the condition will wake it
	}
	secret := &corev1.Secret{ObjectMeta: named(w.Name + "-deployed")}
	if _, err := controllerutil.CreateOrUpdate(c, r.Client, secret, func() error {
		secret.Data = map[string][]byte{"text": []byte(text)}
		return controllerutil.SetControllerReference(&w, secret, r.Scheme())
	}); err != nil {
		return ctrl.Result{}, err
	}
	return ctrl.Result{}, condition(c, r.Client, &w, "Deployed", text)
}

func handOver(w *stage) {
	w.start("builds", ctrl.Options{}, func(mgr ctrl.Manager) error {
		return ctrl.NewControllerManagedBy(mgr).Named("builds").For(&Widget{}).Owns(&corev1.ConfigMap{}).
			Complete(builds{mgr.GetClient()})
	})
	w.start("deploys", ctrl.Options{}, func(mgr ctrl.Manager) error {
		return ctrl.NewControllerManagedBy(mgr).Named("deploys").For(&Widget{}).Owns(&corev1.Secret{}).
			Complete(deploys{mgr.GetClient()})
	})
	w.disturb()
	w.promise()
	w.finally("the newest text is deployed", "a", func(h *history.History, a *Widget) error {
		var secret corev1.Secret
		into(h, "", "Secret", ns, "a-deployed", &secret)
		if string(secret.Data["text"]) != a.Spec.Text || conditionOf(a, "Deployed") != a.Spec.Text {
			return fmt.Errorf("the Secret has %q, and the conditions are %+v", secret.Data["text"], a.Status.Conditions)
		}
		return nil
	})
	w.usual()
}

// marker marks the Secret of another controller, whatever its owner writes at the same time.
type marker struct {
	client.Client
	live client.Reader
}

func (r marker) Reconcile(c context.Context, req ctrl.Request) (ctrl.Result, error) {
	var w Widget
	if err := r.Get(c, req.NamespacedName, &w); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if w.Spec.Ref == "" {
		return ctrl.Result{}, writeStatus(c, r.Client, &w, func(s *WidgetStatus) { s.Phase = "" })
	}
	err := retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		var secret corev1.Secret
		if err := r.live.Get(c, client.ObjectKey{Namespace: w.Namespace, Name: w.Spec.Ref}, &secret); err != nil {
			return err
		}
		if secret.Labels["text"] == w.Spec.Text {
			return nil
		}
		metav1.SetMetaDataLabel(&secret.ObjectMeta, "text", w.Spec.Text)
		return r.Update(c, &secret)
	})
	phase := "Marked"
	if apierrors.IsNotFound(err) {
		phase, err = "Waiting", nil
	}
	if err != nil {
		return ctrl.Result{}, err
	}
	return ctrl.Result{}, writeStatus(c, r.Client, &w, func(s *WidgetStatus) { s.Phase = phase })
}

func retryOnConflict(w *stage) {
	w.start("marker", ctrl.Options{}, func(mgr ctrl.Manager) error {
		if err := indexed(mgr); err != nil {
			return err
		}
		return ctrl.NewControllerManagedBy(mgr).Named("marker").For(&Widget{}).
			Watches(&corev1.Secret{}, handler.EnqueueRequestsFromMapFunc(referring(mgr.GetClient()))).
			Complete(marker{mgr.GetClient(), mgr.GetAPIReader()})
	})
	w.disturb()
	w.promise()
	w.finally("the Secret is marked", "a", func(h *history.History, a *Widget) error {
		var secret corev1.Secret
		if into(h, "", "Secret", ns, a.Spec.Ref, &secret) && secret.Labels["text"] != a.Spec.Text {
			return fmt.Errorf("its label is %q", secret.Labels["text"])
		}
		return nil
	})
	w.referring()
}

// reporter records an Event, of either kind, for each text that it sees first.
type reporter struct {
	client.Client
	old record.EventRecorder
	new events.EventRecorder
}

func (r reporter) Reconcile(c context.Context, req ctrl.Request) (ctrl.Result, error) {
	var w Widget
	if err := r.Get(c, req.NamespacedName, &w); err != nil || w.Status.Text == w.Spec.Text {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	r.old.Eventf(&w, corev1.EventTypeNormal, "Changing", "the text becomes %s", w.Spec.Text)
	err := writeStatus(c, r.Client, &w, func(s *WidgetStatus) { s.Text = w.Spec.Text })
	if err != nil {
		r.new.Eventf(&w, nil, corev1.EventTypeWarning, "Failed", "Change", "the text remains: %v", err)
		return ctrl.Result{}, err
	}
	r.new.Eventf(&w, nil, corev1.EventTypeNormal, "Changed", "Change", "the text is %s", w.Spec.Text)
	return ctrl.Result{}, nil
}

func eventful(w *stage) {
	w.start("reporter", ctrl.Options{}, func(mgr ctrl.Manager) error {
		return ctrl.NewControllerManagedBy(mgr).Named("reporter").For(&Widget{}).Complete(reporter{mgr.GetClient(),
			mgr.GetEventRecorderFor("reporter"), //nolint:staticcheck // many operators have it still
			mgr.GetEventRecorder("reporter")})
	})
	w.disturb()
	w.promise(observed) // a change of another field is not looked at
	w.finally("the status has the text", "a", func(_ *history.History, a *Widget) error {
		if a.Status.Text != a.Spec.Text {
			return fmt.Errorf("it has %q", a.Status.Text)
		}
		return nil
	})
	w.usual()
}
