package sim_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/history"
)

// An operator that is told which namespaces to watch has a cache for each, which controller-runtime takes as they come out of a map. It
// replays all the same, what it lists is in order, and nobody is said to lag behind who never watches an object.
func TestSeveralNamespacesAreWatched(t *testing.T) {
	names, every := []string{"d", "b", "a", "c"}, time.Minute
	options := cache.Options{DefaultNamespaces: map[string]cache.Config{}, SyncPeriod: &every}
	for _, n := range names {
		options.DefaultNamespaces[n] = cache.Config{}
	}
	story := func(w *sim.World, faults ...sim.Fault) {
		for _, n := range names {
			w.Apply(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: n}})
		}
		w.Start("marker", func(mgr ctrl.Manager) error {
			return ctrl.NewControllerManagedBy(mgr).Named("marker").For(&corev1.ConfigMap{}).
				Complete(reconcile.Func(func(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
					var cm corev1.ConfigMap
					if err := mgr.GetClient().Get(ctx, req.NamespacedName, &cm); err != nil {
						return reconcile.Result{}, client.IgnoreNotFound(err)
					}
					var all corev1.ConfigMapList
					var some corev1.SecretList // nobody watches them before
					if err := mgr.GetClient().List(ctx, &some, client.Limit(3)); err != nil {
						return reconcile.Result{}, err
					}
					if err := mgr.GetClient().List(ctx, &all); err != nil {
						return reconcile.Result{}, err
					}
					var seen []string
					for _, cm := range all.Items {
						seen = append(seen, cm.Namespace)
					}
					if m := fmt.Sprint(strings.Join(seen, "."), ".", len(some.Items)); cm.Labels["seen"] != m {
						metav1.SetMetaDataLabel(&cm.ObjectMeta, "seen", m)
						return reconcile.Result{}, mgr.GetClient().Update(ctx, &cm)
					}
					return reconcile.Result{}, nil
				}))
		}, sim.Options(ctrl.Options{Cache: options}))
		w.Inject(faults...)
		for _, n := range names {
			cm, s := configMap("one"), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: n, Name: "one"}}
			cm.Namespace = n
			w.Apply(cm, s)
		}
		w.Sleep(5 * time.Minute)
		w.Settle()
		w.Always("lists are in order", func(h *history.History) error {
			o, _ := h.Object("", "ConfigMap", "c", "one")
			var cm corev1.ConfigMap
			if o.Into(&cm) != nil || cm.Labels["seen"] != "a.b.c.d.3" {
				return fmt.Errorf("it has seen %q", cm.Labels["seen"])
			}
			return nil
		})
	}
	sim.Check(t, func(w *sim.World) { story(w, sim.DroppedWatch(), sim.Relist(), sim.Crash("marker")) }, sim.Runs(40), sim.Verify(1), sim.For(0))
	sim.Check(t, func(w *sim.World) {
		story(w)
		w.Always("nothing lags", func(h *history.History) error {
			for _, e := range h.Events {
				for _, seen := range e.Seen {
					if seen.Cache == 0 && e.At > time.Second {
						return fmt.Errorf("%s: %+v", e.Reconcile, seen)
					}
				}
			}
			return nil
		})
	}, sim.Runs(5))
}
