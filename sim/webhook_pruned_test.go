// This file exists for mutating webhooks that leave what a schema drops.

package sim_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	admissionregv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/internal/simtest"
)

// filler applies a basket for each ConfigMap, and again whenever the basket has another generation.
type filler struct{ client.Client }

func (f *filler) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	var cm corev1.ConfigMap
	if err := f.Get(ctx, req.NamespacedName, &cm); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	basket := newBasket()
	basket.SetNamespace(cm.Namespace)
	basket.SetName(cm.Name)
	basket.Object["spec"] = map[string]any{"template": map[string]any{"metadata": map[string]any{}}}
	if err := ctrl.SetControllerReference(&cm, basket, f.Scheme()); err != nil {
		return reconcile.Result{}, err
	}
	return reconcile.Result{}, f.Apply(ctx, client.ApplyConfigurationFromUnstructured(basket),
		client.FieldOwner("filler"))
}

func newBasket() *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{"apiVersion": "shop.example/v1", "kind": "Basket"}}
}

// fill is a world with that operator and a webhook on its baskets, which makes a patch.
func fill(t *testing.T, patch string) func(*sim.World) {
	file := basketsFile(t, "scope: Namespaced",
		"{type: object, properties: {template: {type: object, properties: {metadata: {type: object}}}}}")
	url, none := "https://policy.example/mutate", admissionregv1.SideEffectClassNone
	config := &admissionregv1.MutatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: "baskets"},
		Webhooks: []admissionregv1.MutatingWebhook{{
			Name: "baskets.shop.example", ClientConfig: admissionregv1.WebhookClientConfig{URL: &url},
			Rules: []admissionregv1.RuleWithOperations{{
				Operations: []admissionregv1.OperationType{"CREATE", "UPDATE"},
				Rule: admissionregv1.Rule{APIGroups: []string{"shop.example"}, APIVersions: []string{"v1"},
					Resources: []string{"baskets"}},
			}},
			SideEffects: &none, AdmissionReviewVersions: []string{"v1"},
		}},
	}
	return func(w *sim.World) {
		w.Install(file)
		w.External("policy.example", &webhook.Admission{Handler: admission.HandlerFunc(
			func(_ context.Context, req admission.Request) admission.Response {
				changed := strings.Replace(string(req.Object.Raw), `"metadata":{}`, patch, 1)
				return admission.PatchResponseFromRaw(req.Object.Raw, []byte(changed))
			})})
		w.Apply(config)
		w.Start("filler", func(mgr ctrl.Manager) error {
			return ctrl.NewControllerManagedBy(mgr).For(&corev1.ConfigMap{}, simtest.Role("source")).
				Owns(newBasket(),
					builder.WithPredicates(predicate.GenerationChangedPredicate{})).Complete(&filler{mgr.GetClient()})
		})
		w.Apply(simtest.Source("a"))
		w.Settle()
		basket := newBasket()
		if err := w.Client().Get(w.Context(), client.ObjectKey{Namespace: "default", Name: "a"}, basket); err != nil {
			t.Error(err)
		}
		if text := fmt.Sprint(basket.Object["spec"]); text != "map[template:map[metadata:map[]]]" {
			t.Errorf("the basket is %s", text)
		}
	}
}

// A webhook that writes a Go struct back, as many do, adds "creationTimestamp: null" to templates.
// The schema drops it, and yet each write counts as a change: with an operator that applies on each
// change that never ends.
func TestWebhookAddsWhatTheSchemaDrops(t *testing.T) {
	report := sim.Explore(t, fill(t, `"metadata":{"creationTimestamp":null}`), sim.Runs(1), sim.Verify(1))
	if f := report.Failure; f == nil || !strings.Contains(f.Message+f.Property, "hot loop") {
		t.Errorf("an endless reconcile is not seen: %+v", f)
	}
	simtest.Holds(t, fill(t, `"metadata":{}`), sim.Runs(3), sim.Verify(1))
}
