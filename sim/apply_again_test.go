// This file exists to hold World.ApplyAgain, and the property that it is judged by, to what they
// say.

package sim_test

import (
	"context"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/fault"
	"github.com/wavetank/wavetank/sim/internal/simtest"
)

// appliedTwice applies a ConfigMap to an operator that does this, and once more.
func appliedTwice(serverSide bool, do simtest.Do, faults ...fault.Fault) func(*sim.World) {
	return func(w *sim.World) {
		w.Start("p", simtest.Reconciles(do))
		w.Inject(faults...)
		cm := simtest.Source("a", "level", "High")
		if serverSide {
			w.ApplyServerSide(cm)
		} else {
			w.Apply(cm)
		}
		w.ApplyAgain()
	}
}

// lowers writes a field that the user applies, in its own way.
func lowers(ctx context.Context, c client.Client, cm *corev1.ConfigMap) (reconcile.Result, error) {
	if level := strings.ToLower(cm.Data["level"]); level != cm.Data["level"] {
		cm.Data["level"] = level
		return reconcile.Result{}, c.Update(ctx, cm)
	}
	return reconcile.Result{}, nil
}

// An operator and its user write one field: each apply of the same object sets it back, and nobody
// noticed while there was only one.
func TestAnApplyThatIsUndoneIsReported(t *testing.T) {
	for _, serverSide := range []bool{false, true} {
		f := simtest.Violates(t, "apply is stable", appliedTwice(serverSide, lowers), sim.Runs(40), sim.For(0),
			sim.Verify(0), sim.Shrink(0))
		simtest.Contains(t, f.Message, "the user applied the same objects once more at ",
			"by user patch ConfigMap default/a",
			`.data.level is "High", before "high"`, "the last write before was p/1 update ConfigMap default/a")
	}
}

// These operators write beside the user, or at each reconcile, and are stable: under faults, too,
// which end before the objects are applied again.
func TestStableApplies(t *testing.T) {
	set := func(ctx context.Context, c client.Client, cm *corev1.ConfigMap, key, value string) error {
		if cm.Data[key] == value {
			return nil
		}
		cm.Data[key] = value
		return c.Update(ctx, cm)
	}
	for name, do := range map[string]simtest.Do{
		"a field of its own": func(ctx context.Context, c client.Client, cm *corev1.ConfigMap) (reconcile.Result,
			error) {
			return reconcile.Result{}, set(ctx, c, cm, "seen", cm.Data["level"])
		},
		"no change": func(ctx context.Context, c client.Client, cm *corev1.ConfigMap) (reconcile.Result, error) {
			return reconcile.Result{}, c.Update(ctx, cm)
		},
	} {
		for _, serverSide := range []bool{false, true} {
			t.Log(name, serverSide)
			simtest.Holds(t, appliedTwice(serverSide, do, fault.Crash("p"), fault.LostReply(),
				fault.StaleCache(time.Minute)), sim.Runs(40), sim.For(0), sim.Verify(0), sim.Shrink(0))
		}
	}
}

// What the user has removed is not applied again, and what has gone by itself does not come back.
// An edit since the last apply is not taken back.
func TestApplyAgainLeavesOutWhatWasEdited(t *testing.T) {
	simtest.Holds(t, func(w *sim.World) {
		w.Apply(simtest.ConfigMap("edited", "k", "applied"), simtest.ConfigMap("kept", "k", "applied"))
		w.Settle()
		edited := simtest.ConfigMap("edited", "k", "by hand")
		if err := w.Client().Update(w.Context(), edited); err != nil {
			t.Error(err)
		}
		w.ApplyAgain()
		if err := w.Client().Get(w.Context(), client.ObjectKeyFromObject(edited), edited); err != nil ||
			edited.Data["k"] != "by hand" {
			t.Errorf("the edit was taken back: %v, %v", edited.Data, err)
		}
	}, sim.Runs(1))
}

func TestApplyAgainLeavesOutWhatIsGone(t *testing.T) {
	simtest.Holds(t, func(w *sim.World) {
		w.Apply(simtest.ConfigMap("kept"), simtest.ConfigMap("removed"), simtest.ConfigMap("gone"))
		w.Settle()
		w.Remove(simtest.ConfigMap("removed"))
		if err := w.Client().Delete(w.Context(), simtest.ConfigMap("gone")); err != nil {
			t.Error(err)
		}
		w.ApplyAgain()
		for name, want := range map[string]bool{"kept": true, "removed": false, "gone": false} {
			if _, is := w.History().Object("", "ConfigMap", "default", name); is != want {
				t.Errorf("%s is there: %v", name, is)
			}
		}
		if n := w.History().Count(history.Again); n != 1 {
			t.Errorf("applied again %d times", n)
		}
	}, sim.Runs(1))
}
