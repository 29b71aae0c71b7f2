package falco

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	artifactv1alpha1 "github.com/falcosecurity/falco-operator/api/artifact/v1alpha1"
	commonv1alpha1 "github.com/falcosecurity/falco-operator/api/common/v1alpha1"
	instancev1alpha1 "github.com/falcosecurity/falco-operator/api/instance/v1alpha1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/fault"
)

// The promises are sentences of docs/architecture.md and docs/crds/falco.md in
// https://github.com/falcosecurity/falco-operator.
const (
	// "Reconcile Falco CRs into DaemonSets or Deployments".
	oneWorkload = "a Falco has the workload of its type, and no other"
	// "Handle deletion (cleanup via finalizers)".
	nothingIsLeft = "a deleted Falco leaves no rights"
	// "Prevents deletion of ConfigMaps referenced by Rulesfile or Config resources".
	referencedStay = "a ConfigMap that a Rulesfile refers to keeps its rules"
	// The same sentence: what is not referred to may be deleted.
	othersGo = "a deleted ConfigMap to which nothing refers is gone"
	// "Reconciled — Whether the last reconciliation succeeded".
	reconciledIsSaid = "the status says that the Falco is reconciled"
)

type check = func(*history.History) error

// scenario declares the promises that are asked for.
func scenario(start func(*sim.World), asked ...string) func(*sim.World) {
	return func(w *sim.World) {
		want, deleted, referred := "DaemonSet", false, false
		ask := func(declare func(string, check), sentence string, holds check) {
			if slices.Contains(asked, sentence) {
				declare(sentence, holds)
			}
		}
		ask(w.Eventually, oneWorkload, func(h *history.History) error {
			_, daemons := history.Get[appsv1.DaemonSet](h, "default", "falco")
			_, deploys := history.Get[appsv1.Deployment](h, "default", "falco")
			if !deleted && (daemons != (want == "DaemonSet") || deploys != (want == "Deployment")) {
				return fmt.Errorf("it is a %s, and has a DaemonSet: %t, a Deployment: %t", want, daemons, deploys)
			}
			return nil
		})
		ask(w.Eventually, nothingIsLeft, func(h *history.History) error {
			roles, bindings := history.List[rbacv1.ClusterRole](h), history.List[rbacv1.ClusterRoleBinding](h)
			_, there := history.Get[instancev1alpha1.Falco](h, "default", "falco")
			if !there && len(roles)+len(bindings) > 0 {
				return fmt.Errorf("%d ClusterRoles and %d ClusterRoleBindings are left", len(roles), len(bindings))
			}
			return nil
		})
		ask(w.Eventually, referencedStay, func(h *history.History) error {
			rules, _ := history.Get[corev1.ConfigMap](h, "default", "rules")
			if referred && rules.Data["rules.yaml"] == "" {
				return fmt.Errorf("it holds %v", rules.Data)
			}
			return nil
		})
		ask(w.Eventually, othersGo, func(h *history.History) error {
			if left, ok := history.Get[corev1.ConfigMap](h, "default", "rules"); ok && deleted {
				return fmt.Errorf("it is there, with the data %v and the finalizers %v", left.Data, left.Finalizers)
			}
			return nil
		})
		ask(w.Eventually, reconciledIsSaid, func(h *history.History) error {
			f, ok := history.Get[instancev1alpha1.Falco](h, "default", "falco")
			c := meta.FindStatusCondition(f.Status.Conditions, "Reconciled")
			if ok && (c == nil || c.Status != metav1.ConditionTrue || c.ObservedGeneration != f.Generation) {
				return errors.New("the condition Reconciled is not true for its generation")
			}
			return nil
		})

		w.Without("no stuck finalizer") // a ConfigMap that is referred to stays, as promised
		start(w)
		w.Inject(fault.StaleCache(time.Minute), fault.MissedStates(time.Minute), fault.DroppedWatch(), fault.Relist(),
			fault.Crash("falco-operator"), fault.LostReply(), fault.Conflict(), fault.ServerError())
		rules := &corev1.ConfigMap{ObjectMeta: named("rules"), Data: map[string]string{"rules.yaml": "- rule: a"}}
		w.Apply(rules, rulesfile(), workload("DaemonSet"))
		referred = true
		w.Settle()
		want = "Deployment"
		w.Apply(workload("Deployment"))
		w.Remove(rules)
		w.Settle()
		deleted, referred = true, false
		w.Remove(rulesfile(), workload("Deployment"))
		w.Settle()
		w.Apply(workload("DaemonSet")) // by mistake: it is deleted at once
		w.Remove(workload("DaemonSet"))
		w.Settle()
	}
}

func named(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Namespace: "default", Name: name} }

func workload(kind string) *instancev1alpha1.Falco {
	return &instancev1alpha1.Falco{ObjectMeta: named("falco"), Spec: instancev1alpha1.FalcoSpec{Type: &kind}}
}

func rulesfile() *artifactv1alpha1.Rulesfile {
	return &artifactv1alpha1.Rulesfile{ObjectMeta: named("own"),
		Spec: artifactv1alpha1.RulesfileSpec{ConfigMapRef: &commonv1alpha1.ConfigMapRef{Name: "rules"}}}
}

func TestPromises(t *testing.T) {
	sim.Check(t, scenario(operator(t), oneWorkload, referencedStay, reconciledIsSaid))
}

// TestFindings finds the violations of docs/findings.md again. An operator's own tests would say
// sim.Check, and fail.
func TestFindings(t *testing.T) {
	start := operator(t)
	for _, sentence := range []string{nothingIsLeft, othersGo} {
		t.Run(sentence, func(t *testing.T) {
			r := sim.Explore(t, scenario(start, sentence), sim.Runs(1000), sim.For(0))
			if r.Failure == nil || r.Failure.Property != sentence {
				t.Fatalf("%d runs found %+v", r.Runs, r.Failure)
			}
			t.Logf("run %d, after %.1f s of CPU time:\n%s", r.Failure.Run, r.Failure.Took.Seconds(), r.Failure.Text())
		})
	}
}
