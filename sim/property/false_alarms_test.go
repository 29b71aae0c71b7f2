package property_test

import (
	"context"
	"fmt"
	"net/http"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/cluster"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/fault"
	"github.com/wavetank/wavetank/sim/internal/simtest"
	"github.com/wavetank/wavetank/sim/property"
)

// An operator may have a kind of its own that is called Event. Its objects are like all others.
func TestKindMayBeCalledEvent(t *testing.T) {
	yes := true
	crd := &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: "events.calendar.example"},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: "calendar.example", Scope: apiextensionsv1.NamespaceScoped,
			Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: "events", Singular: "event", Kind: "Event",
				ListKind: "EventList"},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{Name: "v1", Served: true, Storage: true,
				Schema: &apiextensionsv1.CustomResourceValidation{
					OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Type: "object", XPreserveUnknownFields: &yes}}}}}}
	party := func(name string) *unstructured.Unstructured {
		u := &unstructured.Unstructured{}
		u.SetGroupVersionKind(schema.GroupVersionKind{Group: "calendar.example", Version: "v1", Kind: "Event"})
		u.SetNamespace("default")
		u.SetName(name)
		return u
	}
	simtest.Holds(t, func(w *sim.World) {
		w.Install(crd)
		w.Start("calendar", func(mgr ctrl.Manager) error {
			return ctrl.NewControllerManagedBy(mgr).Named("calendar").For(party("")).
				Complete(reconcile.Func(func(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
					return reconcile.Result{}, client.IgnoreAlreadyExists(mgr.GetClient().Create(ctx,
						simtest.ConfigMap(req.Name)))
				}))
		})
		w.Always("a settled world stays as it is", property.IdempotentAtRest())
		w.Always("the world settles within a minute", property.Settles(time.Minute))
		w.Apply(party("a"))
		w.Settle()
		w.Sleep(time.Hour)
		w.Apply(party("b"))
		w.Settle()
	}, sim.Runs(3), sim.For(0))
}

// A program may elect its leader with a lock that it has made itself.
func TestSettleAllowsAnOwnLock(t *testing.T) {
	simtest.Holds(t, func(w *sim.World) {
		for _, name := range []string{"one", "two"} {
			w.Run(name, func(ctx context.Context, cfg *rest.Config) error {
				set, err := kubernetes.NewForConfig(cfg)
				if err != nil {
					return err
				}
				lock, err := resourcelock.New(resourcelock.LeasesResourceLock, "default", "mirror", set.CoreV1(),
					set.CoordinationV1(),
					resourcelock.ResourceLockConfig{Identity: "pod-" + name})
				if err != nil {
					return err
				}
				mgr, err := sim.NewManager(cfg,
					ctrl.Options{LeaderElection: true, LeaderElectionResourceLockInterface: lock})
				if err != nil {
					return err
				}
				if err := simtest.Mirror(mgr); err != nil {
					return err
				}
				return mgr.Start(ctx)
			})
		}
		w.Apply(simtest.Source("src-a", "k", "1"))
		w.Settle()
	}, sim.Runs(1), sim.For(0))
}

// A program has observed what a list of another cluster returned.
func TestNoLostUpdateKnowsOtherClusters(t *testing.T) {
	simtest.Holds(t, func(w *sim.World) {
		prod := w.Cluster("prod.example")
		prod.Apply(simtest.ConfigMap("a", "k", "old"))
		w.Always("no controller overwrites a change that it has not observed", property.NoLostUpdate())
		w.Start("painter", func(mgr ctrl.Manager) error {
			config := &rest.Config{Host: "http://prod.example", Transport: sim.HTTPClient(mgr).Transport, QPS: -1}
			away, err := cluster.New(config, func(o *cluster.Options) { o.Scheme = mgr.GetScheme() })
			if err != nil {
				return err
			}
			if err := mgr.Add(away); err != nil {
				return err
			}
			return ctrl.NewControllerManagedBy(mgr).Named("painter").
				WatchesRawSource(source.Kind(away.GetCache(), &corev1.ConfigMap{},
					&handler.TypedEnqueueRequestForObject[*corev1.ConfigMap]{})).
				Complete(reconcile.Func(func(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
					var cm corev1.ConfigMap
					if err := away.GetClient().Get(ctx, req.NamespacedName, &cm); err != nil || cm.Data["k"] != "old" {
						return reconcile.Result{}, client.IgnoreNotFound(err)
					}
					was := cm.DeepCopy()
					cm.Data["k"] = "new"
					return reconcile.Result{}, away.GetClient().Patch(ctx, &cm, client.MergeFrom(was))
				}))
		})
		w.Settle()
	}, sim.Runs(3), sim.For(0))
}

func TestNoOrphansKeepsClustersApart(t *testing.T) {
	simtest.Holds(t, func(w *sim.World) {
		prod := w.Cluster("prod.example")
		w.Eventually("no orphans", property.NoOrphans(time.Second))
		for i := range 5 {
			name := fmt.Sprint("owner-", i)
			w.Apply(simtest.ConfigMap(name))
			prod.Apply(simtest.ConfigMap(name))
			var owner corev1.ConfigMap
			if err := w.Client().Get(w.Context(), client.ObjectKey{Namespace: "default", Name: name},
				&owner); err != nil {
				panic(err)
			}
			child := simtest.ConfigMap("child-" + name)
			child.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: name,
				UID: owner.UID}}
			w.Apply(child)
		}
		w.Settle()
		for i := range 5 {
			prod.Remove(simtest.ConfigMap(fmt.Sprint("owner-", i)))
		}
		w.Sleep(time.Minute)
		w.Settle()
	}, sim.Runs(5), sim.For(0))
}

func TestNoStarvationAllowsAStandby(t *testing.T) {
	warm := true
	o := ctrl.Options{LeaderElection: true, LeaderElectionID: "mirror", LeaderElectionNamespace: "default"}
	o.Controller.EnableWarmup = &warm
	simtest.Holds(t, func(w *sim.World) {
		for _, name := range []string{"one", "two"} {
			w.Start(name, simtest.Mirror,
				sim.Options(o))
		}
		w.Always("no key waits for a worker for a minute", property.NoStarvation(time.Minute))
		w.Apply(simtest.Source("src-a", "k", "1"))
		w.Sleep(5 * time.Minute)
		w.Inject(fault.Crash("one"))
		w.Apply(simtest.Source("src-a", "k", "2"), simtest.Source("src-b", "k", "2"))
		w.Settle()
	}, sim.Runs(60), sim.For(0))
}

func TestNoStarvationAllowsAPause(t *testing.T) {
	simtest.Holds(t, func(w *sim.World) {
		w.Start("p", simtest.Mirror)
		w.Inject(fault.Pause("p", 2*time.Minute))
		w.Always("no key waits for a worker for 30 s", property.NoStarvation(30*time.Second))
		w.Apply(simtest.Source("src-a", "k", "1"), simtest.Source("src-b", "k", "1"))
		w.Settle()
	}, sim.Runs(100), sim.For(0))
}

// lookout asks an outside host every minute for the state of each ConfigMap, and writes it down.
type lookout struct {
	client.Client
	outside *http.Client
}

func (l *lookout) setup(mgr ctrl.Manager) error {
	look := make(chan event.GenericEvent)
	if err := mgr.Add(manager.RunnableFunc(func(ctx context.Context) error {
		for {
			select {
			case <-ctx.Done():
				return nil
			case <-time.After(time.Minute):
				look <- event.GenericEvent{Object: simtest.ConfigMap("a")}
			}
		}
	})); err != nil {
		return err
	}
	return ctrl.NewControllerManagedBy(mgr).For(&corev1.ConfigMap{}).
		WatchesRawSource(source.Channel(look, &handler.EnqueueRequestForObject{})).Complete(l)
}

func (l *lookout) Reconcile(ctx context.Context, req ctrl.Request) (reconcile.Result, error) {
	var cm corev1.ConfigMap
	if err := l.Get(ctx, req.NamespacedName, &cm); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://base.example/"+req.Name, nil)
	if err != nil {
		return ctrl.Result{}, err
	}
	resp, err := l.outside.Do(r)
	if err != nil {
		return ctrl.Result{}, err
	}
	if err := resp.Body.Close(); err != nil || cm.Data["state"] == resp.Status {
		return ctrl.Result{}, err
	}
	cm.Data = map[string]string{"state": resp.Status}
	return ctrl.Result{}, l.Update(ctx, &cm)
}

// A change of an outside model disturbs a settled world, once the operator sees it.
func TestIdempotentAtRestAllowsOutsideChanges(t *testing.T) {
	simtest.Holds(t, func(w *sim.World) {
		ready := true
		w.External("base.example", http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
			if !ready {
				rw.WriteHeader(http.StatusNotFound)
			}
		}))
		w.Start("op", func(mgr ctrl.Manager) error {
			return (&lookout{mgr.GetClient(), sim.HTTPClient(mgr)}).setup(mgr)
		})
		w.Always("a settled world stays as it is", property.IdempotentAtRest())
		w.Apply(simtest.ConfigMap("a"))
		w.Settle()
		ready = false
		w.Sleep(3 * time.Minute)
		w.Settle()
	}, sim.Runs(5), sim.For(0))
}

// An operator polls a cloud that deletes slowly. A finalizer that waits for ten minutes is not
// stuck. One that waits for a deletion that never ends is stuck.
func TestNoStuckFinalizerWaitsForTheCloud(t *testing.T) {
	simtest.Holds(t, deletedInACloud(10*time.Minute), sim.Runs(1), sim.For(0))
	simtest.Violates(t, "no stuck finalizer", deletedInACloud(1<<62), sim.Runs(1), sim.For(0))
}

// deletedInACloud is the world of an operator that polls a cloud while its object is deleted.
func deletedInACloud(takes time.Duration) func(*sim.World) {
	return func(w *sim.World) {
		var asked time.Time
		w.External("cloud.example", http.HandlerFunc(func(rw http.ResponseWriter, req *http.Request) {
			if req.Method == http.MethodDelete && asked.IsZero() {
				asked = time.Now()
			}
			if !asked.IsZero() && time.Since(asked) > takes {
				rw.WriteHeader(http.StatusNotFound)
			}
		}))
		w.Start("p", func(mgr ctrl.Manager) error {
			out := sim.HTTPClient(mgr)
			return simtest.Reconciles(
				func(ctx context.Context, c client.Client, cm *corev1.ConfigMap) (reconcile.Result, error) {
					if cm.DeletionTimestamp.IsZero() {
						if controllerutil.AddFinalizer(cm, "cloud.example/db") {
							return reconcile.Result{}, c.Update(ctx, cm)
						}
						return reconcile.Result{}, nil
					}
					ask, _ := http.NewRequestWithContext(ctx, http.MethodDelete, "http://cloud.example/db", nil)
					resp, err := out.Do(ask)
					if err != nil {
						return reconcile.Result{}, err
					}
					resp.Body.Close()
					if resp.StatusCode != http.StatusNotFound {
						return reconcile.Result{RequeueAfter: 30 * time.Second}, nil
					}
					controllerutil.RemoveFinalizer(cm, "cloud.example/db")
					return reconcile.Result{}, c.Update(ctx, cm)
				})(mgr)
		})
		w.Apply(simtest.Source("a"))
		w.Settle()
		w.Remove(simtest.ConfigMap("a"))
		w.Settle()
	}
}
