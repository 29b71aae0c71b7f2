package sim_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/result"
)

// long is half an hour in which something is changed every two minutes.
func long() func(*sim.World) {
	return func(w *sim.World) {
		w.Start("stamper", func(mgr ctrl.Manager) error {
			stamp := func(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
				var cm corev1.ConfigMap
				if err := mgr.GetClient().Get(ctx, req.NamespacedName, &cm); err != nil ||
					cm.Annotations["stamp"] == cm.Data["k"] {
					return reconcile.Result{}, client.IgnoreNotFound(err)
				}
				patch := client.MergeFrom(cm.DeepCopy())
				metav1.SetMetaDataAnnotation(&cm.ObjectMeta, "stamp", cm.Data["k"])
				return reconcile.Result{}, mgr.GetClient().Patch(ctx, &cm, patch)
			}
			return ctrl.NewControllerManagedBy(mgr).For(&corev1.ConfigMap{}).Complete(reconcile.Func(stamp))
		})
		for i := range 15 {
			w.Apply(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default",
				Name: fmt.Sprintf("c%d", i%3)}, Data: map[string]string{"k": fmt.Sprint(i)}})
			w.Sleep(2 * time.Minute)
		}
		w.Settle()
	}
}

func TestAWindowIsToldFromItsBeginning(t *testing.T) {
	broken := func(w *sim.World) {
		w.Eventually("c0 is never 12", func(h *history.History) error {
			var cm corev1.ConfigMap
			if o, ok := h.Object("", "ConfigMap", "default", "c0"); ok && o.Into(&cm) == nil && cm.Data["k"] == "12" {
				return errors.New("it is 12")
			}
			return nil
		})
		long()(w)
	}
	f := sim.Explore(t, broken, sim.Runs(1), sim.Strategy("random"), sim.Window(2*time.Minute)).Failure
	if f == nil || f.Message != "it is 12" || f.History.Events[0].Index != 0 ||
		f.History.Events[0].At < 20*time.Minute || len(f.Story.History) == 0 {
		t.Errorf("the failure is told as %+v", f)
	}
	backwards := func(w *sim.World) {
		w.Always("the beginning is known", func(h *history.History) error { _ = h.Since(0); return nil })
		long()(w)
	}
	f = sim.Explore(t, backwards, sim.Runs(1), sim.Strategy("random"), sim.Window(2*time.Minute)).Failure
	if f == nil || !strings.Contains(f.Message, "event 0 is no longer kept: this run keeps its record from event") {
		t.Errorf("a property that looks back: %+v", f)
	}
}

// Two runs that part are found out, and the event is named, though the record is gone when the
// first run has ended.
func TestAWindowTellsRunsApart(t *testing.T) {
	n := 0
	f := sim.Explore(t, func(w *sim.World) {
		n++
		long()(w)
		if n%2 == 0 {
			w.Apply(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "other"}})
		}
		w.Sleep(10 * time.Minute)
	}, sim.Runs(1), sim.Verify(1), sim.Strategy("random"), sim.Window(2*time.Minute)).Failure
	if f == nil || f.Kind != result.Nondeterminism || !strings.Contains(f.Message, "create ConfigMap default/other") {
		t.Errorf("two runs that differ: %+v", f)
	}
}
