package sim_test

import (
	"context"
	"maps"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/fault"
)

// pair is a ConfigMap and a Secret of one name.
func pair(k string) []client.Object {
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "a"},
		StringData: map[string]string{"k": k}}
	return []client.Object{configMap("a", "k", k), secret}
}

// A server is behind for a kind by what happened to it, however short that lasted, and other kinds
// may be current.
func TestAServerMayBeBehindForOneKindOnly(t *testing.T) {
	seen := map[string]bool{}
	look := func(mgr ctrl.Manager) reconcile.Func {
		looked := false // what comes later passes through every state
		return func(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
			if looked {
				return reconcile.Result{}, nil
			}
			looked = true
			var cm corev1.ConfigMap
			var secret corev1.Secret
			if err := mgr.GetClient().Get(ctx, req.NamespacedName, &secret); err != nil {
				return reconcile.Result{}, client.IgnoreNotFound(err)
			}
			switch err := mgr.GetClient().Get(ctx, req.NamespacedName, &cm); {
			case client.IgnoreNotFound(err) != nil:
				return reconcile.Result{}, err
			case err != nil:
				seen["ConfigMap gone, Secret "+string(secret.Data["k"])] = true
			default:
				seen["ConfigMap "+cm.Data["k"]+", Secret "+string(secret.Data["k"])] = true
			}
			return reconcile.Result{}, nil
		}
	}
	r := sim.Explore(t, func(w *sim.World) {
		w.Apply(pair("first")...)
		w.Sleep(10 * time.Second)
		w.Apply(pair("second")...)
		w.Remove(configMap("a"))
		w.Apply(pair("third")...)
		w.Sleep(10 * time.Second)
		w.Inject(fault.StaleServer(time.Minute))
		w.Start("late", func(mgr ctrl.Manager) error {
			return ctrl.NewControllerManagedBy(mgr).For(&corev1.ConfigMap{}).
				Watches(&corev1.Secret{}, &handler.EnqueueRequestForObject{}).Complete(look(mgr))
		}, sim.ListThenWatch())
		w.Settle()
	}, sim.Strategy("random"), sim.Runs(400), sim.For(0), sim.Verify(5))
	if r.Err() != nil {
		t.Fatal(r.Err())
	}
	for _, want := range []string{"ConfigMap second, Secret third", "ConfigMap gone, Secret third",
		"ConfigMap third, Secret second",
		"ConfigMap first, Secret third", "ConfigMap third, Secret first"} {
		if !seen[want] {
			t.Errorf("no run saw %q; seen: %q", want, slices.Sorted(maps.Keys(seen)))
		}
	}
}
