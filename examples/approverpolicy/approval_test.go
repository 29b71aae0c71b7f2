package simulation

import (
	"context"
	_ "embed"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	policyapi "github.com/cert-manager/approver-policy/pkg/apis/policy/v1alpha1"
	_ "github.com/cert-manager/approver-policy/pkg/internal/approver/allowed"
	_ "github.com/cert-manager/approver-policy/pkg/internal/approver/constraints"
	"github.com/cert-manager/approver-policy/pkg/internal/controllers"
	"github.com/cert-manager/approver-policy/pkg/registry"
	cmapi "github.com/cert-manager/cert-manager/pkg/apis/certmanager/v1"
	cmmeta "github.com/cert-manager/cert-manager/pkg/apis/meta/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/fault"
	"github.com/wavetank/wavetank/sim/property"
)

// Requests for a name that the policy allows, and for one that it does not.
var (
	//go:embed allowed.pem
	allowed []byte
	//go:embed foreign.pem
	foreign []byte
)

const requester = "system:serviceaccount:default:shop"

// start starts the operator, set up as its own command does it.
func start(w *sim.World) {
	w.Start("approver-policy", func(mgr ctrl.Manager) error {
		for _, a := range registry.Shared.Approvers() {
			if err := a.Prepare(context.Background(), mgr.GetLogger(), mgr); err != nil {
				return err
			}
		}
		return controllers.AddControllers(context.Background(), controllers.Options{
			Log: mgr.GetLogger(), Manager: mgr,
			Evaluators: registry.Shared.Evaluators(), Reconcilers: registry.Shared.Reconcilers()})
	}, sim.Options(ctrl.Options{Scheme: policyapi.GlobalScheme,
		Cache: cache.Options{ReaderFailOnMissingInformer: true}}))
}

// Every request is decided in the end, and as the policy says, whatever happens on the way.
func TestRequestsAreDecided(t *testing.T) {
	definitions := []any{crds(t, "approver-policy"), crds(t, "cert-manager")}
	sim.Check(t, func(w *sim.World) {
		w.Install(definitions...)
		w.Apply(mayUse()...)
		start(w)
		w.Inject(fault.StaleCache(30*time.Second), fault.DroppedWatch(), fault.Relist(), fault.Crash("approver-policy"),
			fault.LostReply(), fault.Conflict(), fault.ServerError())
		w.Always("no foreign name is approved", not("foreign", cmapi.CertificateRequestConditionApproved))
		w.Always("no controller overwrites a change that it has not observed", property.NoLostUpdate())
		w.Eventually("the allowed name is approved", says("allowed", cmapi.CertificateRequestConditionApproved))
		w.Eventually("the foreign name is denied", says("foreign", cmapi.CertificateRequestConditionDenied))
		w.Apply(policy())
		w.Sleep(time.Second)
		w.Apply(request("allowed", allowed), request("foreign", foreign))
		w.Settle()
	})
}

// says asks for a condition of a request.
func says(name string, condition cmapi.CertificateRequestConditionType) func(*history.History) error {
	return func(h *history.History) error {
		var cr cmapi.CertificateRequest
		o, ok := h.Object("cert-manager.io", "CertificateRequest", "default", name)
		if !ok || o.Into(&cr) != nil || !slices.ContainsFunc(cr.Status.Conditions,
			func(c cmapi.CertificateRequestCondition) bool {
				return c.Type == condition && c.Status == cmmeta.ConditionTrue
			}) {
			return fmt.Errorf("its conditions are %v", cr.Status.Conditions)
		}
		return nil
	}
}

// not holds while a request does not have a condition.
func not(name string, condition cmapi.CertificateRequestConditionType) func(*history.History) error {
	holds := says(name, condition)
	return func(h *history.History) error {
		if holds(h) == nil {
			return fmt.Errorf("%s is %s", name, condition)
		}
		return nil
	}
}

// policy allows names below example.com.
func policy() *policyapi.CertificateRequestPolicy {
	names := []string{"*.example.com"}
	usages := []cmapi.KeyUsage{cmapi.UsageDigitalSignature, cmapi.UsageKeyEncipherment}
	return &policyapi.CertificateRequestPolicy{ObjectMeta: metav1.ObjectMeta{Name: "web"},
		Spec: policyapi.CertificateRequestPolicySpec{
			Allowed: &policyapi.CertificateRequestPolicyAllowed{
				DNSNames: &policyapi.CertificateRequestPolicyAllowedStringSlice{Values: &names}, Usages: &usages},
			Selector: policyapi.CertificateRequestPolicySelector{
				IssuerRef: &policyapi.CertificateRequestPolicySelectorIssuerRef{}},
		}}
}

// request asks for a certificate. A webhook of cert-manager writes down who asks; this world has
// none.
func request(name string, pem []byte) *cmapi.CertificateRequest {
	return &cmapi.CertificateRequest{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name},
		Spec: cmapi.CertificateRequestSpec{Request: pem, Username: requester,
			IssuerRef: cmmeta.IssuerReference{Name: "ca"},
			Usages:    []cmapi.KeyUsage{cmapi.UsageDigitalSignature, cmapi.UsageKeyEncipherment}}}
}

// mayUse lets the requester use the policy.
func mayUse() []client.Object {
	return []client.Object{
		&rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "web"}, Rules: []rbacv1.PolicyRule{{
			Verbs: []string{"use"}, APIGroups: []string{"policy.cert-manager.io"},
			Resources: []string{"certificaterequestpolicies"}, ResourceNames: []string{"web"}}}},
		&rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: "web"},
			RoleRef:  rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "web"},
			Subjects: []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: "default", Name: "shop"}}},
	}
}

// crds is where the module cache has a project's CRDs.
func crds(t *testing.T, project string) string {
	t.Helper()
	dir, err := exec.Command("sh", "-c", "GOWORK=off go list -m -f {{.Dir}} github.com/cert-manager/"+project).Output()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(strings.TrimSpace(string(dir)), "deploy", "crds")
}
