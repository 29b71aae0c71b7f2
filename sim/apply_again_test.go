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
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/fault"
	"github.com/wavetank/wavetank/sim/result"
)

type doer = func(context.Context, client.Client, *corev1.ConfigMap) (reconcile.Result, error)

// appliedTwice applies a ConfigMap to an operator that does this, and once more.
func appliedTwice(t *testing.T, serverSide bool, do doer, faults ...fault.Fault) result.Report {
	return sim.Explore(t, func(w *sim.World) {
		doing(w, controller.Options{}, do)
		w.Inject(faults...)
		cm := withRole("source", configMap("a", "level", "High"))
		if serverSide {
			w.ApplyServerSide(cm)
		} else {
			w.Apply(cm)
		}
		w.ApplyAgain()
	}, sim.Runs(40), sim.For(0), sim.Verify(0), sim.Shrink(0))
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
		f := appliedTwice(t, serverSide, lowers).Failure
		if f == nil || f.Property != "apply is stable" {
			t.Fatalf("server-side %v: found %+v", serverSide, f)
		}
		for _, want := range []string{"the user applied the same objects once more at ",
			"by user patch ConfigMap default/a",
			`.data.level is "High", before "high"`, "the last write before was p/1 update ConfigMap default/a"} {
			if !strings.Contains(f.Message, want) {
				t.Errorf("server-side %v: the message lacks %q: %s", serverSide, want, f.Message)
			}
		}
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
	for name, do := range map[string]doer{
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
			withoutFailure(t,
				appliedTwice(t, serverSide, do, fault.Crash("p"), fault.LostReply(), fault.StaleCache(time.Minute)))
		}
	}
}

// What the user has removed is not applied again, and what has gone by itself does not come back.
// An edit since the last apply is not taken back.
func TestApplyAgainLeavesOutWhatWasEdited(t *testing.T) {
	withoutFailure(t, sim.Explore(t, func(w *sim.World) {
		w.Apply(configMap("edited", "k", "applied"), configMap("kept", "k", "applied"))
		w.Settle()
		edited := configMap("edited", "k", "by hand")
		if err := w.Client().Update(w.Context(), edited); err != nil {
			t.Error(err)
		}
		w.ApplyAgain()
		if err := w.Client().Get(w.Context(), client.ObjectKeyFromObject(edited), edited); err != nil ||
			edited.Data["k"] != "by hand" {
			t.Errorf("the edit was taken back: %v, %v", edited.Data, err)
		}
	}, sim.Runs(1)))
}

func TestApplyAgainLeavesOutWhatIsGone(t *testing.T) {
	withoutFailure(t, sim.Explore(t, func(w *sim.World) {
		w.Apply(configMap("kept"), configMap("removed"), configMap("gone"))
		w.Settle()
		w.Remove(configMap("removed"))
		if err := w.Client().Delete(w.Context(), configMap("gone")); err != nil {
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
	}, sim.Runs(1)))
}
