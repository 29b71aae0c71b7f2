package controller

import (
	"fmt"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/fault"
	"github.com/wavetank/wavetank/sim/property"

	v1 "example.com/backup/api/v1"
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
		w.Always("one backup does not hold up the other", property.NoStarvation(20*time.Second))
	}},
	{"CrashSafe", func(w *sim.World) { w.Eventually("faults leave no trace", property.CrashSafe(w.Undisturbed())) }},
	{"own Always", func(w *sim.World) { w.Always("the claim that a status names exists", namedClaims) }},
}

func TestAllProperties(t *testing.T) {
	sim.Check(t, twoBackups(func(w *sim.World) {
		for _, set := range sets {
			set.declare(w)
		}
	}))
}

// Each set is tried by itself: hack/mutants plants bugs in the operator and sees which set finds
// them. An operator's own tests need no such test.
func TestEachProperty(t *testing.T) {
	for _, set := range sets {
		t.Run(set.name, func(t *testing.T) {
			if r := sim.Explore(t, twoBackups(set.declare)); r.Failure != nil {
				t.Errorf("run %d breaks %q: %s", r.Runs, r.Failure.Property, r.Failure.Message)
			}
		})
	}
}

func twoBackups(declare func(*sim.World)) func(*sim.World) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, v1.AddToScheme} {
		if err := add(scheme); err != nil {
			panic(err)
		}
	}
	return func(w *sim.World) {
		declare(w)
		w.Install("../../config/crd/bases")
		w.Start("backup", func(mgr ctrl.Manager) error {
			return (&BackupReconciler{Client: mgr.GetClient()}).SetupWithManager(mgr)
		}, sim.Options(ctrl.Options{Scheme: scheme}))
		w.Inject(fault.StaleCache(30*time.Second), fault.Crash("backup"), fault.LostReply(), fault.Conflict(),
			fault.ServerError())
		for _, name := range []string{"a", "b"} {
			w.Apply(&v1.Backup{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}})
		}
		w.Settle()
	}
}

// namedClaims asks for the claims that the statuses name.
func namedClaims(h *history.History) error {
	for _, o := range h.Objects("example.com", "Backup") {
		var b v1.Backup
		if err := o.Into(&b); err != nil {
			return err
		}
		if _, ok := h.Object("", "PersistentVolumeClaim", b.Namespace, b.Status.PVC); b.Status.PVC != "" && !ok {
			return fmt.Errorf("%s names the claim %s, which does not exist", o.Ref, b.Status.PVC)
		}
	}
	return nil
}
