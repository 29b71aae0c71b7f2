package sim_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/cluster"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/fault"
	"github.com/wavetank/wavetank/sim/internal/simtest"
)

// gatherer copies ConfigMaps of another cluster into its own.
type gatherer struct {
	home, away client.Client
}

func gather(mgr ctrl.Manager, http *http.Client) error {
	away, err := cluster.New(&rest.Config{Host: "http://prod.example", Transport: http.Transport, QPS: -1},
		func(o *cluster.Options) { o.Scheme = mgr.GetScheme() })
	if err != nil {
		return err
	}
	if err := mgr.Add(away); err != nil {
		return err
	}
	return ctrl.NewControllerManagedBy(mgr).Named("gatherer").
		WatchesRawSource(source.Kind(away.GetCache(), &corev1.ConfigMap{},
			&handler.TypedEnqueueRequestForObject[*corev1.ConfigMap]{})).
		Complete(&gatherer{mgr.GetClient(), away.GetClient()})
}

func (g *gatherer) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	from := &corev1.ConfigMap{}
	if err := g.away.Get(ctx, req.NamespacedName, from); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	to := simtest.ConfigMap(from.Name)
	to.Data = from.Data
	if err := g.home.Create(ctx, to); client.IgnoreAlreadyExists(err) != nil {
		return reconcile.Result{}, err
	}
	return reconcile.Result{}, nil
}

// gathered says that what is in prod is at home.
func gathered(h *history.History) error {
	for _, name := range []string{"a", "b"} {
		if _, ok := h.Find(history.Ref{Cluster: "prod.example", Kind: "ConfigMap", Namespace: "default",
			Name: name}); !ok {
			continue
		}
		if _, ok := h.Object("", "ConfigMap", "default", name); !ok {
			return fmt.Errorf("%s is not at home; there are %d", name, len(h.Objects("", "ConfigMap")))
		}
	}
	return nil
}

func TestClusterIsReached(t *testing.T) {
	sim.Check(t, func(w *sim.World) {
		prod := w.Cluster("prod.example")
		w.Start("gatherer", func(mgr ctrl.Manager) error { return gather(mgr, sim.HTTPClient(mgr)) })
		w.Inject(fault.StaleCache(time.Minute), fault.Crash("gatherer"), fault.LostReply(),
			fault.ServerError(), fault.Conflict())
		w.Eventually("what is in prod is at home, too", gathered)
		prod.Apply(simtest.ConfigMap("a", "k", "v"))
		prod.Apply(simtest.ConfigMap("b", "k", "v"))
		w.Settle()
	}, sim.Runs(40), sim.Verify(2))
}

// A world in which an informer of another cluster is waiting to try again has not settled. The
// harness did not make that informer and sees only its requests.
func TestSettleWaitsForInformersOfClusters(t *testing.T) {
	sim.Check(t, func(w *sim.World) {
		prod := w.Cluster("prod.example")
		w.Start("gatherer", func(mgr ctrl.Manager) error { return gather(mgr, sim.HTTPClient(mgr)) })
		w.Inject(fault.Expired(), fault.DroppedWatch(), fault.Unreachable(5*time.Minute))
		w.Eventually("what is in prod is at home, too", gathered)
		w.Settle()
		prod.Apply(simtest.ConfigMap("a", "k", "v"))
		w.Sleep(time.Second)
		prod.Apply(simtest.ConfigMap("b", "k", "v"))
		w.Settle()
	}, sim.Runs(150), sim.Verify(10), sim.For(0))
}

// An informer whose requests are always refused does not keep the world from settling: it has been
// refused since the last change.
func TestSettleIgnoresRefusedInformers(t *testing.T) {
	sim.Check(t, func(w *sim.World) {
		w.Cluster("prod.example")
		w.Start("watcher", func(mgr ctrl.Manager) error {
			away, err := dynamic.NewForConfig(&rest.Config{Host: "http://prod.example",
				Transport: sim.HTTPClient(mgr).Transport, QPS: -1})
			if err != nil {
				return err
			}
			absent := schema.GroupVersionResource{Group: "shop.example", Version: "v1", Resource: "baskets"}
			informer := dynamicinformer.NewDynamicSharedInformerFactory(away, 0).ForResource(absent).Informer()
			return mgr.Add(manager.RunnableFunc(func(ctx context.Context) error {
				informer.Run(ctx.Done())
				return nil
			}))
		})
		w.Settle()
	}, sim.Runs(5), sim.Verify(1))
}

// A program that has informers and no manager settles: a watch that is opened again every few
// minutes is no work.
func TestSettleAllowsInformersWithoutAManager(t *testing.T) {
	sim.Check(t, func(w *sim.World) {
		seen := map[string]bool{}
		w.Run("watcher", func(ctx context.Context, cfg *rest.Config) error {
			clients, err := kubernetes.NewForConfig(cfg)
			if err != nil {
				return err
			}
			factory := informers.NewSharedInformerFactory(clients, 0)
			added := func(obj any) { seen[obj.(*corev1.ConfigMap).Name] = true }
			_, err = factory.Core().V1().ConfigMaps().Informer().AddEventHandler(
				cache.ResourceEventHandlerFuncs{AddFunc: added})
			if err != nil {
				return err
			}
			factory.Start(ctx.Done())
			<-ctx.Done()
			factory.Shutdown()
			return nil
		})
		w.Inject(fault.DroppedWatch(), fault.Expired())
		w.Eventually("the program has seen both", func(*history.History) error {
			if !seen["a"] || !seen["b"] {
				return fmt.Errorf("it saw %v", seen)
			}
			return nil
		})
		w.Apply(simtest.ConfigMap("a"))
		w.Sleep(time.Second)
		w.Apply(simtest.ConfigMap("b"))
		w.Settle()
	}, sim.Runs(20), sim.Verify(5))
}

// mirroring copies ConfigMaps to another cluster, by the rest.Config that the documentation of
// World.Cluster has and the scheme that a manager has by default, and deletes the copy of what has
// gone.
func mirroring(mgr ctrl.Manager) error {
	away, err := cluster.New(&rest.Config{Host: "http://prod.example", Transport: sim.HTTPClient(mgr).Transport})
	if err != nil {
		return err
	}
	if err := mgr.Add(away); err != nil {
		return err
	}
	return ctrl.NewControllerManagedBy(mgr).Named("mirror").For(&corev1.ConfigMap{}).Complete(
		reconcile.Func(func(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
			copied := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: req.Namespace, Name: req.Name}}
			var cm corev1.ConfigMap
			if err := mgr.GetClient().Get(ctx, req.NamespacedName, &cm); client.IgnoreNotFound(err) != nil {
				return ctrl.Result{}, err
			} else if err != nil {
				err := away.GetClient().Delete(ctx, copied, client.PropagationPolicy("Background"))
				return ctrl.Result{}, client.IgnoreNotFound(err)
			}
			_, err := controllerutil.CreateOrUpdate(ctx, away.GetClient(), copied, func() error {
				copied.Data = cm.Data
				return nil
			})
			return ctrl.Result{}, err
		}))
}

func TestClusterTakesProtobuf(t *testing.T) {
	simtest.Holds(t, func(w *sim.World) {
		prod := w.Cluster("prod.example")
		copied := func() string {
			var cm corev1.ConfigMap
			err := prod.Client().Get(w.Context(), client.ObjectKey{Namespace: "default", Name: "a"}, &cm)
			return fmt.Sprint(cm.Data, client.IgnoreNotFound(err) == nil, err == nil)
		}
		w.Start("op", mirroring)
		want := ""
		w.Eventually("the copy is as the original", func(*history.History) error {
			if got := copied(); got != want {
				return fmt.Errorf("the copy is %s, want %s", got, want)
			}
			return nil
		})
		w.Inject(fault.Conflict())
		for _, step := range []struct {
			do   func()
			want string
		}{
			{func() { w.Apply(simtest.ConfigMap("a", "k", "1")) }, "map[k:1] true true"},
			{func() { w.Apply(simtest.ConfigMap("a", "k", "2")) }, "map[k:2] true true"},
			{func() { w.Remove(simtest.ConfigMap("a")) }, "map[] true false"},
		} {
			want = step.want
			step.do()
			w.Settle()
		}
		for _, e := range w.History().Events { // or no property could read it
			if e.Ref.Cluster != "" && len(e.Sent) > 0 && !json.Valid(e.Sent) {
				t.Errorf("the history keeps a body that is not JSON: %s %s: %q", e.Verb, e.Ref, e.Sent)
			}
		}
	}, sim.Runs(20), sim.Verify(5))
}

// The world's own cluster takes it, too, from a program that asks for it.
func TestWorldTakesProtobuf(t *testing.T) {
	simtest.Holds(t, func(w *sim.World) {
		w.Run("op", func(ctx context.Context, cfg *rest.Config) error {
			cfg = rest.CopyConfig(cfg)
			cfg.ContentConfig = rest.ContentConfig{ContentType: runtime.ContentTypeProtobuf}
			api, err := kubernetes.NewForConfig(cfg)
			if err != nil {
				return err
			}
			maps := api.CoreV1().ConfigMaps("default")
			if _, err := maps.Create(ctx, simtest.ConfigMap("a", "k", "v"), metav1.CreateOptions{}); err != nil {
				return err
			}
			<-ctx.Done()
			return nil
		})
		w.Settle()
		expectData(w, t, "map[k:v]")
	}, sim.Runs(3), sim.Verify(1))
}
