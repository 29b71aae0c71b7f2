package sim_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/fault"
	"github.com/wavetank/wavetank/sim/internal/simtest"
	"github.com/wavetank/wavetank/sim/result"
)

// careless has a manager run something that takes it for granted that an object can be read.
func careless(faults ...fault.Fault) func(*sim.World) {
	return func(w *sim.World) {
		w.Start("careless", func(mgr ctrl.Manager) error {
			return mgr.Add(manager.RunnableFunc(func(ctx context.Context) error {
				for ctx.Err() == nil {
					var cm corev1.ConfigMap
					if err := mgr.GetAPIReader().Get(ctx, types.NamespacedName{Namespace: "default", Name: "a"},
						&cm); err != nil {
						panic("it must be there")
					}
					select {
					case <-ctx.Done():
					case <-time.After(time.Minute):
					}
				}
				return nil
			}))
		})
		w.Inject(faults...)
		w.Sleep(10 * time.Minute)
		w.Settle()
	}
}

// TestPanicUnderAFaultIsAFinding: it has a seed and a story, though no reconcile panicked.
func TestPanicUnderAFaultIsAFinding(t *testing.T) {
	there := func(w *sim.World) {
		w.Apply(simtest.ConfigMap("a"))
		careless(fault.ServerError())(w)
	}
	f := sim.Explore(t, there, sim.Runs(200), sim.For(0)).Failure
	if f == nil || f.Kind != result.Panic ||
		!strings.HasPrefix(f.Message, `process "careless" panicked outside a reconcile: it must be there`) ||
		!strings.Contains(f.Message, "panics_test.go:") {
		t.Fatalf("got %+v", f)
	}
	if f.Flaky || f.Story == nil || len(f.Story.Choices) == 0 ||
		!strings.HasPrefix(f.Story.Headline(), "panic: process ") {
		t.Errorf("its story is %+v", f.Story)
	}
}

// TestLaterSetupFailureIsAFinding: its first incarnation proves that it can be called,
// so what fails after a crash or a stop is the operator, and has a story. One that fails once,
// under a fault, is started again as by the kubelet.
func TestLaterSetupFailureIsAFinding(t *testing.T) {
	failing := func(lives func(int) bool, disturb func(*sim.World)) result.Report {
		return sim.Explore(t, func(w *sim.World) {
			n := 0
			w.Start("op", func(mgr ctrl.Manager) error {
				if n++; lives(n) {
					return errors.New("no such flavour")
				}
				return simtest.Counter{Workers: 1}.Setup(mgr)
			})
			disturb(w)
			w.Apply(simtest.ConfigMap("total", "n", "0"), simtest.Ticket("a"),
				simtest.Ticket("b"))
			w.Settle()
		}, sim.Runs(20), sim.For(0))
	}
	stop := func(w *sim.World) { w.Stop("op"); w.Sleep(time.Minute) }
	crash := func(w *sim.World) { w.Inject(fault.Crash("op")) }
	for name, disturb := range map[string]func(*sim.World){"stopped": stop, "under a fault": crash} {
		f := failing(func(n int) bool { return n > 1 }, disturb).Failure
		want := regexp.MustCompile(`the setup function of process "op" failed in incarnation \d+: no such flavour`)
		if f == nil || f.Kind != result.Settles || f.Story == nil || f.Flaky || !want.MatchString(f.Message) {
			t.Errorf("%s: got %+v", name, f)
		}
	}
	if f := failing(func(n int) bool { return n == 2 }, crash).Failure; f != nil {
		t.Errorf("a program that recovers breaks: %s", f.Text())
	}
}

// A predicate that panics ends its program, as in production, and is reported as a finding. It does
// not end the test binary.
func TestPanicInAPredicateIsAFinding(t *testing.T) {
	r := sim.Explore(t, func(w *sim.World) {
		w.Start("p", func(mgr ctrl.Manager) error {
			return ctrl.NewControllerManagedBy(mgr).Named("p").For(&corev1.ConfigMap{},
				builder.WithPredicates(predicate.NewPredicateFuncs(func(o client.Object) bool {
					return o.GetAnnotations()["wavetank.example/touched"] == "" || o.GetLabels()["x"][0] == 'y'
				}))).Complete(reconcile.Func(simtest.Nothing))
		})
		w.Start("mirror", simtest.Mirror)
		w.Inject(fault.Conflict())
		w.Apply(simtest.Source("src-a", "k", "v"))
		w.Settle()
		w.Apply(simtest.Source("src-a", "k", "w"))
		w.Settle()
	}, sim.Runs(100), sim.For(0))
	if r.Failure == nil || r.Failure.Kind != result.Panic || !strings.Contains(r.Failure.Message,
		`process "p" panicked outside a reconcile: runtime error: index out of range`) || r.Failure.Flaky {
		t.Errorf("got %+v", r.Failure)
	}
}

// The message of a reconcile that panics has the line of the operator that did.
func TestPanicOfAReconcileShowsItsLine(t *testing.T) {
	f := sim.Explore(t, func(w *sim.World) {
		w.Start("op", func(mgr ctrl.Manager) error {
			return ctrl.NewControllerManagedBy(mgr).For(&corev1.ConfigMap{}).Complete(reconcile.Func(
				func(context.Context, reconcile.Request) (reconcile.Result, error) {
					var missing *corev1.ConfigMap
					missing.Name = "a"
					return reconcile.Result{}, nil
				}))
		})
		w.Apply(simtest.ConfigMap("a"))
		w.Settle()
	}, sim.Runs(1), sim.For(0)).Failure
	if f == nil || f.Property != "no panic" {
		t.Fatalf("got %+v", f)
	}
	_, file, line, _ := runtime.Caller(0)
	at := fmt.Sprintf("%s:%d", filepath.Base(file), line-10)
	if !strings.Contains(f.Message, at) {
		t.Errorf("%s is missing: %s", at, f.Message)
	}
}
