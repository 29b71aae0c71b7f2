package simulation

import (
	"errors"
	"fmt"
	"testing"
	"time"

	policyapi "github.com/cert-manager/approver-policy/pkg/apis/policy/v1alpha1"
	cmapi "github.com/cert-manager/cert-manager/pkg/apis/certmanager/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/fault"
	"github.com/wavetank/wavetank/sim/property"
)

// TestPromises asks for everything at once that users of the operator rely on. hack/mutants plants
// bugs in the operator and measures how soon this finds them.
func TestPromises(t *testing.T) {
	definitions := []any{crds(t, "approver-policy"), crds(t, "cert-manager")}
	approved, denied := cmapi.CertificateRequestConditionApproved, cmapi.CertificateRequestConditionDenied
	r := sim.Explore(t, func(w *sim.World) {
		w.Install(definitions...)
		start(w)
		w.Inject(fault.StaleCache(30*time.Second), fault.MissedStates(30*time.Second), fault.DroppedWatch(),
			fault.Relist(), fault.Crash("approver-policy"), fault.LostReply(), fault.Conflict(), fault.ServerError())
		w.Always("no controller overwrites a change that it has not observed", property.NoLostUpdate())
		w.Always("a reconcile at rest changes nothing", property.IdempotentAtRest())
		w.Always("no foreign name is approved", not("foreign", approved))
		w.Always("no allowed name is denied", not("allowed", denied))
		w.Always("no stranger's request is approved", not("strange", approved))
		w.Always("a decision is final", final())
		w.Eventually("the allowed name is approved", says("allowed", approved))
		w.Eventually("the foreign name is denied", says("foreign", denied))
		w.Eventually("the clerk's name is approved", says("clerk", approved))
		w.Eventually("faults leave no trace", property.CrashSafe(w.Undisturbed()))

		// A policy for the shop and a narrower one, which allows none of these names.
		within := policy()
		within.Name, within.Spec.Allowed.DNSNames.Values = "within", &[]string{"*.internal"}
		w.Apply(both()...)
		w.Apply(policy(), within)
		w.Apply(request("allowed", allowed), request("foreign", foreign), from("stranger", "strange"),
			from("clerk", "clerk"))
		w.Apply(clerk()...)
		w.Settle()
	})
	report := fmt.Sprintf("found=%t run=%d", r.Failure != nil, r.Runs)
	if r.Failure != nil {
		t.Errorf("%s seconds=%.3f by=%q step=%d flaky=%t property=%q: %s", report, r.Failure.Took.Seconds(),
			r.Failure.Strategy, r.Failure.Step, r.Failure.Flaky, r.Failure.Property, r.Failure.Message)
		return
	}
	t.Log(report)
}

// from is a request for the allowed name by another user.
func from(user, name string) *cmapi.CertificateRequest {
	cr := request(name, allowed)
	cr.Spec.Username = "system:serviceaccount:default:" + user
	return cr
}

// both lets the shop use both policies.
func both() []client.Object {
	objects := mayUse()
	objects[0].(*rbacv1.ClusterRole).Rules[0].ResourceNames = []string{"web", "within"}
	return objects
}

// clerk lets the clerk use the policy in the namespace of the request.
func clerk() []client.Object {
	return []client.Object{
		&rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "clerk"}, Rules: []rbacv1.PolicyRule{{
			Verbs: []string{"use"}, APIGroups: []string{policyapi.SchemeGroupVersion.Group},
			Resources: []string{"certificaterequestpolicies"}, ResourceNames: []string{"web"}}}},
		&rbacv1.RoleBinding{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "clerk"},
			RoleRef:  rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "clerk"},
			Subjects: []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: "default", Name: "clerk"}}},
	}
}

// final holds while no request loses the condition that decided it.
func final() func(*history.History) error {
	decided := map[string]cmapi.CertificateRequestConditionType{}
	return func(h *history.History) error {
		for _, name := range []string{"allowed", "foreign", "strange", "clerk"} {
			for _, c := range []cmapi.CertificateRequestConditionType{cmapi.CertificateRequestConditionApproved,
				cmapi.CertificateRequestConditionDenied} {
				if says(name, c)(h) == nil {
					if decided[name] != "" && decided[name] != c {
						return fmt.Errorf("%s was %s and is %s", name, decided[name], c)
					}
					decided[name] = c
				}
			}
			if decided[name] != "" && says(name, decided[name])(h) != nil {
				return errors.New(name + " is decided no more")
			}
		}
		return nil
	}
}
