package sim_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/fault"
	"github.com/wavetank/wavetank/sim/internal/simtest"
	"github.com/wavetank/wavetank/sim/property"
)

// doing starts a controller of the ConfigMaps in the role "source" that does what do says, once its
// object is read.
func doing(w *sim.World, o controller.Options,
	do func(context.Context, client.Client, *corev1.ConfigMap) (reconcile.Result, error)) {
	w.Start("p", func(mgr ctrl.Manager) error {
		return ctrl.NewControllerManagedBy(mgr).Named("doing").For(&corev1.ConfigMap{}, simtest.Role("source")).WithOptions(o).
			Complete(reconcile.Func(func(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
				var cm corev1.ConfigMap
				if err := mgr.GetClient().Get(ctx, req.NamespacedName, &cm); err != nil {
					return reconcile.Result{}, client.IgnoreNotFound(err)
				}
				return do(ctx, mgr.GetClient(), &cm)
			}))
	})
}

// packed is what goes wrong in each of these worlds, by the name of the property that says so.
var packed = map[string]func(*sim.World){
	"settles": func(w *sim.World) {
		w.Start("p", simtest.Restless)
		w.Apply(simtest.Source("a"))
	},
	"no hot loop": func(w *sim.World) {
		n := 0
		doing(w, controller.Options{},
			func(context.Context, client.Client, *corev1.ConfigMap) (reconcile.Result, error) {
				if n++; n > 200 {
					return reconcile.Result{}, nil
				}
				return reconcile.Result{RequeueAfter: time.Millisecond}, nil
			})
		w.Apply(simtest.Source("a"))
	},
	"apply is stable": func(w *sim.World) {
		doing(w, controller.Options{}, lowers)
		w.Apply(simtest.Source("a", "level", "High"))
		w.ApplyAgain()
	},
	"no panic": func(w *sim.World) {
		n := 0
		doing(w, controller.Options{},
			func(context.Context, client.Client, *corev1.ConfigMap) (reconcile.Result, error) {
				if n++; n == 1 {
					panic("no luck")
				}
				return reconcile.Result{}, nil
			})
		w.Apply(simtest.Source("a"))
	},
	"no stuck finalizer": func(w *sim.World) {
		a := simtest.ConfigMap("a")
		a.Finalizers = []string{"wavetank.example/forgotten"}
		w.Apply(a)
		w.Remove(a)
	},
	"cache untouched": func(w *sim.World) {
		doing(w, controller.Options{},
			func(ctx context.Context, c client.Client, cm *corev1.ConfigMap) (reconcile.Result, error) {
				var all corev1.ConfigMapList
				if err := c.List(ctx, &all, client.UnsafeDisableDeepCopy); err != nil {
					return reconcile.Result{}, err
				}
				for i := range all.Items {
					all.Items[i].Labels["seen"] = "yes"
				}
				return reconcile.Result{}, nil
			})
		w.Apply(simtest.Source("a"))
	},
}

// Default properties need no line of the scenario's, and each can be switched off by its name
// alone.
func TestTheDefaultPack(t *testing.T) {
	for name, world := range packed {
		broken := sim.Explore(t, func(w *sim.World) { world(w); w.Settle() }, sim.Runs(3), sim.Shrink(0))
		if f := broken.Failure; f == nil || f.Property != name && f.Property != "the world "+name {
			t.Errorf("%s: found %+v", name, f)
		}
		off := sim.Explore(t, func(w *sim.World) { w.Without(name); world(w); w.Settle() }, sim.Runs(3), sim.Shrink(0))
		if f := off.Failure; f != nil {
			t.Errorf("without %s: %s", name, f.Text())
		}
		for other := range packed {
			if other == name {
				continue
			}
			r := sim.Explore(t, func(w *sim.World) { w.Without(other); world(w); w.Settle() }, sim.Runs(1),
				sim.Shrink(0))
			if r.Failure == nil {
				t.Errorf("without %s, %s is not judged either", other, name)
			}
		}
	}
}

// What is healthy is no hot loop: a key that fails for ever from the first back-off of 5 ms on, and
// one that is asked for every 100 ms.
func TestHealthyPacesAreNoHotLoop(t *testing.T) {
	for _, priority := range []bool{true, false} {
		for name, pace := range map[string]func(n int) (reconcile.Result, error){
			"fails": func(int) (reconcile.Result, error) { return reconcile.Result{}, errors.New("out of luck") },
			"polls": func(n int) (reconcile.Result, error) {
				if n > 300 {
					return reconcile.Result{}, nil
				}
				return reconcile.Result{RequeueAfter: 100 * time.Millisecond}, nil
			},
		} {
			most := 0
			f := sim.Explore(t, func(w *sim.World) {
				n := 0
				doing(w, controller.Options{UsePriorityQueue: &priority},
					func(context.Context, client.Client, *corev1.ConfigMap) (reconcile.Result, error) {
						n++
						most = max(most, n)
						return pace(n)
					})
				w.Inject(fault.StaleCache(time.Second), fault.RacingRequeue(), fault.Crash("p"))
				w.Apply(simtest.Source("a"))
				w.Settle()
			}, sim.Runs(30), sim.For(0)).Failure
			if f != nil {
				t.Errorf("%s, priority queue %v: %s", name, priority, f.Text())
			}
			if most < 10 {
				t.Errorf("%s, priority queue %v: only %d reconciles", name, priority, most)
			}
		}
	}
}

// Without recovery a panic in a reconcile ends the process, and the kubelet starts it again; with
// it the incarnation goes on.
func TestPanicsEndTheProcessUnlessRecovered(t *testing.T) {
	for _, recovers := range []bool{true, false} {
		scenario := func(w *sim.World) {
			w.Without("no panic")
			panics := 0
			doing(w, controller.Options{RecoverPanic: &recovers},
				func(context.Context, client.Client, *corev1.ConfigMap) (reconcile.Result, error) {
					if panics++; panics <= 2 {
						panic("no luck")
					}
					return reconcile.Result{}, nil
				})
			w.Eventually("it lives as it would in production", func(h *history.History) error {
				var tale []string
				for _, e := range h.Events {
					switch e.Kind {
					case history.Start, history.Crash:
						tale = append(tale, string(e.Kind)+"@"+e.At.Truncate(time.Second).String())
					case history.Done:
						tale = append(tale, e.Outcome.String())
					}
				}
				want := "start@0s, panic: no luck, panic: no luck, ok"
				if !recovers {
					want = "start@0s, panic: no luck, crash@0s, start@10s, panic: no luck, crash@10s, start@30s, ok"
				}
				if got := strings.Join(tale, ", "); got != want {
					t.Errorf("recovers=%v: %s\nwant %s", recovers, got, want)
				}
				return nil
			})
			w.Apply(simtest.Source("a"))
			w.Settle()
		}
		if f := sim.Explore(t, scenario, sim.Runs(1), sim.Strategy("exhaustive"), sim.Verify(1)).Failure; f != nil {
			t.Errorf("recovers=%v: %s", recovers, f.Text())
		}
		// Deaths of this sort come out the same every time, whatever else happens.
		many := func(w *sim.World) {
			w.Without("no panic")
			panics := 0
			doing(w, controller.Options{RecoverPanic: &recovers, MaxConcurrentReconciles: 2},
				func(ctx context.Context, c client.Client, cm *corev1.ConfigMap) (reconcile.Result, error) {
					if panics++; panics%3 == 0 && panics < 12 {
						panic("no luck")
					}
					cm.Data = map[string]string{"done": "yes"}
					return reconcile.Result{}, c.Update(ctx, cm)
				})
			w.Inject(fault.Conflict(), fault.RacingRequeue())
			w.Apply(simtest.Source("a"), simtest.Source("b"))
			w.Settle()
		}
		if f := sim.Explore(t, many, sim.Runs(40), sim.For(0), sim.Verify(1)).Failure; f != nil {
			t.Errorf("recovers=%v: %s", recovers, f.Text())
		}
	}
}

// The undisturbed run is there under every strategy, from the first run on, and it is one without
// faults.
func TestUndisturbedRunIsThere(t *testing.T) {
	for _, strategy := range []string{"portfolio", "random", "rapid", "exhaustive"} {
		other := 0
		r := sim.Explore(t, func(w *sim.World) {
			calm := w.Undisturbed()
			if calm != w.History() {
				other++
				for _, e := range calm.Events {
					if e.Kind == history.Fault || e.Kind == history.Crash {
						t.Errorf("%s: the undisturbed run has %s", strategy, e.String())
					}
				}
			}
			w.Eventually("a crash leaves no trace", property.CrashSafe(calm))
			w.Start("p", simtest.Mirror)
			w.Inject(fault.Crash("p"))
			w.Apply(simtest.Source("a", "k", "v"))
			w.Settle()
		}, sim.Strategy(strategy), sim.Runs(10), sim.For(0))
		if r.Failure != nil {
			t.Errorf("%s: %s", strategy, r.Failure.Text())
		}
		if other < 10 {
			t.Errorf("%s: only %d of %d runs had another to compare with", strategy, other, r.Runs)
		}
	}
}
