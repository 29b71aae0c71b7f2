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
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/fault"
	"github.com/wavetank/wavetank/sim/internal/simtest"
)

// An operator that is told which namespaces to watch has a cache for each, which controller-runtime
// takes as they come out of a map. It replays all the same, what it lists is in order, and nobody
// is said to lag behind who never watches an object.
func TestSeveralNamespacesAreWatched(t *testing.T) {
	names, every := []string{"d", "b", "a", "c"}, time.Minute
	options := cache.Options{DefaultNamespaces: map[string]cache.Config{}, SyncPeriod: &every}
	for _, n := range names {
		options.DefaultNamespaces[n] = cache.Config{}
	}
	story := func(w *sim.World, faults ...fault.Fault) {
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
			cm, s := simtest.ConfigMap("one"), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: n, Name: "one"}}
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
	sim.Check(t, func(w *sim.World) { story(w, fault.DroppedWatch(), fault.Relist(), fault.Crash("marker")) },
		sim.Runs(40), sim.Verify(1), sim.For(0))
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

// The goroutines of caches of several namespaces wait for the first objects, whatever becomes of
// their process. An incarnation that ends before these have come leaves none behind. A cache of the
// program's own begins its informers in map order, so no run is made twice.
func TestCachesOfNamespacesThatNeverSyncEnd(t *testing.T) {
	options := cache.Options{DefaultNamespaces: map[string]cache.Config{"default": {}, "other": {}}}
	for name, from := range map[string]func(mgr ctrl.Manager) (cache.Cache, error){
		"the manager's": func(mgr ctrl.Manager) (cache.Cache, error) { return mgr.GetCache(), nil },
		"the program's own": func(mgr ctrl.Manager) (cache.Cache, error) {
			o := options
			o.Scheme, o.Mapper = mgr.GetScheme(), mgr.GetRESTMapper()
			own, err := cache.New(mgr.GetConfig(), o)
			if err != nil {
				return nil, err
			}
			if _, err := own.GetInformer(context.Background(), &corev1.Secret{},
				cache.BlockUntilSynced(false)); err != nil {
				return nil, err
			}
			return own, mgr.Add(own)
		},
	} {
		t.Run(name, func(t *testing.T) {
			simtest.Holds(t, func(w *sim.World) {
				w.Start("op", func(mgr ctrl.Manager) error {
					from, err := from(mgr)
					if err != nil {
						return err
					}
					return readSecrets(mgr, from)
				}, sim.Options(ctrl.Options{Cache: options}), sim.ListThenWatch())
				w.Inject(fault.Crash("op"), fault.Restart("op"), fault.Forbidden(3*time.Minute),
					fault.Unreachable(3*time.Minute))
				w.Apply(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "other"}}, simtest.ConfigMap("a"))
				w.Settle()
			}, sim.Runs(300), sim.For(0), sim.Verify(0), sim.Stories(t.TempDir()))
		})
	}
}

// readSecrets reconciles what a cache has, and reads a kind that nothing watches: its informers
// begin with that.
func readSecrets(mgr ctrl.Manager, from cache.Cache) error {
	return ctrl.NewControllerManagedBy(mgr).Named("op").
		WatchesRawSource(source.Kind(from, client.Object(&corev1.ConfigMap{}), &handler.EnqueueRequestForObject{})).
		WatchesRawSource(source.Kind(from, client.Object(&corev1.Service{}), &handler.EnqueueRequestForObject{})).
		Complete(reconcile.Func(func(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
			return reconcile.Result{}, client.IgnoreNotFound(from.Get(ctx, req.NamespacedName, &corev1.Secret{}))
		}))
}
