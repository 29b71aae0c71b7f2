package sim

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
	"github.com/wavetank/wavetank/sim/fault"
	"github.com/wavetank/wavetank/sim/internal/choice"
	"github.com/wavetank/wavetank/sim/internal/process"
)

// long is half an hour in which something is changed every two minutes.
func long(faults ...fault.Fault) func(*World) {
	return func(w *World) {
		w.Start("stamper", func(mgr ctrl.Manager) error {
			return ctrl.NewControllerManagedBy(mgr).For(&corev1.ConfigMap{}).Complete(reconcile.Func(func(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
				var cm corev1.ConfigMap
				if err := mgr.GetClient().Get(ctx, req.NamespacedName, &cm); err != nil || cm.Annotations["stamp"] == cm.Data["k"] {
					return reconcile.Result{}, client.IgnoreNotFound(err)
				}
				patch := client.MergeFrom(cm.DeepCopy())
				metav1.SetMetaDataAnnotation(&cm.ObjectMeta, "stamp", cm.Data["k"])
				return reconcile.Result{}, mgr.GetClient().Patch(ctx, &cm, patch)
			}))
		})
		w.Inject(faults...)
		for i := range 15 {
			w.Apply(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: fmt.Sprintf("c%d", i%3)}, Data: map[string]string{"k": fmt.Sprint(i)}})
			w.Sleep(2 * time.Minute)
		}
		w.Settle()
	}
}

// With a window a run makes the same choices and goes the same way, and only remembers less of it. Times may differ by the jitter
// of client-go: who owns which field is worked out earlier, and apimachinery throws for that (managedfields'
// NewProbabilisticSkipNonAppliedManager).
func TestAWindowLeavesTheChoicesAlone(t *testing.T) {
	defer process.Enter(runLog(), process.Outside{})()
	scenario := long(fault.StaleCache(10*time.Second), fault.MissedStates(10*time.Second),
		fault.RacingRequeue(), fault.LostReply(), fault.Conflict())
	windowed := flags
	windowed.window = 2 * time.Minute
	for i := range 3 {
		seed := choice.Mix(3, i)
		whole, part := execute(t, scenario, choice.NewRandom(seed), flags), execute(t, scenario, choice.NewRandom(seed), windowed)
		a, b := whole.history, part.history
		if whole.verdict != nil || part.verdict != nil {
			t.Fatal(whole.verdict, part.verdict)
		}
		if a.Len() != b.Len() || a.Count(history.Handout) != b.Count(history.Handout) {
			t.Errorf("seed %d: %d events, and with a window %d", i, a.Len(), b.Len())
		}
		if len(b.Events) > b.Len()/2 {
			t.Errorf("seed %d: %d of %d events are kept", i, len(b.Events), b.Len())
		}
		if fmt.Sprint(whole.tape) != fmt.Sprint(part.tape) {
			t.Errorf("seed %d: the tape is %v, and with a window %v", i, whole.tape, part.tape)
		}
	}
}

// The goroutines of dead processes end before the run does, and the run still repeats.
func TestEverySeedReplaysWithAWindow(t *testing.T) {
	twice(t, everything, 20, Window(time.Minute))
}

func TestAWindowIsToldFromItsBeginning(t *testing.T) {
	broken := func(w *World) {
		w.Eventually("c0 is never 12", func(h *history.History) error {
			var cm corev1.ConfigMap
			if o, ok := h.Object("", "ConfigMap", "default", "c0"); ok && o.Into(&cm) == nil && cm.Data["k"] == "12" {
				return errors.New("it is 12")
			}
			return nil
		})
		long()(w)
	}
	f := Explore(t, broken, Runs(1), Strategy("random"), Window(2*time.Minute)).Failure
	if f == nil || f.Message != "it is 12" || f.History.Events[0].Index != 0 || f.History.Events[0].At < 20*time.Minute || len(f.Story.History) == 0 {
		t.Errorf("the failure is told as %+v", f)
	}
	backwards := func(w *World) {
		w.Always("the beginning is known", func(h *history.History) error { _ = h.Since(0); return nil })
		long()(w)
	}
	f = Explore(t, backwards, Runs(1), Strategy("random"), Window(2*time.Minute)).Failure
	if f == nil || !strings.Contains(f.Message, "event 0 is no longer kept: this run keeps its record from event") {
		t.Errorf("a property that looks back: %+v", f)
	}
}

// Two runs that part are found out, and the event is named, though the record is gone when the first run has ended.
func TestAWindowTellsRunsApart(t *testing.T) {
	n := 0
	f := Explore(t, func(w *World) {
		n++
		long()(w)
		if n%2 == 0 {
			w.Apply(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "other"}})
		}
		w.Sleep(10 * time.Minute)
	}, Runs(1), Verify(1), Strategy("random"), Window(2*time.Minute)).Failure
	if f == nil || f.Temper != "nondeterminism" || !strings.Contains(f.Message, "create ConfigMap default/other") {
		t.Errorf("two runs that differ: %+v", f)
	}
}

func TestWindowsThatCannotBe(t *testing.T) {
	for want, o := range map[string][]ExploreOption{
		"shorter than 1m0s":                {Window(time.Second), Strategy("random")},
		"-sim.strategy=portfolio plans":    {Window(time.Hour)},
		"-sim.strategy=exhaustive plans":   {Window(time.Hour), Strategy("exhaustive")},
		"sim.Window(-1h0m0s) is shorter t": {Window(-time.Hour), Strategy("random")},
	} {
		s := flags
		for _, o := range o {
			o(&s)
		}
		if err := s.check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
}
