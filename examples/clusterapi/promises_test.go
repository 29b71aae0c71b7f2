package clusterapi

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/fault"
)

// The promises are sentences of https://cluster-api.sigs.k8s.io.
const (
	// "A MachineDeployment reconciles changes to a Machine spec by rolling out changes to 2
	// MachineSets, the old and the newly updated" (user/concepts#machinedeployment).
	oneSetEach = "a MachineDeployment has one MachineSet for each template"
	// "InfraMachines & BootstrapConfigs will use the same name as the corresponding Machines"
	// (reference/api/crd-api-reference).
	partsHaveMachines = "each infrastructure machine and bootstrap configuration has a Machine of its name"
	// "replicas is the number of desired machines" (reference/api/crd-api-reference).
	replicasExist = "a MachineDeployment has the Machines that it asks for"
	// "It can be applied to a machine to manually mark it for remediation by MachineHealthCheck
	// reconciler" (reference/api/labels-and-annotations).
	markedIsReplaced = "a Machine that a user marks is replaced"
	// "Objects should always be created with an owner reference to prevent leaking objects"
	// (reference/api/owner-references).
	nothingIsLeft = "a deleted MachineDeployment leaves nothing"
)

type check = func(*history.History) error

// scenario has a MachineDeployment that is rolled out, and then changed, or repaired and deleted.
// It declares the promises that are asked for, or all.
func scenario(start func(*sim.World), users func(*wish), asked ...string) func(*sim.World) {
	return func(w *sim.World) {
		u := &wish{World: w, templates: 1, replicas: 2, size: "small"}
		declare(u, asked)
		start(w)
		w.Inject(fault.StaleCache(time.Minute), fault.MissedStates(time.Minute), fault.DroppedWatch(), fault.Relist(),
			fault.Crash("capi"), fault.LostReply(), fault.Conflict(), fault.ServerError())
		w.Apply(deployment("small"))
		w.Settle()
		users(u)
		w.Settle()
	}
}

// wish is what users want.
type wish struct {
	*sim.World
	templates, replicas int
	size, marked        string
}

func changed(w *wish) {
	w.templates, w.size = 2, "large"
	w.Apply(deployment("large"))
}

func repaired(w *wish) {
	w.Apply(object("cluster.x-k8s.io", "MachineHealthCheck", "a", `
spec: {clusterName: a, selector: {matchLabels: {pool: a}},
  checks: {nodeStartupTimeoutSeconds: 0}, remediation: {triggerIf: {unhealthyLessThanOrEqualTo: 100%}}}`))
	m := history.List[clusterv1.Machine](w.History())[0]
	w.marked = m.Name
	m.Annotations = map[string]string{clusterv1.RemediateMachineAnnotation: ""}
	if err := w.Client().Patch(w.Context(), &m, client.RawPatch("application/merge-patch+json",
		[]byte(`{"metadata":{"annotations":{"`+clusterv1.RemediateMachineAnnotation+`":""}}}`))); err != nil {
		panic(err)
	}
	w.Settle()
	w.replicas = 0
	w.Remove(deployment("small"))
}

func declare(w *wish, asked []string) {
	ask := func(declare func(string, check), sentence string, holds check) {
		if len(asked) == 0 || slices.Contains(asked, sentence) {
			declare(sentence, holds)
		}
	}
	ask(w.Always, oneSetEach, func(h *history.History) error {
		if sets := history.List[clusterv1.MachineSet](h); len(sets) > w.templates {
			return fmt.Errorf("there are %d MachineSets for %d templates", len(sets), w.templates)
		}
		return nil
	})
	ask(w.Eventually, partsHaveMachines, func(h *history.History) error {
		for _, part := range []history.Ref{{Group: "infrastructure.cluster.x-k8s.io", Kind: "SimMachine"},
			{Group: "bootstrap.cluster.x-k8s.io", Kind: "SimConfig"}} {
			for _, o := range h.Objects(part.Group, part.Kind) {
				if _, ok := h.Object(clusterv1.GroupVersion.Group, "Machine", o.Ref.Namespace, o.Ref.Name); !ok {
					return fmt.Errorf("%s %s has no Machine", o.Ref.Kind, o.Ref.Name)
				}
			}
		}
		return nil
	})
	ask(w.Eventually, replicasExist, func(h *history.History) error {
		machines := history.List[clusterv1.Machine](h)
		for _, m := range machines {
			var infra struct{ Spec struct{ Size string } }
			o, _ := h.Object("infrastructure.cluster.x-k8s.io", "SimMachine", "default", m.Name)
			if o.Into(&infra) != nil || infra.Spec.Size != w.size {
				return fmt.Errorf("Machine %s has size %q, and should be %s", m.Name, infra.Spec.Size, w.size)
			}
		}
		if len(machines) != w.replicas {
			return fmt.Errorf("there are %d Machines, and should be %d", len(machines), w.replicas)
		}
		return nil
	})
	ask(w.Eventually, markedIsReplaced, func(h *history.History) error {
		if _, ok := history.Get[clusterv1.Machine](h, "default", w.marked); ok {
			return fmt.Errorf("Machine %s is still there", w.marked)
		}
		return nil
	})
	ask(w.Eventually, nothingIsLeft, func(h *history.History) error {
		if left := len(history.List[clusterv1.MachineSet](h)); w.replicas == 0 && left > 0 {
			return errors.New("a MachineSet is left")
		}
		return nil
	})
}

// deployment asks for two Machines of a size.
func deployment(size string) *unstructured.Unstructured {
	return object("cluster.x-k8s.io", "MachineDeployment", "a", `
spec:
  clusterName: a
  replicas: 2
  selector: {matchLabels: {pool: a, cluster.x-k8s.io/cluster-name: a, cluster.x-k8s.io/deployment-name: a}}
  rollout: {strategy: {type: RollingUpdate, rollingUpdate: {maxSurge: 0, maxUnavailable: 2}}}
  template:
    metadata: {labels: {pool: a, cluster.x-k8s.io/cluster-name: a, cluster.x-k8s.io/deployment-name: a}}
    spec:
      clusterName: a
      version: v1.35.0
      bootstrap: {configRef: {apiGroup: bootstrap.cluster.x-k8s.io, kind: SimConfigTemplate, name: a}}
      infrastructureRef: {apiGroup: infrastructure.cluster.x-k8s.io, kind: SimMachineTemplate, name: `+size+`}
`)
}

// TestPromises asks for what the findings leave. A MachineSet that is stuck remediates nothing.
func TestPromises(t *testing.T) {
	sim.Check(t, scenario(operator(t), repaired, nothingIsLeft))
}

// TestFindings finds the violations of docs/findings.md again. An operator's own tests would say
// sim.Check, and fail.
func TestFindings(t *testing.T) {
	start := operator(t)
	for sentence, users := range map[string]func(*wish){oneSetEach: changed, partsHaveMachines: changed,
		replicasExist: repaired} {
		t.Run(sentence, func(t *testing.T) {
			r := sim.Explore(t, scenario(start, users, sentence), sim.Runs(1000), sim.For(0))
			if r.Failure == nil || r.Failure.Property != sentence {
				t.Fatalf("%d runs found %+v", r.Runs, r.Failure)
			}
			t.Logf("run %d, after %.1f s of CPU time:\n%s", r.Failure.Run, r.Failure.Took.Seconds(), r.Failure.Text())
		})
	}
}
