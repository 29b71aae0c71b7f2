package trustmanager

import (
	"context"
	_ "embed"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	trustapi "github.com/cert-manager/trust-manager/pkg/apis/trust/v1alpha1"
	"github.com/cert-manager/trust-manager/pkg/bundle"
	"github.com/cert-manager/trust-manager/pkg/bundle/controller"
	"github.com/cert-manager/trust-manager/pkg/webhook"
	admissionregv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/fault"
	"github.com/wavetank/wavetank/sim/property"
)

//go:embed source.pem
var certificate string

var options = controller.Options{Namespace: "cert-manager"}

// operator returns what puts trust-manager into a world, set up as its main does it. What all
// worlds share is made here, once.
func operator(t *testing.T) func(*sim.World) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, trustapi.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	definitions := crds(t)
	return func(w *sim.World) {
		w.Install(definitions)
		w.Apply(team(options.Namespace, ""), guard())
		w.Start("trust-manager", func(mgr ctrl.Manager) error {
			if err := bundle.SetupWithManager(context.Background(), mgr, options); err != nil {
				return err
			}
			return webhook.SetupWebhookWithManager(mgr)
		}, sim.Options(ctrl.Options{Scheme: scheme, Cache: bundle.CacheOpts(options)}))
	}
}

// Whatever happens on the way, the namespace that is to have the certificates has them in the end.
func TestTrustIsSpread(t *testing.T) {
	start := operator(t)
	sim.Check(t, func(w *sim.World) {
		start(w)
		w.Inject(fault.StaleCache(30*time.Second), fault.MissedStates(30*time.Second), fault.DroppedWatch(),
			fault.Relist(), fault.Crash("trust-manager"),
			fault.LostReply(), fault.Conflict(), fault.ServerError(), fault.WebhookDown(time.Minute))
		w.Eventually("the namespace has the certificates", has("one"))
		w.Always("no controller overwrites a change that it has not observed", property.NoLostUpdate())
		w.Apply(team("one", "a"), spread("a"))
		w.Sleep(time.Second)
		w.Apply(source())
		w.Settle()
	})
}

// When another namespace is to have them, the copy in the first one is removed: it is applied
// without its certificates and then deleted. If the cache lags by a few milliseconds, a copy
// that has been deleted already is created again and deleted. Each of the two is an event that
// starts it again. go test -v shows the story; an operator's own tests would rather say sim.Check,
// and fail.
func TestRemovedCopiesComeBack(t *testing.T) {
	start := operator(t)
	r := sim.Explore(t, func(w *sim.World) {
		start(w)
		w.Inject(fault.StaleServer(10 * time.Second))
		w.Apply(team("one", "a"), team("two", "b"), source(), spread("a"))
		w.Settle()
		w.Apply(spread("b"))
		w.Settle()
	})
	if r.Failure == nil || r.Failure.Property != "no hot loop" {
		t.Fatalf("%d runs found %+v", r.Runs, r.Failure)
	}
	t.Log(r.Failure.Text())
}

// has asks for the certificates in a namespace.
func has(namespace string) func(*history.History) error {
	return func(h *history.History) error {
		var cm corev1.ConfigMap
		if o, ok := h.Object("", "ConfigMap", namespace, "ca"); !ok || o.Into(&cm) != nil ||
			strings.TrimSpace(cm.Data["ca.crt"]) != strings.TrimSpace(certificate) {
			return fmt.Errorf("its copy holds %q", cm.Data["ca.crt"])
		}
		return nil
	}
}

// spread wants the certificates in the namespaces of a team.
func spread(team string) *trustapi.Bundle {
	return &trustapi.Bundle{ObjectMeta: metav1.ObjectMeta{Name: "ca"}, Spec: trustapi.BundleSpec{
		Sources: []trustapi.BundleSource{{ConfigMap: &trustapi.SourceObjectKeySelector{Name: "source", Key: "ca.crt"}}},
		Target: trustapi.BundleTarget{
			ConfigMap:         &trustapi.TargetTemplate{Key: "ca.crt"},
			NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"team": team}},
		},
	}}
}

// source is where the certificates come from.
func source() *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: options.Namespace, Name: "source"},
		Data: map[string]string{"ca.crt": certificate}}
}

func team(namespace, team string) *corev1.Namespace {
	return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace, Labels: map[string]string{"team": team}}}
}

// guard has the operator's webhook asked, as its chart does.
func guard() *admissionregv1.ValidatingWebhookConfiguration {
	none, path := admissionregv1.SideEffectClassNone, "/validate-trust-cert-manager-io-v1alpha1-bundle"
	service := admissionregv1.ServiceReference{Namespace: options.Namespace, Name: "trust-manager", Path: &path}
	return &admissionregv1.ValidatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: "trust-manager"},
		Webhooks: []admissionregv1.ValidatingWebhook{{
			Name: "trust.cert-manager.io", SideEffects: &none, AdmissionReviewVersions: []string{"v1"},
			Rules: []admissionregv1.RuleWithOperations{{
				Operations: []admissionregv1.OperationType{admissionregv1.Create, admissionregv1.Update},
				Rule: admissionregv1.Rule{APIGroups: []string{"trust.cert-manager.io"}, APIVersions: []string{"*"},
					Resources: []string{"bundles"}},
			}},
			ClientConfig: admissionregv1.WebhookClientConfig{Service: &service},
		}}}
}

// crds is where the module cache has the operator's CRDs.
func crds(t *testing.T) string {
	t.Helper()
	dir, err := exec.Command("sh", "-c", "GOWORK=off go list -m -f {{.Dir}} github.com/cert-manager/trust-manager").Output()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(strings.TrimSpace(string(dir)), "deploy", "crds")
}
