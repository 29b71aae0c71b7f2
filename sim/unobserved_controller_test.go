package sim_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/fault"
)

// page is a request of an operator's own.
type page struct{ name string }

// stamp marks what it sees, by requests of its own type, and warms up.
func stamp(mgr ctrl.Manager) error {
	warm := true
	c, err := controller.NewTyped("stamp", mgr, controller.TypedOptions[page]{
		EnableWarmup: &warm,
		Reconciler: reconcile.TypedFunc[page](func(ctx context.Context, req page) (reconcile.Result, error) {
			cm := &corev1.ConfigMap{}
			if err := mgr.GetClient().Get(ctx, client.ObjectKey{Namespace: "default", Name: req.name},
				cm); err != nil || cm.Data["stamped"] != "" {
				return reconcile.Result{}, client.IgnoreNotFound(err)
			}
			cm.Data = map[string]string{"stamped": "yes"}
			return reconcile.Result{}, mgr.GetClient().Update(ctx, cm)
		}),
	})
	if err != nil {
		return err
	}
	add := func(o client.Object, q workqueue.TypedRateLimitingInterface[page]) { q.Add(page{o.GetName()}) }
	return c.Watch(source.TypedKind(mgr.GetCache(), &corev1.ConfigMap{}, handler.TypedFuncs[*corev1.ConfigMap, page]{
		CreateFunc: func(_ context.Context, e event.TypedCreateEvent[*corev1.ConfigMap],
			q workqueue.TypedRateLimitingInterface[page]) {
			add(e.Object, q)
		},
		UpdateFunc: func(_ context.Context, e event.TypedUpdateEvent[*corev1.ConfigMap],
			q workqueue.TypedRateLimitingInterface[page]) {
			add(e.ObjectNew, q)
		},
	}))
}

// A controller whose requests are of its own type works, and is said not to be observed.
func TestAControllerThatCannotBeObservedIsNamed(t *testing.T) {
	r := sim.Explore(t, func(w *sim.World) {
		w.Start("post", stamp)
		w.Apply(configMap("letter"))
		w.Settle()
		cm := configMap("letter")
		if err := w.Client().Get(w.Context(), client.ObjectKeyFromObject(cm), cm); err != nil ||
			cm.Data["stamped"] != "yes" {
			t.Errorf("the letter is not stamped: %v, %v", cm.Data, err)
		}
	}, sim.Runs(3), sim.Verify(1))
	if r.Failure != nil {
		t.Fatal(r.Err())
	}
	const want = `controller "stamp" (reconcile.TypedReconciler[`
	if all := strings.Join(r.Warnings, "\n"); strings.Count(all, want) != 1 ||
		!strings.Contains(all, `of process "post" is not observed`) {
		t.Errorf("the warnings are\n%s", all)
	}
}

// Two controllers with requests of their own watch one kind, and one begins later than the other.
func TestTypedControllersReplay(t *testing.T) {
	r := sim.Explore(t, func(w *sim.World) {
		for i := range 6 {
			w.Apply(configMap(fmt.Sprint("letter-", i)))
		}
		w.Start("post", func(mgr ctrl.Manager) error {
			if err := (&mirror{mgr.GetClient()}).SetupWithManager(mgr); err != nil {
				return err
			}
			return stamp(mgr)
		})
		w.Inject(fault.StaleCache(10*time.Second), fault.ServerError(), fault.Crash("post"))
		w.Settle()
	}, sim.Runs(100), sim.For(0), sim.Verify(1))
	if r.Failure != nil {
		t.Error(r.Failure.Text())
	}
}
