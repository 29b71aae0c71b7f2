package property_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/fault"
	"github.com/wavetank/wavetank/sim/internal/simtest"
)

// packed are worlds that violate one default property each, by its name.
var packed = map[string]func(*sim.World){
	"settles": func(w *sim.World) {
		w.Start("p", simtest.Restless)
		w.Apply(simtest.Source("a"))
	},
	"no hot loop": func(w *sim.World) {
		n := 0
		w.Start("p", simtest.Reconciles(func(
			context.Context, client.Client, *corev1.ConfigMap,
		) (reconcile.Result, error) {
			if n++; n > 200 {
				return reconcile.Result{}, nil
			}
			return reconcile.Result{RequeueAfter: time.Millisecond}, nil
		}))
		w.Apply(simtest.Source("a"))
	},
	"apply is stable": func(w *sim.World) {
		w.Start("p", simtest.Reconciles(func(ctx context.Context, c client.Client,
			cm *corev1.ConfigMap) (reconcile.Result, error) {
			cm.Data["level"] = strings.ToLower(cm.Data["level"])
			return reconcile.Result{}, c.Update(ctx, cm)
		}))
		w.Apply(simtest.Source("a", "level", "High"))
		w.ApplyAgain()
	},
	"no panic": func(w *sim.World) {
		n := 0
		w.Start("p", simtest.Reconciles(func(
			context.Context, client.Client, *corev1.ConfigMap,
		) (reconcile.Result, error) {
			if n++; n == 1 {
				panic("no luck")
			}
			return reconcile.Result{}, nil
		}))
		w.Apply(simtest.Source("a"))
	},
	"no stuck finalizer": func(w *sim.World) {
		a := simtest.ConfigMap("a")
		a.Finalizers = []string{"wavetank.example/forgotten"}
		w.Apply(a)
		w.Remove(a)
	},
	"cache untouched": func(w *sim.World) {
		w.Start("p", simtest.Reconciles(func(
			ctx context.Context, c client.Client, cm *corev1.ConfigMap,
		) (reconcile.Result, error) {
			var all corev1.ConfigMapList
			if err := c.List(ctx, &all, client.UnsafeDisableDeepCopy); err != nil {
				return reconcile.Result{}, err
			}
			for i := range all.Items {
				all.Items[i].Labels["seen"] = "yes"
			}
			return reconcile.Result{}, nil
		}))
		w.Apply(simtest.Source("a"))
	},
}

// Default properties are judged without being declared. Each can be switched off by its name, which
// switches off no other.
func TestDefaultPropertiesAreSwitchedOffByName(t *testing.T) {
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

// A key that fails at each attempt, from the first back-off of 5 ms on, is no hot loop, nor is one
// that is requeued every 100 ms.
func TestNoHotLoopAllowsBackOffAndPolling(t *testing.T) {
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
				w.Start("p", simtest.Reconciles(func(
					context.Context, client.Client, *corev1.ConfigMap,
				) (reconcile.Result, error) {
					n++
					most = max(most, n)
					return pace(n)
				}, controller.Options{UsePriorityQueue: &priority}))
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
