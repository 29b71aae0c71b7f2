package agentsandbox

import (
	"fmt"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	sandboxv1beta1 "sigs.k8s.io/agent-sandbox/api/v1beta1"
	extensionsv1beta1 "sigs.k8s.io/agent-sandbox/extensions/api/v1beta1"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/fault"
)

// The promises are sentences of README.md, and of the comments in extensions/api/v1beta1, in
// https://github.com/kubernetes-sigs/agent-sandbox.
const (
	// "managing a single, stateful pod with a stable identity" (README).
	onePod = "a Sandbox has at most one Pod"
	// "Once a sandbox is claimed by a SandboxClaim, ownership transfers to the claim"
	// (SandboxWarmPoolSpec).
	notShared = "two claims do not share a Sandbox"
	// "Allows users to create Sandboxes from a SandboxWarmPool" (README).
	oneSandbox = "each claim has one Sandbox"
	// "replicas is the desired number of sandboxes in the pool" (SandboxWarmPoolSpec).
	poolIsFull = "the pool has its Sandboxes"
)

type check = func(*history.History) error

// scenario declares the promises that are asked for.
func scenario(start func(*sim.World), asked ...string) func(*sim.World) {
	return func(w *sim.World) {
		replicas := 2
		ask := func(declare func(string, check), sentence string, holds check) {
			if slices.Contains(asked, sentence) {
				declare(sentence, holds)
			}
		}
		ask(w.Always, onePod, func(h *history.History) error {
			pods := map[string]string{}
			for _, p := range history.List[corev1.Pod](h) {
				if o := metav1.GetControllerOf(&p); o != nil && p.DeletionTimestamp == nil {
					if other := pods[o.Name]; other != "" {
						return fmt.Errorf("Sandbox %s has the Pods %s and %s", o.Name, other, p.Name)
					}
					pods[o.Name] = p.Name
				}
			}
			return nil
		})
		ask(w.Always, notShared, func(h *history.History) error {
			claims := map[string]string{}
			for _, c := range history.List[extensionsv1beta1.SandboxClaim](h) {
				name := c.Status.SandboxStatus.Name
				if other := claims[name]; name != "" && other != "" {
					return fmt.Errorf("the claims %s and %s have the Sandbox %s", other, c.Name, name)
				}
				claims[name] = c.Name
			}
			return nil
		})
		ask(w.Eventually, oneSandbox, func(h *history.History) error {
			owned := owned(h, "SandboxClaim")
			for _, c := range history.List[extensionsv1beta1.SandboxClaim](h) {
				if has := owned[c.Name]; len(has) != 1 || c.Status.SandboxStatus.Name != has[0] {
					return fmt.Errorf("the claim %s has the Sandboxes %v, and its status says %q", c.Name, has,
						c.Status.SandboxStatus.Name)
				}
			}
			return nil
		})
		ask(w.Eventually, poolIsFull, func(h *history.History) error {
			if has := owned(h, "SandboxWarmPool")["pool"]; len(has) != replicas {
				return fmt.Errorf("it has %v, and should have %d", has, replicas)
			}
			return nil
		})

		start(w)
		w.Inject(fault.StaleCache(time.Minute), fault.MissedStates(time.Minute), fault.DroppedWatch(), fault.Relist(),
			fault.Crash("agent-sandbox"), fault.LostReply(), fault.Conflict(), fault.ServerError())
		w.Apply(template(), pool(2))
		w.Settle()
		w.Apply(claim("one"), claim("two"), claim("three"))
		w.Settle()
		w.Remove(claim("one"))
		w.Apply(claim("four"))
		w.Settle()
		replicas = 1
		w.Apply(pool(1))
		w.Settle()
	}
}

// owned lists the names of the Sandboxes by the names of their controllers of a kind.
func owned(h *history.History, kind string) map[string][]string {
	names := map[string][]string{}
	for _, s := range history.List[sandboxv1beta1.Sandbox](h) {
		if o := metav1.GetControllerOf(&s); o != nil && o.Kind == kind && s.DeletionTimestamp == nil {
			names[o.Name] = append(names[o.Name], s.Name)
		}
	}
	return names
}

func named(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Namespace: "default", Name: name} }

func template() *extensionsv1beta1.SandboxTemplate {
	t := &extensionsv1beta1.SandboxTemplate{ObjectMeta: named("small")}
	t.Spec.PodTemplate.Spec.Containers = []corev1.Container{{Name: "agent", Image: "agent.example/agent:1"}}
	return t
}

func pool(replicas int32) *extensionsv1beta1.SandboxWarmPool {
	return &extensionsv1beta1.SandboxWarmPool{ObjectMeta: named("pool"), Spec: extensionsv1beta1.SandboxWarmPoolSpec{
		Replicas: &replicas, TemplateRef: extensionsv1beta1.SandboxTemplateRef{Name: "small"},
	}}
}

func claim(name string) *extensionsv1beta1.SandboxClaim {
	return &extensionsv1beta1.SandboxClaim{ObjectMeta: named(name), Spec: extensionsv1beta1.SandboxClaimSpec{
		WarmPoolRef: extensionsv1beta1.SandboxWarmPoolRef{Name: "pool"},
	}}
}

func TestPromises(t *testing.T) {
	sim.Check(t, scenario(operator(t), onePod, notShared, poolIsFull))
}

// TestFindings finds the violation of docs/findings.md again. An operator's own tests would say
// sim.Check, and fail.
func TestFindings(t *testing.T) {
	r := sim.Explore(t, scenario(operator(t), oneSandbox), sim.Runs(1000), sim.For(0))
	if r.Failure == nil || r.Failure.Property != oneSandbox {
		t.Fatalf("%d runs found %+v", r.Runs, r.Failure)
	}
	t.Logf("run %d, after %.1f s of CPU time:\n%s", r.Failure.Run, r.Failure.Took.Seconds(), r.Failure.Text())
}
