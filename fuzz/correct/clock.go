// This file holds operators that act by the clock.

package correct

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/uuid"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/sim/property"
)

func clockOperators() []Operator {
	return []Operator{
		{"certificates", "certificates that are renewed before they expire, for ever", certificates},
		{"schedule", "a schedule as of a CronJob: RequeueAfter until the next time, and missed times are made up for",
			schedule},
	}
}

// issuer keeps a certificate in a Secret. It is valid for an hour and renewed after 40 minutes.
type issuer struct{ client.Client }

const lifetime = time.Hour

func (r issuer) Reconcile(c context.Context, req ctrl.Request) (ctrl.Result, error) {
	var w Widget
	if err := r.Get(c, req.NamespacedName, &w); err != nil || !w.DeletionTimestamp.IsZero() {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	secret := &corev1.Secret{ObjectMeta: named(w.Name + "-cert")}
	_, err := controllerutil.CreateOrUpdate(c, r.Client, secret, func() error {
		if string(secret.Data["for"]) != w.Spec.Text || time.Until(expiry(secret)) <= lifetime/3 {
			secret.Data = map[string][]byte{"for": []byte(w.Spec.Text), "serial": []byte(uuid.NewUUID())}
			metav1.SetMetaDataAnnotation(&secret.ObjectMeta, "not-after", time.Now().Add(lifetime).Format(time.RFC3339))
		}
		return controllerutil.SetControllerReference(&w, secret, r.Scheme())
	})
	if err != nil {
		return ctrl.Result{}, err
	}
	ends := metav1.NewTime(expiry(secret))
	if err := writeStatus(c, r.Client, &w, func(s *WidgetStatus) { s.Last = &ends }); err != nil {
		return ctrl.Result{}, err
	}
	return ctrl.Result{RequeueAfter: time.Until(ends.Add(-lifetime / 3))}, nil
}

// expiry is when the certificate ends; the zero time if there is none.
func expiry(secret *corev1.Secret) time.Time {
	t, err := time.Parse(time.RFC3339, secret.Annotations["not-after"])
	if err != nil {
		return time.Time{}
	}
	return t
}

func certificates(w *stage) {
	w.start("issuer", ctrl.Options{}, func(mgr ctrl.Manager) error {
		return ctrl.NewControllerManagedBy(mgr).Named("issuer").For(&Widget{}).Owns(&corev1.Secret{}).
			Complete(issuer{mgr.GetClient()})
	})
	w.disturb()
	w.Without("settles") // it never does: the next renewal is always pending
	w.promise()
	w.finally("the status has the end of the certificate", "a", func(h *history.History, a *Widget) error {
		var secret corev1.Secret
		into(h, "", "Secret", ns, "a-cert", &secret)
		if string(secret.Data["for"]) != a.Spec.Text || a.Status.Last == nil ||
			!a.Status.Last.Time.Equal(expiry(&secret)) {
			return fmt.Errorf("the certificate for %q ends at %v, and the status has %v", secret.Data["for"],
				expiry(&secret), a.Status.Last)
		}
		return nil
	})
	w.usual()
	w.Apply(widget("a", WidgetSpec{Text: "red"}))
	w.Sleep(3 * time.Hour)
	w.Settle()
}

// scheduler makes a ConfigMap at each time of a schedule, Size times.
type scheduler struct{ client.Client }

func (r scheduler) Reconcile(c context.Context, req ctrl.Request) (ctrl.Result, error) {
	var w Widget
	if err := r.Get(c, req.NamespacedName, &w); err != nil || !w.DeletionTimestamp.IsZero() {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	period := time.Duration(w.Spec.TTLSeconds) * time.Second
	if period == 0 { // it is not scheduled
		return ctrl.Result{}, writeStatus(c, r.Client, &w, func(*WidgetStatus) {})
	}
	due := min(int32(time.Since(w.CreationTimestamp.Time)/period), w.Spec.Size)
	for i := w.Status.Ready; i < due; i++ { // those that were missed are made up for
		run := &corev1.ConfigMap{ObjectMeta: named(fmt.Sprintf("%s-run-%d", w.Name, i+1))}
		err := controllerutil.SetControllerReference(&w, run, r.Scheme())
		if err == nil {
			err = r.Create(c, run)
		}
		if client.IgnoreAlreadyExists(err) != nil {
			return ctrl.Result{}, err
		}
	}
	if err := writeStatus(c, r.Client, &w, func(s *WidgetStatus) { s.Ready = due }); err != nil || due == w.Spec.Size {
		return ctrl.Result{}, err
	}
	return ctrl.Result{RequeueAfter: time.Until(w.CreationTimestamp.Add(time.Duration(due+1) * period))}, nil
}

func schedule(w *stage) {
	w.start("scheduler", ctrl.Options{}, func(mgr ctrl.Manager) error {
		return ctrl.NewControllerManagedBy(mgr).Named("scheduler").For(&Widget{}).Complete(scheduler{mgr.GetClient()})
	})
	w.disturb()
	w.promise()
	w.finally("all that was scheduled has been made", "a", func(h *history.History, a *Widget) error {
		if n := len(h.Objects("", "ConfigMap")); n < int(a.Spec.Size) {
			return fmt.Errorf("there are %d of %d", n, a.Spec.Size)
		}
		return nil
	})
	w.Always("one is made in each period", property.CreatedEachPeriod(history.Ref{Kind: "ConfigMap"}, 2*time.Minute,
		6*time.Minute, func(h *history.History) bool {
			var a Widget
			return !into(h, group.Group, "Widget", ns, "a", &a) || len(h.Objects("", "ConfigMap")) >= int(a.Spec.Size)
		}))
	a := widget("a", WidgetSpec{Size: 4, TTLSeconds: 120})
	w.Apply(a.DeepCopy())
	w.Settle()
	w.edit("a", func(o *Widget) { o.Spec.Size = 6 })
	w.Settle()
	w.restart()
	w.Remove(a)
	w.Settle()
}
