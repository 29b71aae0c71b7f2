package sim_test

import (
	"net/http"

	admissionregv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/wavetank/wavetank/sim"
)

// The world of a scenario: sim.Check(t, func(w *sim.World) { … }), and the operator's own setup
// function.
var (
	world *sim.World
	setup func(ctrl.Manager) error
)

func ExampleVary() {
	world.Start("operator", setup, sim.Options(ctrl.Options{LeaderElection: true, LeaderElectionID: "operator"}),
		sim.Vary())
}

func ExampleListThenWatch() {
	world.Start("operator", setup, sim.ListThenWatch())
}

func ExampleAs() {
	// The tenant's reconciler has the rights of this binding, and loses them with it.
	world.Apply(account("tenant"), &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "tenant"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "edit"},
		Subjects:   []rbacv1.Subject{{Kind: "ServiceAccount", Name: "tenant"}},
	})
	world.Start("tenant", setup, sim.As("default/tenant"))
}

func ExampleServes() {
	// Both serve /mutate, so it must be said which Service leads to which.
	world.Start("ours", setup, sim.Serves("ours/webhooks"))
	world.Start("theirs", setup, sim.Serves("theirs/webhooks"))
}

var guard admission.Validator[*rbacv1.RoleBinding]

// Webhooks are served by the processes that register them, and called by the configurations that
// are in the cluster.
func ExampleWorld_Start_webhooks() {
	world.Start("guard", func(mgr ctrl.Manager) error {
		return builder.WebhookManagedBy(mgr, &rbacv1.RoleBinding{}).WithValidator(guard).Complete()
	})
	path := "/validate-rbac-authorization-k8s-io-v1-rolebinding"
	none := admissionregv1.SideEffectClassNone
	service := admissionregv1.ServiceReference{Namespace: "guard", Name: "guard", Path: &path}
	world.Apply(&admissionregv1.ValidatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: "guard"},
		Webhooks: []admissionregv1.ValidatingWebhook{{
			Name:         "rolebindings.guard.example.org",
			ClientConfig: admissionregv1.WebhookClientConfig{Service: &service},
			Rules: []admissionregv1.RuleWithOperations{{
				Operations: []admissionregv1.OperationType{admissionregv1.Delete},
				Rule: admissionregv1.Rule{APIGroups: []string{rbacv1.GroupName}, APIVersions: []string{"v1"},
					Resources: []string{"rolebindings"}},
			}},
			SideEffects: &none, AdmissionReviewVersions: []string{"v1"},
		}},
	})
}

// databases is a model of databases, each of which is reached through a Service of its own.
type databases map[string]*records

func (d databases) of(s *corev1.Service) http.Handler {
	if s.Labels["app"] != "database" {
		return nil
	}
	if d[s.Name] == nil {
		d[s.Name] = &records{}
	}
	return d[s.Name]
}

func ExampleWorld_External_patterns() {
	world.External("backup-*.eu.storage.example", named("a bucket")) // names that are made at run time
	world.External("telemetry.example", nil)                         // there is no such host
}

func ExampleWorld_ExternalServices() {
	all := databases{}
	world.ExternalServices(all.of) // by the labels of the Services that the operator makes
	world.Start("databases", setup)
}
