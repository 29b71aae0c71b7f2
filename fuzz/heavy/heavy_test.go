package heavy

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/internal/rate"
	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/fault"
	"github.com/wavetank/wavetank/sim/property"
)

const fleetSize, machineCount = 10, 8

var (
	fleetDefinition = definition(&Fleet{}, "fleets",
		apiextensionsv1.ValidationRule{Rule: "!has(self.members) || self.members < 100", Message: "too many members"},
		apiextensionsv1.ValidationRule{Rule: "!has(oldSelf.members) || has(self.members)", Message: "members stay set"})
	machineDefinition = definition(&Machine{}, "machines",
		apiextensionsv1.ValidationRule{Rule: "!has(oldSelf.providerID) || self.providerID == oldSelf.providerID",
			Message: "providerID is set once"})
)

// start starts one operator under the faults and properties of a usual scenario.
func start(w *sim.World, name string, d *apiextensionsv1.CustomResourceDefinition, setup func(ctrl.Manager) error) {
	w.Install(d)
	w.Start(name, setup, sim.Options(ctrl.Options{Scheme: scheme}))
	w.Inject(fault.StaleCache(30*time.Second), fault.MissedStates(30*time.Second), fault.DroppedWatch(), fault.Relist(),
		fault.Crash(name), fault.Restart(name), fault.LostReply(), fault.Conflict(), fault.ServerError(),
		fault.Expired())
	w.Always("no controller overwrites a change that it has not observed", property.NoLostUpdate())
	w.Eventually("a reconcile at rest writes nothing", property.IdempotentAtRest())
}

// largeStatuses is an operator with a large definition that writes large statuses.
func largeStatuses(w *sim.World) {
	start(w, "fleets", fleetDefinition, func(mgr ctrl.Manager) error { return (&fleets{}).setup(mgr) })
	w.Eventually("each member is ready", func(h *history.History) error {
		f, _ := history.Get[Fleet](h, "default", "a")
		if len(f.Status.Members) != fleetSize || !meta.IsStatusConditionTrue(f.Status.Conditions, "Ready") {
			return fmt.Errorf("%d of %d members are there, the conditions are %v", len(f.Status.Members), fleetSize,
				f.Status.Conditions)
		}
		return nil
	})
	w.Apply(fleet("web:1"))
	w.Settle()
	w.Apply(fleet("web:2"))
	w.Settle()
}

func fleet(image string) *Fleet {
	f := &Fleet{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "a"}, Spec: FleetSpec{Members: fleetSize}}
	f.Spec.Template.Spec.Containers = []corev1.Container{{Name: "web", Image: image}}
	return f
}

// smallReconciles is an operator that takes many objects through many small reconciles.
func smallReconciles(w *sim.World) {
	start(w, "machines", machineDefinition, func(mgr ctrl.Manager) error { return (&machines{}).setup(mgr) })
	w.Always("a machine is ready after it has joined", func(h *history.History) error {
		for _, m := range history.List[Machine](h) {
			conditions := m.Status.Conditions
			if meta.IsStatusConditionTrue(conditions, "Ready") && !meta.IsStatusConditionTrue(conditions, "Joined") {
				return fmt.Errorf("%s has not joined", m.Name)
			}
		}
		return nil
	})
	w.Eventually("each machine is ready", func(h *history.History) error {
		for _, m := range history.List[Machine](h) {
			if m.Status.Phase != "Ready" || !meta.IsStatusConditionTrue(m.Status.Conditions, "Ready") {
				return fmt.Errorf("%s is %q, the conditions are %v", m.Name, m.Status.Phase, m.Status.Conditions)
			}
		}
		return nil
	})
	for i := range machineCount {
		w.ApplyServerSide(machine(i, "os:1"))
	}
	w.Settle()
	w.ApplyServerSide(machine(0, "os:2"))
	w.Remove(machine(1, ""))
	w.Settle()
}

func machine(i int, image string) *Machine {
	return &Machine{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: fmt.Sprintf("m%d", i)},
		Spec: MachineSpec{Image: image}}
}

// The operators are correct, and as heavy as the package says.
func TestOperatorsHold(t *testing.T) {
	if n := fields(fleetDefinition.Spec.Versions[0].Schema.OpenAPIV3Schema); n < 600 {
		t.Errorf("the definition has %d fields, want 600", n)
	}
	var f Fleet
	for i := range fleetSize {
		f.Status.Members = append(f.Status.Members, member(i))
	}
	if raw, err := json.Marshal(f.Status); err != nil || len(raw) < 30<<10 {
		t.Errorf("a status has %d bytes (%v), want 30 KiB", len(raw), err)
	}
	t.Run("fleets", func(t *testing.T) { sim.Check(t, largeStatuses, sim.Runs(5), sim.For(0)) })
	t.Run("machines", func(t *testing.T) { sim.Check(t, smallReconciles, sim.Runs(5), sim.For(0)) })
}

// BenchmarkLargeStatuses says what one CPU does in a second of such a campaign.
func BenchmarkLargeStatuses(b *testing.B) { rate.Bench(b, largeStatuses) }

// BenchmarkSmallReconciles says what one CPU does in a second of such a campaign.
func BenchmarkSmallReconciles(b *testing.B) { rate.Bench(b, smallReconciles) }
