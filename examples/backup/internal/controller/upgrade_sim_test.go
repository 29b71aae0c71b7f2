package controller

import (
	"context"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/fault"
	"github.com/wavetank/wavetank/sim/property"
)

// second is the client of a second version of the operator, which names claims otherwise. Before it
// creates one, it adopts a claim of the first version.
type second struct {
	client.Client
	adopts bool
}

func (s second) Create(ctx context.Context, obj client.Object, opts ...client.CreateOption) error {
	var claims corev1.PersistentVolumeClaimList
	if err := s.List(ctx, &claims, client.InNamespace(obj.GetNamespace())); err != nil {
		return err
	}
	for _, claim := range claims.Items {
		if s.adopts && metav1.GetControllerOf(&claim).UID == metav1.GetControllerOf(obj).UID {
			obj.SetName(claim.Name)
			return nil
		}
	}
	obj.SetName("backup-" + obj.GetName())
	return s.Client.Create(ctx, obj, opts...)
}

// The second version takes over in the middle of the work of the first. The way back does the same.
func upgraded(adopts, back bool) func(*sim.World) {
	return func(w *sim.World) {
		first := func(mgr ctrl.Manager) error {
			return (&BackupReconciler{Client: mgr.GetClient()}).SetupWithManager(mgr)
		}
		w.Install("../../config/crd/bases")
		w.Start("backup", first, sim.Options(ctrl.Options{Scheme: scheme}))
		w.Inject(fault.Crash("backup"), fault.LostReply())
		w.Always("a backup has at most one claim", atMostOneClaim)
		w.Always("no version drops a field of the user's", property.NoDroppedField())
		w.Eventually("a backup knows its claim", claimKnown)
		w.Sleep(time.Second)
		w.Upgrade("backup", func(mgr ctrl.Manager) error {
			return (&BackupReconciler{Client: second{mgr.GetClient(), adopts}}).SetupWithManager(mgr)
		})
		w.Apply(named("a"))
		w.Settle()
		if back {
			w.Upgrade("backup", first)
			w.Apply(named("b"))
			w.Settle()
		}
	}
}

func TestUpgrade(t *testing.T) { sim.Check(t, upgraded(true, false)) }

// A second version that does not look for the claim of the first makes another one, if the upgrade
// comes between the two writes of the first. The first version does not look for claims of the
// second, so the way back has the same bug.
func TestUpgradesMakeSecondClaims(t *testing.T) {
	for _, scenario := range []func(*sim.World){upgraded(false, false), upgraded(true, true)} {
		r := sim.Explore(t, scenario, sim.Runs(300), sim.For(0))
		if r.Failure == nil || r.Failure.Property != "a backup has at most one claim" {
			t.Errorf("%d runs found %+v", r.Runs, r.Failure)
		}
	}
}
