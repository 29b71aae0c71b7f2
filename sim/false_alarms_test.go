package sim_test

import (
	"context"
	"fmt"
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
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/fault"
	"github.com/wavetank/wavetank/sim/internal/simtest"
	"github.com/wavetank/wavetank/sim/property"
)

// An operator may call a kind of its own Event, or Lease: these are objects like all others.
func TestAKindThatIsCalledEvent(t *testing.T) {
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
		w.Always("nobody is restless", property.Settles(time.Minute))
		w.Apply(party("a"))
		w.Settle()
		w.Sleep(time.Hour)
		w.Apply(party("b"))
		w.Settle()
	}, sim.Runs(3), sim.For(0))
}

func TestALockOfItsOwn(t *testing.T) {
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

// What a list of another cluster has told a program, it knows.
func TestLostUpdatesOfAnotherCluster(t *testing.T) {
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

func TestOrphansOfTwoClusters(t *testing.T) {
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

func TestStarvationOfAStandby(t *testing.T) {
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

func TestStarvationOfAFrozenProcess(t *testing.T) {
	simtest.Holds(t, func(w *sim.World) {
		w.Start("p", simtest.Mirror)
		w.Inject(fault.Pause("p", 2*time.Minute))
		w.Always("no key waits for a worker for 30 s", property.NoStarvation(30*time.Second))
		w.Apply(simtest.Source("src-a", "k", "1"), simtest.Source("src-b", "k", "1"))
		w.Settle()
	}, sim.Runs(100), sim.For(0))
}
