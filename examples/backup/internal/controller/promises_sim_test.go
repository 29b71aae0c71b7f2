package controller

import (
	"errors"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
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

// TestPromises asks for everything at once that users of the operator rely on. hack/mutants plants
// bugs in the operator and measures how soon this finds them.
func TestPromises(t *testing.T) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, v1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	r := sim.Explore(t, func(w *sim.World) {
		w.Install("../../config/crd/bases")
		w.Start("backup", func(mgr ctrl.Manager) error {
			return (&BackupReconciler{Client: mgr.GetClient()}).SetupWithManager(mgr)
		}, sim.Options(ctrl.Options{Scheme: scheme}))
		w.Inject(fault.StaleCache(30*time.Second), fault.MissedStates(30*time.Second), fault.DroppedWatch(),
			fault.Relist(), fault.Crash("backup"), fault.LostReply(), fault.Conflict(), fault.ServerError())
		w.Always("no controller overwrites a change that it has not observed", property.NoLostUpdate())
		w.Always("a reconcile at rest changes nothing", property.IdempotentAtRest())
		w.Always("the claim that a status names exists", namedClaims)
		w.Always("a backup has at most one claim", atMostOneClaim)
		w.Eventually("nothing outlives its owner", property.NoOrphans(time.Minute))
		w.Eventually("a status names what exists", property.StatusNamesWhatExists())
		w.Eventually("faults leave no trace", property.CrashSafe(w.Undisturbed()))
		w.Eventually("a backup knows its claim", claimKnown)

		w.Sleep(time.Second) // the operator is there before its users are
		a, b := named("a"), named("b")
		w.Apply(a, b)
		w.Settle()
		a.Spec.Bucket = "elsewhere"
		w.Apply(a, named("c"))
		w.Remove(b)
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

func named(name string) *v1.Backup {
	return &v1.Backup{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}}
}

func atMostOneClaim(h *history.History) error {
	claims := map[string]string{}
	for _, o := range h.Objects("", "PersistentVolumeClaim") {
		var claim corev1.PersistentVolumeClaim
		if err := o.Into(&claim); err != nil {
			return err
		}
		for _, owner := range claim.OwnerReferences {
			if other, ok := claims[owner.Name]; ok {
				return fmt.Errorf("the backup %s has the claims %s and %s", owner.Name, other, claim.Name)
			}
			claims[owner.Name] = claim.Name
		}
	}
	return nil
}

func claimKnown(h *history.History) error {
	for _, o := range h.Objects("example.com", "Backup") {
		var b v1.Backup
		if err := o.Into(&b); err != nil {
			return err
		}
		if b.Status.PVC == "" {
			return errors.New("the status of " + b.Name + " names none")
		}
	}
	return nil
}
