package sim_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	admissionregv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/fault"
	"github.com/wavetank/wavetank/sim/internal/simtest"
)

// stamps serves a webhook that changes ConfigMaps as they are written.
func stamps(mgr ctrl.Manager, change func(context.Context, admission.Request, *corev1.ConfigMap) error) {
	decoder := admission.NewDecoder(mgr.GetScheme())
	mgr.GetWebhookServer().Register("/stamp", &webhook.Admission{Handler: admission.HandlerFunc(
		func(ctx context.Context, req admission.Request) admission.Response {
			var cm corev1.ConfigMap
			if err := decoder.Decode(req, &cm); err != nil {
				return admission.Errored(http.StatusBadRequest, err)
			}
			if err := change(ctx, req, &cm); err != nil {
				return admission.Errored(http.StatusInternalServerError, err)
			}
			raw, err := json.Marshal(&cm)
			if err != nil {
				return admission.Errored(http.StatusInternalServerError, err)
			}
			return admission.PatchResponseFromRaw(req.Object.Raw, raw)
		})})
}

// keeps is the setup function of a program that serves two webhooks: one stamps every ConfigMap
// with the number of ConfigMaps that there are, the other refuses to let a ConfigMap go while the
// one that it depends on is there.
func keeps(mgr ctrl.Manager) error {
	reader, decoder := mgr.GetAPIReader(), admission.NewDecoder(mgr.GetScheme())
	stamps(mgr, func(ctx context.Context, req admission.Request, cm *corev1.ConfigMap) error {
		var all corev1.ConfigMapList
		if err := reader.List(ctx, &all, client.InNamespace(req.Namespace)); err != nil {
			return err
		}
		metav1.SetMetaDataAnnotation(&cm.ObjectMeta, "stamp",
			fmt.Sprintf("by %s, after %d", req.UserInfo.Username, len(all.Items)))
		// a patch of two operations comes in any order
		metav1.SetMetaDataAnnotation(&cm.ObjectMeta, "stamped", "yes")
		return nil
	})
	mgr.GetWebhookServer().Register("/keep", &webhook.Admission{Handler: admission.HandlerFunc(
		func(ctx context.Context, req admission.Request) admission.Response {
			var cm corev1.ConfigMap
			if err := decoder.DecodeRaw(req.OldObject, &cm); err != nil {
				return admission.Errored(http.StatusBadRequest, err)
			}
			first := cm.Annotations["after"]
			if first == "" {
				return admission.Allowed("")
			}
			err := reader.Get(ctx, client.ObjectKey{Namespace: req.Namespace, Name: first}, &corev1.ConfigMap{})
			if client.IgnoreNotFound(err) != nil {
				return admission.Errored(http.StatusInternalServerError, err)
			} else if err == nil {
				return admission.Denied(first + " is still there")
			}
			return admission.Allowed("")
		})})
	return ctrl.NewControllerManagedBy(mgr).
		Named("keeper").
		For(&corev1.ConfigMap{}).
		Complete(reconcile.Func(simtest.Nothing))
}

// toucher labels every ConfigMap.
type toucher struct{ client.Client }

func (t *toucher) SetupWithManager(mgr ctrl.Manager) error {
	t.Client = mgr.GetClient()
	return ctrl.NewControllerManagedBy(mgr).Named("toucher").For(&corev1.ConfigMap{}).Complete(t)
}

func (t *toucher) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	var cm corev1.ConfigMap
	if err := t.Get(ctx, req.NamespacedName, &cm); err != nil || cm.Labels["touched"] != "" {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	cm.Labels = map[string]string{"touched": "yes"}
	return ctrl.Result{}, t.Update(ctx, &cm)
}

// inDefault keeps a manager's cache to the namespace in which it has rights.
func inDefault() sim.ProcessOption {
	return sim.Options(ctrl.Options{Cache: cache.Options{DefaultNamespaces: map[string]cache.Config{"default": {}}}})
}

// hooked are the configurations of the keeper's webhooks.
func hooked(policy admissionregv1.FailurePolicyType) []client.Object {
	none := admissionregv1.SideEffectClassNone
	config := func(path string) admissionregv1.WebhookClientConfig {
		return admissionregv1.WebhookClientConfig{Service: &admissionregv1.ServiceReference{Namespace: "default",
			Name: "keeper", Path: &path}}
	}
	rule := func(ops ...admissionregv1.OperationType) []admissionregv1.RuleWithOperations {
		return []admissionregv1.RuleWithOperations{{
			Operations: ops,
			Rule: admissionregv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"},
				Resources: []string{"configmaps"}},
		}}
	}
	return []client.Object{
		&admissionregv1.MutatingWebhookConfiguration{
			ObjectMeta: metav1.ObjectMeta{Name: "stamp"},
			Webhooks: []admissionregv1.MutatingWebhook{{
				Name: "stamp.example.org", ClientConfig: config("/stamp"), Rules: rule("CREATE", "UPDATE"),
				FailurePolicy: &policy,
				SideEffects:   &none, AdmissionReviewVersions: []string{"v1"},
			}},
		},
		&admissionregv1.ValidatingWebhookConfiguration{
			ObjectMeta: metav1.ObjectMeta{Name: "keep"},
			Webhooks: []admissionregv1.ValidatingWebhook{{
				Name: "keep.example.org", ClientConfig: config("/keep"), Rules: rule("DELETE"), FailurePolicy: &policy,
				SideEffects: &none, AdmissionReviewVersions: []string{"v1"},
			}},
		},
	}
}

func TestProcessServesWebhooks(t *testing.T) {
	simtest.Holds(t, func(w *sim.World) {
		w.Start("keeper", keeps)
		w.Settle()
		w.Apply(hooked(admissionregv1.Fail)...)
		b := simtest.ConfigMap("b")
		b.Annotations = map[string]string{"after": "a"}
		w.Apply(simtest.ConfigMap("a"), b)
		w.Settle()
		if err := w.Client().Get(w.Context(), client.ObjectKeyFromObject(b), b); err != nil ||
			b.Annotations["stamp"] != "by admin, after 1" {
			t.Errorf("%v, %q", err, b.Annotations)
		}
		err := w.Client().Delete(w.Context(), b)
		want := `admission webhook "keep.example.org" denied the request: a is still there`
		if err == nil || err.Error() != want {
			t.Errorf("deleting b: %v\nwant %s", err, want)
		}
		w.Remove(simtest.ConfigMap("a"))
		w.Settle()
		w.Remove(b)
	}, sim.Runs(20), sim.Verify(1))
}

// A user's write waits for a webhook whose process has not started yet, or has died, or cannot be
// reached, as people try again.
func TestUsersRetry(t *testing.T) {
	early, late := 0, 0
	simtest.Holds(t, func(w *sim.World) {
		w.Apply(hooked(admissionregv1.Fail)...)
		w.Start("keeper", keeps)
		w.Inject(fault.Crash("keeper"), fault.WebhookDown(time.Minute))
		for i := range 10 {
			w.Apply(simtest.ConfigMap("a", "k", fmt.Sprint(i)))
			w.Sleep(time.Second)
		}
		w.Remove(simtest.ConfigMap("a"))
		w.Settle()
		if _, there := w.History().Object("", "ConfigMap", "default", "a"); there {
			t.Error("it is still there")
		}
		served := false
		for _, e := range w.History().Events {
			switch {
			case e.Process == "user" && e.Code == http.StatusInternalServerError && served:
				late++
			case e.Process == "user" && e.Code == http.StatusInternalServerError:
				early++
			case e.Process == "user" && e.Verb == "create" && e.Code == http.StatusCreated && e.Ref.Name == "a":
				served = true
			}
		}
	}, sim.Runs(25), sim.Verify(2))
	if early == 0 || late == 0 {
		t.Errorf("the webhook was away for %d writes before it had answered once, "+
			"and for %d after that: the test shows nothing", early, late)
	}
}

// A webhook that faults keep away for longer than people insist is no mistake of the scenario: they
// stop then.
func TestUsersWaitForFaults(t *testing.T) {
	mended := 0
	simtest.Holds(t, func(w *sim.World) {
		w.Apply(hooked(admissionregv1.Fail)...)
		w.Start("keeper", keeps)
		w.Inject(fault.WebhookDown(30 * time.Minute))
		w.Apply(simtest.ConfigMap("a"))
		for _, e := range w.History().Events {
			if e.Kind == history.Heal {
				mended++
			}
		}
	}, sim.Runs(10), sim.Verify(2))
	if mended == 0 {
		t.Error("no webhook was away for so long: the test shows nothing")
	}
}

// Of two processes that serve the same path, the Service says which is meant.
func TestServicesLeadToProcesses(t *testing.T) {
	simtest.Holds(t, func(w *sim.World) {
		for _, name := range []string{"other", "keeper"} {
			w.Start(name, func(mgr ctrl.Manager) error {
				mgr.GetWebhookServer().Register("/stamp", &webhook.Admission{Handler: admission.HandlerFunc(
					func(context.Context, admission.Request) admission.Response {
						return admission.Denied(name + " says no")
					})})
				return nil
			}, sim.Serves("default/"+name))
		}
		w.Settle()
		w.Apply(hooked(admissionregv1.Fail)...)
		err := w.Client().Create(w.Context(), simtest.ConfigMap("a"))
		if want := `admission webhook "stamp.example.org" denied the request: keeper says no`; err == nil ||
			err.Error() != want {
			t.Errorf("%v\nwant %s", err, want)
		}
	}, sim.Runs(3))
}

// A webhook that does not answer is given up after its time-out.
func TestWebhookTimesOut(t *testing.T) {
	simtest.Holds(t, func(w *sim.World) {
		w.Start("keeper", func(mgr ctrl.Manager) error {
			mgr.GetWebhookServer().Register("/stamp",
				http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
			return nil
		})
		w.Settle()
		w.Apply(hooked(admissionregv1.Fail)...)
		begun := time.Now()
		err := w.Client().Create(w.Context(), simtest.ConfigMap("a"))
		if err == nil || !strings.HasSuffix(err.Error(), "?timeout=10s\": context deadline exceeded") {
			t.Errorf("the answer: %v", err)
		}
		if took := time.Since(begun); took < 10*time.Second || took > 12*time.Second {
			t.Errorf("it took %v, want the time-out of 10s", took)
		}
	}, sim.Runs(1))
}

// The namespace controller deletes collections, whose objects a webhook guards: it tries again
// until the order is right.
func TestNamespaceControllerRetries(t *testing.T) {
	refused := 0
	simtest.Holds(t, func(w *sim.World) {
		w.Start("keeper", keeps)
		w.Settle()
		w.Apply(hooked(admissionregv1.Fail)...)
		a, b := simtest.ConfigMap("b"), simtest.ConfigMap("a") // a depends on b, and comes first in a collection
		b.Annotations = map[string]string{"after": "b"}
		a.Namespace, b.Namespace = "shop", "shop"
		w.Apply(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "shop"}}, a, b)
		w.Settle()
		w.Remove(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "shop"}})
		w.Sleep(30 * time.Second)
		for _, e := range w.History().Events {
			if e.Process == "namespace-controller" && e.Verb == "deletecollection" && e.Code == http.StatusForbidden {
				refused++
			}
		}
		w.Remove(a)
		w.Settle()
		if _, there := w.History().Object("", "Namespace", "", "shop"); there {
			t.Error("the namespace is still there")
		}
	}, sim.Runs(5), sim.Verify(1))
	if refused == 0 {
		t.Error("the webhook refused nothing")
	}
}

var writesMaps = rbacv1.PolicyRule{Verbs: []string{"update"}, APIGroups: []string{""},
	Resources: []string{"configmaps"}}

// Everything at once: a process with few rights, webhooks of another that is killed again and
// again, stale caches.
func TestRightsAndWebhooksReplay(t *testing.T) {
	crashed, refusedCalls := 0, 0
	report := simtest.Holds(t, func(w *sim.World) {
		w.Apply(account("toucher"), account("keeper"))
		w.Apply(granted("keeper", readsMaps, writesMaps)...)
		w.Apply(granted("toucher", readsMaps, writesMaps)...)
		for i := range 2 {
			w.Start(fmt.Sprintf("keeper-%d", i), func(mgr ctrl.Manager) error {
				if err := (&toucher{}).SetupWithManager(mgr); err != nil { // whose writes come back as webhook calls
					return err
				}
				return keeps(mgr)
			}, inDefault(), sim.As("default/keeper"))
		}
		w.Start("toucher", (&toucher{}).SetupWithManager, inDefault(), sim.As("default/toucher"))
		w.Apply(hooked(admissionregv1.Ignore)...)
		w.Inject(fault.StaleCache(time.Minute), fault.Crash("keeper-0"), fault.LostReply())
		w.Apply(simtest.ConfigMap("a"), simtest.ConfigMap("b"))
		w.Settle()
		w.Remove(simtest.ConfigMap("a"))
		w.Settle()
		for _, e := range w.History().Events {
			switch {
			case e.Kind == "crash":
				crashed++
			case e.Process == "kube-apiserver" && strings.Contains(e.Note, "EOF"):
				refusedCalls++
			}
		}
	}, sim.Runs(25), sim.Verify(1), sim.For(time.Minute))
	t.Logf("%d runs, %d made twice; %d crashes, %d calls cut off by one", report.Runs, report.Doubled, crashed,
		refusedCalls)
	if crashed == 0 {
		t.Error("no process was killed")
	}
}
