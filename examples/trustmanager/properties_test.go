package trustmanager

import (
	"errors"
	"testing"
	"time"

	trustapi "github.com/cert-manager/trust-manager/pkg/apis/trust/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/fault"
	"github.com/wavetank/wavetank/sim/property"
)

// sets of properties, by what the runner of hack/mutants calls them.
var sets = []struct {
	name    string
	declare func(*sim.World)
}{
	{"default properties", func(*sim.World) {}},
	{"NoLostUpdate",
		func(w *sim.World) {
			w.Always("no controller overwrites a change that it has not observed", property.NoLostUpdate())
		}},
	{"NoStarvation", func(w *sim.World) {
		w.Always("one bundle does not hold up the other", property.NoStarvation(20*time.Second))
	}},
	{"CrashSafe", func(w *sim.World) { w.Eventually("faults leave no trace", property.CrashSafe(w.Undisturbed())) }},
	{"own Always", func(w *sim.World) { w.Always("what is called synced has been synced", synced) }},
}

func TestAllProperties(t *testing.T) {
	start := operator(t)
	sim.Check(t, func(w *sim.World) {
		for _, set := range sets {
			set.declare(w)
		}
		twoBundles(w, start)
	})
}

// Each set is tried by itself: hack/mutants plants bugs in the operator and sees which set finds
// them. An operator's own tests need no such test.
func TestEachProperty(t *testing.T) {
	start := operator(t)
	for _, set := range sets {
		t.Run(set.name, func(t *testing.T) {
			r := sim.Explore(t, func(w *sim.World) {
				set.declare(w)
				twoBundles(w, start)
			})
			if r.Failure != nil {
				t.Errorf("run %d breaks %q: %s", r.Runs, r.Failure.Property, r.Failure.Message)
			}
		})
	}
}

func twoBundles(w *sim.World, start func(*sim.World)) {
	start(w)
	w.Inject(fault.StaleCache(30*time.Second), fault.MissedStates(30*time.Second), fault.DroppedWatch(), fault.Relist(),
		fault.Crash("trust-manager"), fault.LostReply(), fault.Conflict(), fault.ServerError())
	w.Apply(team("one", "a"), source(), spread("a"))
	w.Settle()
	w.Apply(keyed("ca.pem"), lacking())
	w.Settle()
}

// synced reports whether the copy is as the bundle's specification wants it when the status says so
// of this generation.
func synced(h *history.History) error {
	var b trustapi.Bundle
	o, ok := h.Object("trust.cert-manager.io", "Bundle", "", "ca")
	if !ok || o.Into(&b) != nil || b.Generation == 1 { // at first the operator may not know of the namespace yet
		return nil
	}
	c := meta.FindStatusCondition(b.Status.Conditions, trustapi.BundleConditionSynced)
	if c == nil || c.Status != metav1.ConditionTrue || c.ObservedGeneration != b.Generation {
		return nil
	}
	var cm corev1.ConfigMap
	if o, ok := h.Object("", "ConfigMap", "one", "ca"); !ok || o.Into(&cm) != nil ||
		cm.Data[b.Spec.Target.ConfigMap.Key] == "" {
		return errors.New("Bundle ca is called synced, and its copy in the namespace one lacks " +
			b.Spec.Target.ConfigMap.Key)
	}
	return nil
}

// keyed is the bundle whose copies have another key.
func keyed(key string) *trustapi.Bundle {
	b := spread("a")
	b.Spec.Target.ConfigMap.Key = key
	return b
}

// lacking is a bundle whose source does not exist.
func lacking() *trustapi.Bundle {
	b := spread("nobody")
	b.Name = "lacking"
	b.Spec.Sources[0].ConfigMap.Name = "nowhere"
	return b
}
