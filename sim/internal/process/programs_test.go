package process_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/fault"
	"github.com/wavetank/wavetank/sim/internal/simtest"
)

// attempt is what a reconcile does: it may write the object, so that an event makes the key due
// again meanwhile; it is busy for some time, in which a timer may fire; and it returns.
type attempt struct {
	write bool
	busy  time.Duration
	after time.Duration
	err   error
}

// attempts follow a plan. What comes after it does nothing.
type attempts struct {
	plan []attempt
	n    int
}

func (a *attempts) reconcile(ctx context.Context, c client.Client, cm *corev1.ConfigMap) (ctrl.Result, error) {
	if a.n == len(a.plan) {
		return ctrl.Result{}, nil
	}
	next := a.plan[a.n]
	a.n++
	if next.write {
		cm.Data = map[string]string{"n": fmt.Sprint(a.n)}
		if err := c.Update(ctx, cm); err != nil {
			return ctrl.Result{}, err
		}
	}
	time.Sleep(next.busy)
	return ctrl.Result{RequeueAfter: next.after}, next.err
}

// A timer of the work queue fires while its key is being reconciled because of an event. The world
// settles, with both kinds of queue, and all that was planned has happened.
func TestTimerFiresDuringAReconcile(t *testing.T) {
	failed := errors.New("not yet")
	plans := map[string][]attempt{
		"a back-off": {{write: true, err: failed}, {busy: time.Second, err: failed}, {err: failed}},
		"a back-off, then a requeue": {
			{write: true, err: failed},
			{write: true, busy: 10 * time.Millisecond, after: 15 * time.Second},
			{busy: 4 * time.Millisecond, after: 15 * time.Second},
		},
		"at the instant of the end": {{write: true, err: failed}, {busy: 5 * time.Millisecond, err: failed},
			{err: failed}},
		"a requeue": {{write: true, after: time.Second}, {busy: 2 * time.Second, after: time.Minute},
			{after: time.Second}},
	}
	for name, plan := range plans {
		for _, priority := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/priority=%v", name, priority), func(t *testing.T) {
				var r *attempts
				report := sim.Explore(t, func(w *sim.World) {
					o := ctrl.Options{}
					o.Controller.UsePriorityQueue = &priority
					w.Start("op", func(mgr ctrl.Manager) error {
						r = &attempts{plan: plan}
						return simtest.Reconciles(r.reconcile)(mgr)
					}, sim.Options(o))
					w.Apply(simtest.ConfigMap("a"))
					w.Settle()
				}, sim.Runs(1))
				if err := report.Err(); err != nil {
					t.Error(err)
				} else if r.n != len(plan) {
					t.Errorf("the world has settled after %d of %d planned reconciles", r.n, len(plan))
				}
			})
		}
	}
}

// mailsSent is a metric as operators have them: a package variable.
var mailsSent = prometheus.NewCounter(prometheus.CounterOpts{Name: "mails_sent_total"})

// atStart is the registry before any test, which may leave that of an incarnation.
var atStart = metrics.Registry

// A program that registers metrics in its setup function starts again after a crash, twice in one
// world, and in the next run. It sees its own metrics and those of controller-runtime.
func TestIncarnationRegistersItsMetrics(t *testing.T) {
	most := 0
	simtest.Holds(t, func(w *sim.World) {
		setup := func(mgr ctrl.Manager) error {
			metrics.Registry.MustRegister(mailsSent)
			families, err := metrics.Registry.Gather()
			if err != nil {
				return err
			}
			seen := map[string]bool{}
			for _, f := range families {
				seen[f.GetName()] = true
			}
			if !seen["mails_sent_total"] || !seen["certwatcher_read_certificate_total"] {
				t.Errorf("the registry has %v", seen)
			}
			return simtest.Counter{}.Setup(mgr)
		}
		w.Start("one", setup)
		w.Start("two", setup)
		w.Inject(fault.Crash("one"), fault.Crash("two"))
		w.Apply(simtest.ConfigMap("total", "n", "0"), simtest.Ticket("a"), simtest.Ticket("b"))
		w.Settle()
		h := w.History()
		most = max(most, h.Count(history.Start)+h.Count(history.Stop)+h.Count(history.Crash))
	}, sim.Strategy("swarm"), sim.Runs(10), sim.For(0))
	if most < 6 {
		t.Errorf("%d starts and ends at most, so the test shows little", most)
	}
	if metrics.Registry != atStart {
		t.Error("the registry is not the one of the test process")
	}
}

// marker labels each ConfigMap with the resource version of the Secret of its name, of which it
// watches the metadata alone.
type marker struct{ client.Client }

func (m marker) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	secret := &metav1.PartialObjectMetadata{}
	secret.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Secret"))
	if err := m.Get(ctx, req.NamespacedName, secret); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	cm := &corev1.ConfigMap{}
	if err := m.Get(ctx, req.NamespacedName, cm); err != nil || cm.Labels["of"] == secret.ResourceVersion {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	cm.Labels = map[string]string{"of": secret.ResourceVersion}
	return reconcile.Result{}, m.Update(ctx, cm)
}

// An informer of metadata filters its events in a goroutine, which never ends if it holds an event
// when its watch is stopped. So it must hold none when a process ends.
func TestMetadataInformersEnd(t *testing.T) {
	sim.Check(t, func(w *sim.World) {
		w.Start("marker", func(mgr ctrl.Manager) error {
			return ctrl.NewControllerManagedBy(mgr).Named("marker").For(&corev1.ConfigMap{}).
				Watches(&corev1.Secret{}, &handler.EnqueueRequestForObject{},
					builder.OnlyMetadata).Complete(marker{mgr.GetClient()})
		})
		w.Inject(fault.StaleCache(10*time.Second), fault.DroppedWatch(), fault.MissedStates(10*time.Second),
			fault.Relist(), fault.Expired(), fault.StaleServer(time.Minute),
			fault.Crash("marker"), fault.Restart("marker"), fault.Pause("marker",
				10*time.Second), fault.LostReply(), fault.ServerError(), fault.Unreachable(time.Minute))
		w.Eventually("every ConfigMap has its label", func(h *history.History) error {
			for _, name := range []string{"a", "b"} {
				secret, _ := h.Object("", "Secret", "default", name)
				cm, _ := h.Object("", "ConfigMap", "default", name)
				var o corev1.ConfigMap
				if err := cm.Into(&o); err != nil || o.Labels["of"] != fmt.Sprint(secret.Revision) {
					return fmt.Errorf("%s has %v, and its Secret %d: %v", name, o.Labels, secret.Revision, err)
				}
			}
			return nil
		})
		for i := range 3 {
			for _, name := range []string{"a", "b"} {
				w.Apply(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name,
					Labels: map[string]string{"n": fmt.Sprint(i)}}})
				w.Apply(simtest.ConfigMap(name))
			}
			w.Sleep(2 * time.Second)
		}
		w.Settle()
	}, sim.Runs(300), sim.For(0))
}

// An operator of several namespaces has a cache for each, which controller-runtime keeps in a map.
// Its runs replay, its lists are in order, and a cache without the object is not reported as
// lagging.
func TestNamespacesHaveCachesInOrder(t *testing.T) {
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
					var some corev1.SecretList // not watched before
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

// A controller's caches sync although nothing else happens in the world, so it reconciles the first
// object at once.
func TestCachesSyncInAQuietWorld(t *testing.T) {
	sim.Check(t, func(w *sim.World) {
		w.Start("mirror", simtest.Mirror)
		w.Sleep(time.Hour)
		w.Apply(simtest.Source("src-a", "k", "1"))
		w.Settle()
		for _, e := range w.History().Events {
			if e.Kind == history.Dequeue {
				if late := e.At - time.Hour; late > 2*time.Second {
					panic(fmt.Sprintf("the first reconcile came %v after the hour", late))
				}
				return
			}
			if e.Kind == history.Stop {
				panic("the manager gave up: " + e.Note)
			}
		}
		panic("nothing was reconciled")
	}, sim.Runs(5))
}

// Two workers may read the same total before either has written it.
func TestTwoWorkersLoseAnUpdate(t *testing.T) {
	scenario := func(locked bool) func(*sim.World) {
		return func(w *sim.World) {
			w.Apply(simtest.ConfigMap("total", "n", "0"))
			w.Start("counter", func(mgr ctrl.Manager) error {
				return simtest.Counter{Workers: 2, Locked: locked}.Setup(mgr)
			})
			w.Eventually("both tickets are counted", func(h *history.History) error {
				if d, _ := simtest.Data(h, "total"); d["n"] != "2" {
					return fmt.Errorf("two tickets were counted as %s", d["n"])
				}
				return nil
			})
			w.Apply(simtest.Ticket("a"), simtest.Ticket("b"))
			w.Settle()
		}
	}
	simtest.Violates(t, "both tickets are counted", scenario(false))
	sim.Check(t, scenario(true))
}
