package fault_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	admissionregv1 "k8s.io/api/admissionregistration/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/models/kubelet"
	"github.com/wavetank/wavetank/models/workload"
	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/fault"
	"github.com/wavetank/wavetank/sim/internal/simtest"
)

const (
	counted = "the ticket is counted"
	allSent = "every mail is sent"
	dug     = "every grave is dug"
	rising  = "the number never falls"
)

// declared makes a fault, and scenario a scenario under faults.
type (
	declared = func() fault.Fault
	scenario = func(...declared) func(*sim.World)
)

// Each scenario holds without the fault, and violates the property under it. Where no property is
// named, the scenario holds under the fault, too, and the fault is observed.
func TestFaultsBite(t *testing.T) {
	mails := func(m simtest.Mailer) scenario {
		return func(f ...declared) func(*sim.World) { return simtest.Mailing(m, f...) }
	}
	counts := func(givesUp func(error) bool) scenario {
		c := simtest.Counter{Workers: 1, Locked: true, GivesUp: givesUp}
		return func(f ...declared) func(*sim.World) { return simtest.Counting(c, f...) }
	}
	raises := func(fence bool) scenario {
		return func(f ...declared) func(*sim.World) { return raising(fence, f...) }
	}
	never := func(error) bool { return false }
	anyError := func(error) bool { return true }
	for _, c := range []struct {
		name     string
		fault    declared
		scenario scenario
		property string
	}{
		{"StaleCache", func() fault.Fault { return fault.StaleCache(30 * time.Second) },
			mails(simtest.Mailer{}), simtest.SentOnce},
		{"Crash", func() fault.Fault { return fault.Crash("mailer") }, mails(simtest.Mailer{}), simtest.SentOnce},
		{"Restart", func() fault.Fault { return fault.Restart("mailer") }, mails(simtest.Mailer{}), simtest.SentOnce},
		{"RacingRequeue", func() fault.Fault { return fault.RacingRequeue() }, forgetting, simtest.SentOnce},
		{"LostReply", func() fault.Fault { return fault.LostReply() }, mails(simtest.Mailer{}), simtest.SentOnce},
		{"SlowEffect", func() fault.Fault { return fault.SlowEffect(time.Minute) },
			mails(simtest.Mailer{Hasty: 5 * time.Second}), simtest.SentOnce},
		{"FailedEffect", func() fault.Fault { return fault.FailedEffect() },
			mails(simtest.Mailer{Trusting: true}), allSent},
		{"DoubledEffect", func() fault.Fault { return fault.DoubledEffect() },
			mails(simtest.Mailer{}), simtest.SentOnce},
		{"HostDown, retried", func() fault.Fault { return fault.HostDown(time.Minute) },
			mails(simtest.Mailer{}), ""},
		{"Conflict", func() fault.Fault { return fault.Conflict() }, counts(apierrors.IsConflict), counted},
		{"ServerError", func() fault.Fault { return fault.ServerError() }, counts(anyError), counted},
		{"Unreachable", func() fault.Fault { return fault.Unreachable(time.Minute) }, counts(anyError), counted},
		{"Unreachable, retried", func() fault.Fault { return fault.Unreachable(time.Minute) }, counts(never), ""},
		{"Rejected, as invalid", func() fault.Fault { return fault.Rejected("n must be even") },
			counts(apierrors.IsInvalid), counted},
		{"Rejected, by a webhook", func() fault.Fault {
			return fault.Rejected("n must be even", fault.OfKind("ConfigMap"))
		}, counts(apierrors.IsForbidden), counted},
		{"Forbidden", func() fault.Fault { return fault.Forbidden(time.Minute, fault.In("counter")) },
			counts(apierrors.IsForbidden), counted},
		{"WebhookDown", func() fault.Fault { return fault.WebhookDown(time.Minute, fault.Named("policy.example.com")) },
			guarded, counted},
		{"DroppedWatch", func() fault.Fault { return fault.DroppedWatch() }, mails(simtest.Mailer{}), simtest.SentOnce},
		{"Relist", func() fault.Fault { return fault.Relist() }, burying, dug},
		{"Expired", func() fault.Fault { return fault.Expired() }, burying, dug},
		{"MissedStates", func() fault.Fault { return fault.MissedStates(10 * time.Second) }, alarms, allSent},
		{"StaleServer", func() fault.Fault { return fault.StaleServer(time.Minute) },
			restarted(sim.ListThenWatch()), simtest.SentOnce},
		{"StaleServer, consistent lists", func() fault.Fault { return fault.StaleServer(time.Minute) },
			restarted(), ""},
		{"SlowNamespace", func() fault.Fault { return fault.SlowNamespace(time.Minute, fault.Named("shop")) },
			endingNamespace, "a namespace is gone within ten seconds"},
		{"FailedPod", func() fault.Fault { return fault.FailedPod() }, jobs, "the Job is complete"},
		{"NodeDown", func() fault.Fault { return fault.NodeDown(10 * time.Minute) }, nodes, "the node is ready"},
		{"Pause, without a lock", func() fault.Fault { return fault.Pause("one", 2*time.Minute) },
			raises(false), rising},
		{"Pause, with a lock", func() fault.Fault { return fault.Pause("one", 2*time.Minute) }, raises(true), ""},
		{"LeaderOverlap", func() fault.Fault { return fault.LeaderOverlap() }, raises(true), ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			simtest.Holds(t, c.scenario(), sim.Runs(20))
			runs := 300
			if c.property == "" {
				runs = 60
			}
			r := sim.Explore(t, c.scenario(c.fault), sim.Runs(runs), sim.For(0), sim.Verify(5))
			if n := r.Faults[0]; n.Opportunities == 0 || n.Injected == 0 || n.Observed == 0 {
				t.Errorf("the fault was not seen: %+v", n)
			}
			switch {
			case c.property == "" && r.Failure != nil:
				t.Error(r.Failure.Text())
			case c.property != "" && (r.Failure == nil || r.Failure.Property != c.property):
				t.Errorf("%q is not violated in %d runs: %+v", c.property, r.Runs, r.Failure)
			}
		})
	}
}

// outside returns a scenario of one program that sends mails, under faults.
func outside(setup func(ctrl.Manager) error, rest func(*sim.World), opts ...sim.ProcessOption) scenario {
	return func(faults ...declared) func(*sim.World) {
		return func(w *sim.World) {
			w.External("mail.example", http.HandlerFunc(simtest.Post))
			w.Start("mailer", setup, opts...)
			for _, f := range faults {
				w.Inject(f())
			}
			rest(w)
			w.Settle()
		}
	}
}

var forgetting = outside(simtest.Mailer{Forgetful: true}.Setup, func(w *sim.World) {
	w.Always(simtest.SentOnce, simtest.OnceEach)
	w.Apply(simtest.Source("src-a"))
})

// restarted stops the mailer after it has sent its mail.
func restarted(opts ...sim.ProcessOption) scenario {
	return outside(simtest.Mailer{}.Setup, func(w *sim.World) {
		w.Always(simtest.SentOnce, simtest.OnceEach)
		w.Apply(simtest.Source("src-a"))
		w.Sleep(5 * time.Second)
		w.Stop("mailer")
	}, opts...)
}

// mailsOf is a controller that sends a mail for each event that passes.
func mailsOf(passes predicate.Funcs) func(ctrl.Manager) error {
	no := predicate.NewPredicateFuncs(func(client.Object) bool { return false })
	if passes.UpdateFunc == nil {
		passes.UpdateFunc = no.UpdateFunc
	}
	if passes.DeleteFunc == nil {
		passes.DeleteFunc = no.DeleteFunc
	}
	passes.CreateFunc, passes.GenericFunc = no.CreateFunc, no.GenericFunc
	return func(mgr ctrl.Manager) error {
		return ctrl.NewControllerManagedBy(mgr).For(&corev1.ConfigMap{}, builder.WithPredicates(passes)).
			Complete(reconcile.Func(func(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
				return reconcile.Result{}, simtest.Mailer{}.Send(ctx, sim.HTTPClient(mgr), req.Name)
			}))
	}
}

// alarms has an operator that acts on a transition, not on a state: a light turns red.
var alarms = outside(mailsOf(predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
	return e.ObjectNew.GetAnnotations()["light"] == "red" && e.ObjectOld.GetAnnotations()["light"] != "red"
}}), func(w *sim.World) {
	w.Settle() // the watch begins, which delays alone may put off until the light is green again
	w.Eventually(allSent, simtest.AllSent)
	for _, light := range []string{"green", "red", "green"} {
		cm := simtest.ConfigMap("src-a")
		cm.Annotations = map[string]string{"light": light}
		w.Apply(cm)
		w.Sleep(time.Second)
	}
})

// burying deletes a ConfigMap and makes another one of the same name. The operator acts on
// deletions.
var burying = outside(mailsOf(predicate.Funcs{DeleteFunc: func(event.DeleteEvent) bool { return true }}),
	func(w *sim.World) {
		w.Eventually(dug, func(h *history.History) error {
			if n := len(h.Effects("mail")); n != 1 {
				return fmt.Errorf("one ConfigMap was deleted, %d graves were dug", n)
			}
			return nil
		})
		w.Sleep(5 * time.Second) // the operator watches, however slow its requests were
		w.Apply(simtest.ConfigMap("src-a"))
		w.Sleep(time.Second)
		w.Remove(simtest.ConfigMap("src-a"))
		w.Apply(simtest.ConfigMap("src-a"))
	})

// guarded counts a ticket behind a webhook whose failures are final.
func guarded(f ...declared) func(*sim.World) {
	none, address := admissionregv1.SideEffectClassNone, "https://policy.example/check"
	return func(w *sim.World) {
		w.External("policy.example", http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			var review admissionv1.AdmissionReview
			if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
				panic(err)
			}
			review.Response = &admissionv1.AdmissionResponse{UID: review.Request.UID, Allowed: true}
			json.NewEncoder(rw).Encode(review) //nolint:errcheck // into memory
		}))
		w.Apply(&admissionregv1.ValidatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: "policy"},
			Webhooks: []admissionregv1.ValidatingWebhook{{
				Name: "policy.example.com", SideEffects: &none, AdmissionReviewVersions: []string{"v1"},
				ClientConfig: admissionregv1.WebhookClientConfig{URL: &address},
				Rules: []admissionregv1.RuleWithOperations{{Operations: []admissionregv1.OperationType{"UPDATE"},
					Rule: admissionregv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"},
						Resources: []string{"configmaps"}}}},
			}}})
		simtest.Counting(simtest.Counter{Workers: 1, Locked: true, GivesUp: apierrors.IsInternalError}, f...)(w)
	}
}

// endingNamespace has patience for ten seconds.
func endingNamespace(f ...declared) func(*sim.World) {
	return func(w *sim.World) {
		for _, declare := range f {
			w.Inject(declare())
		}
		w.Apply(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "shop"}})
		w.Remove(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "shop"}})
		w.Always("a namespace is gone within ten seconds", func(h *history.History) error {
			if _, ok := h.Object("", "Namespace", "", "shop"); ok && h.Now() > 10*time.Second {
				return fmt.Errorf("it is there at %v", h.Now())
			}
			return nil
		})
		w.Settle()
	}
}

// jobs has a Job whose Pod may fail once.
func jobs(f ...declared) func(*sim.World) {
	return func(w *sim.World) {
		w.Builtin(append(workload.New(), kubelet.New()...)...)
		for _, declare := range f {
			w.Inject(declare())
		}
		w.Eventually("the Job is complete", func(h *history.History) error {
			if job, _ := history.Get[batchv1.Job](h, "default", "a"); job.Status.Succeeded != 1 {
				return fmt.Errorf("%d of its Pods have failed", job.Status.Failed)
			}
			return nil
		})
		job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "a"}}
		job.Spec.BackoffLimit = new(int32(1))
		job.Spec.Template.Spec = corev1.PodSpec{RestartPolicy: corev1.RestartPolicyNever,
			Containers: []corev1.Container{{Name: "c", Image: "i"}}}
		w.Apply(job)
		w.Settle()
	}
}

// nodes has a Pod on a node that can be lost.
func nodes(f ...declared) func(*sim.World) {
	return func(w *sim.World) {
		w.Builtin(kubelet.New(kubelet.Lifecycle(nil))...)
		for _, declare := range f {
			w.Inject(declare())
		}
		w.Always("the node is ready", func(h *history.History) error {
			n, _ := history.Get[corev1.Node](h, "", "node-1")
			for _, c := range n.Status.Conditions {
				if c.Status != corev1.ConditionTrue {
					return fmt.Errorf("%s is %s: %s", c.Type, c.Status, c.Reason)
				}
			}
			return nil
		})
		w.Apply(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "a"},
			Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}}})
		w.Sleep(20 * time.Minute)
		w.Settle()
	}
}

// raiser raises a number by one per second while it leads. With a fence its writes carry the
// resourceVersion.
func raiser(fence bool) func(ctrl.Manager) error {
	return func(mgr ctrl.Manager) error {
		raise := func(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
			var cm corev1.ConfigMap
			if err := mgr.GetAPIReader().Get(ctx, req.NamespacedName, &cm); err != nil {
				return reconcile.Result{}, client.IgnoreNotFound(err)
			}
			n, _ := strconv.Atoi(cm.Data["n"])
			if n >= 20 {
				return reconcile.Result{}, nil
			}
			patch := client.MergeFrom(cm.DeepCopy())
			if fence {
				patch = client.MergeFromWithOptions(cm.DeepCopy(), client.MergeFromWithOptimisticLock{})
			}
			cm.Data = map[string]string{"n": strconv.Itoa(n + 1)}
			return reconcile.Result{RequeueAfter: time.Second}, mgr.GetClient().Patch(ctx, &cm, patch)
		}
		return ctrl.NewControllerManagedBy(mgr).Named("raiser").For(&corev1.ConfigMap{}, simtest.Role("number")).
			Complete(reconcile.Func(raise))
	}
}

// startRaisers starts two replicas of a raiser.
func startRaisers(w *sim.World, fence, release bool) {
	for _, name := range []string{"one", "two"} {
		w.Start(name, raiser(fence), sim.Options(ctrl.Options{LeaderElection: true, LeaderElectionID: "raiser",
			LeaderElectionNamespace: "default", LeaderElectionReleaseOnCancel: release}))
	}
}

func raising(fence bool, faults ...declared) func(*sim.World) {
	return func(w *sim.World) {
		startRaisers(w, fence, false)
		for _, f := range faults {
			w.Inject(f())
		}
		w.Always(rising, func(h *history.History) error {
			top := 0
			for i := range h.Events {
				for _, ch := range h.Events[i].Changes {
					var cm corev1.ConfigMap
					if ch.Ref.Kind != "ConfigMap" || (history.Object{JSON: ch.Object}).Into(&cm) != nil {
						continue
					}
					n, _ := strconv.Atoi(cm.Data["n"])
					if n < top {
						return fmt.Errorf("it falls from %d to %d by %s", top, n, h.Events[i].Actor())
					}
					top = n
				}
			}
			return nil
		})
		w.Apply(simtest.WithRole("number", simtest.ConfigMap("a", "n", "0")))
		w.Settle()
	}
}
