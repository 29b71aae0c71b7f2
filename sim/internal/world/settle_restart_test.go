package world

import (
	"context"
	"testing"
	"time"

	admissionregv1 "k8s.io/api/admissionregistration/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/models/kubelet"
	"github.com/wavetank/wavetank/models/workload"
	"github.com/wavetank/wavetank/sim/internal/sched"
)

// gate is an operator that admits every pod, and without which none is created. It has no
// controller.
func gate(mgr ctrl.Manager) error {
	mgr.GetWebhookServer().Register("/pods", &webhook.Admission{Handler: admission.HandlerFunc(
		func(context.Context, admission.Request) admission.Response { return admission.Allowed("") })})
	return nil
}

func podSpec() corev1.PodSpec {
	return corev1.PodSpec{RestartPolicy: corev1.RestartPolicyNever,
		Containers: []corev1.Container{{Name: "work", Image: "work:1"}}}
}

// gated is the configuration of the gate's webhook, which is fail-closed.
func gated() client.Object {
	none, fail, path := admissionregv1.SideEffectClassNone, admissionregv1.Fail, "/pods"
	return &admissionregv1.ValidatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: "gate"},
		Webhooks: []admissionregv1.ValidatingWebhook{{
			Name: "gate.example.org", FailurePolicy: &fail, SideEffects: &none, AdmissionReviewVersions: []string{"v1"},
			ClientConfig: admissionregv1.WebhookClientConfig{
				Service: &admissionregv1.ServiceReference{Namespace: "default", Name: "gate", Path: &path},
			},
			Rules: []admissionregv1.RuleWithOperations{{
				Operations: []admissionregv1.OperationType{admissionregv1.Create},
				Rule: admissionregv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"},
					Resources: []string{"pods"}},
			}},
		}},
	}
}

// late makes something for each ConfigMap that has existed for 100 s.
type late struct {
	client.Client
	made func(name string) client.Object
}

// Reconcile implements reconcile.Reconciler.
func (l *late) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	var cm corev1.ConfigMap
	if err := l.Get(ctx, req.NamespacedName, &cm); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if left := time.Until(cm.CreationTimestamp.Add(100 * time.Second)); left > 0 {
		return ctrl.Result{RequeueAfter: left}, nil
	}
	return ctrl.Result{}, client.IgnoreAlreadyExists(l.Create(ctx, l.made(req.Name)))
}

func makeJob(name string) client.Object {
	job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}}
	job.Spec.Template.Spec = podSpec()
	return job
}

func makePod(name string) client.Object {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}, Spec: podSpec()}
}

// killFor ends gate often enough that it is down for five minutes after the last time, which is a
// minute from now.
func killFor(w *World) {
	for range 5 {
		w.procs.Find("gate").Current().Kill()
		for w.procs.Find("gate").Current() == nil {
			w.Sleep(time.Second)
		}
	}
	w.sched.Park(&sched.Action{
		Order: "kill gate", What: func() string { return "the end of gate" },
		Delay: func() time.Duration { return time.Minute },
		Do:    func() { w.procs.Find("gate").Current().Kill() },
	})
}

// A program that serves a fail-closed webhook is down when the faults end, and starts minutes
// later. What was refused meanwhile is tried again before the world counts as settled: by a
// built-in controller, and by another process.
func TestSettleWaitsForWhatAStartLetsSucceed(t *testing.T) {
	for name, made := range map[string]func(string) client.Object{"a built-in controller": makeJob,
		"another process": makePod} {
		t.Run(name, func(t *testing.T) {
			pass(t, func(w *World) {
				w.Builtin(kubelet.New()...)
				w.Builtin(workload.New()...)
				w.Apply(gated())
				w.Start("gate", gate, ProcessOptions{})
				w.Start("late", func(mgr ctrl.Manager) error {
					late := &late{mgr.GetClient(), made}
					return ctrl.NewControllerManagedBy(mgr).Named("late").For(&corev1.ConfigMap{}).Complete(late)
				}, ProcessOptions{})
				killFor(w)
				w.Apply(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "a"}})
				w.Settle()
				if refusals(w.History()) == 0 {
					t.Error("no pod was refused, so the test shows nothing")
				}
				if n := len(w.History().Objects("", "Pod")); n != 1 {
					t.Errorf("the world has settled with %d pods; expected 1, which was refused before gate started", n)
				}
			}, 20)
		})
	}
}

// refusals is how many pods a webhook that nobody served kept from being created.
func refusals(h *history.History) (n int) {
	for _, e := range h.Events {
		if e.Kind == history.Request && e.Ref.Kind == "Pod" && e.Code >= 500 {
			n++
		}
	}
	return n
}
