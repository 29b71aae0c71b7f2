package sim_test

import (
	"context"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/cluster"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/fault"
)

// A program with two caches of its own, which watch the same kinds, feeds a channel source from
// both.
//
//make:campaigns
func TestCachesThatWatchTheSameReplay(t *testing.T) {
	r := sim.Explore(t, func(w *sim.World) {
		w.Start("op", func(mgr ctrl.Manager) error { return feedFromTwoCaches(mgr) })
		w.Inject(fault.StaleCache(time.Minute), fault.Crash("op"), fault.Restart("op"), fault.LostReply(),
			fault.DroppedWatch(), fault.Expired())
		w.Apply(configMap("a"), configMap("b"), configMap("c"))
		w.Settle()
		w.Apply(configMap("a", "k", "w"), configMap("b", "k", "w"))
		w.Settle()
	}, sim.Runs(200), sim.For(0), sim.Verify(1))
	if r.Failure != nil {
		t.Error(r.Failure.Text())
	}
	t.Logf("%d runs, %d twice, %d steps", r.Runs, r.Doubled, r.Steps)
}

func feedFromTwoCaches(mgr ctrl.Manager) error {
	events := make(chan event.GenericEvent)
	caches := make([]cache.Cache, 2)
	for i := range caches {
		own, err := cache.New(mgr.GetConfig(), cache.Options{Scheme: mgr.GetScheme(), Mapper: mgr.GetRESTMapper()})
		if err != nil {
			return err
		}
		caches[i] = own
		if err := mgr.Add(own); err != nil {
			return err
		}
		for _, o := range []client.Object{&corev1.ConfigMap{}, &corev1.Secret{}} {
			informer, err := own.GetInformer(context.Background(), o, cache.BlockUntilSynced(false))
			if err != nil {
				return err
			}
			send := func(o any) { go func() { events <- event.GenericEvent{Object: o.(client.Object)} }() }
			_, err = informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
				AddFunc: send, UpdateFunc: func(_, o any) { send(o) },
			})
			if err != nil {
				return err
			}
		}
	}
	return ctrl.NewControllerManagedBy(mgr).Named("fed").For(&corev1.Service{}).
		WatchesRawSource(source.Channel(events, &handler.EnqueueRequestForObject{})).
		Complete(reconcile.Func(func(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
			return reconcile.Result{}, recordBoth(ctx, mgr.GetClient(), caches, req.Name)
		}))
}

// recordBoth records which ConfigMaps each cache holds, in the order in which it lists them.
func recordBoth(ctx context.Context, c client.Client, caches []cache.Cache, name string) error {
	if len(name) > 1 {
		return nil // one of its own records
	}
	seen := ""
	for _, own := range caches {
		var all corev1.ConfigMapList
		if err := own.List(ctx, &all); err != nil {
			return err
		}
		for _, cm := range all.Items {
			seen += cm.Name + cm.ResourceVersion + " "
		}
	}
	return client.IgnoreAlreadyExists(c.Create(ctx, configMap("out-"+name, "seen", seen)))
}

// A program that copies from two other clusters into its own, and lists what they have.
func TestTwoOtherClustersReplay(t *testing.T) {
	r := sim.Explore(t, func(w *sim.World) {
		a, b := w.Cluster("a.example"), w.Cluster("b.example")
		w.Start("op", func(mgr ctrl.Manager) error { return copyFrom(mgr, "a.example", "b.example") })
		w.Inject(fault.StaleCache(time.Minute), fault.Crash("op"), fault.Restart("op"), fault.LostReply(),
			fault.DroppedWatch(), fault.Expired())
		a.Apply(configMap("a"), configMap("b"), configMap("c"))
		b.Apply(configMap("b"), configMap("c"), configMap("d"))
		w.Settle()
		b.Apply(configMap("d", "k", "w"))
		w.Settle()
	}, sim.Runs(100), sim.For(0), sim.Verify(1))
	if r.Failure != nil {
		t.Error(r.Failure.Text())
	}
	t.Logf("%d runs, %d twice, %d steps", r.Runs, r.Doubled, r.Steps)
}

func copyFrom(mgr ctrl.Manager, hosts ...string) error {
	b := ctrl.NewControllerManagedBy(mgr).Named("copier")
	var caches []cache.Cache
	for _, host := range hosts {
		cfg := &rest.Config{Host: "http://" + host, Transport: sim.HTTPClient(mgr).Transport, QPS: -1}
		away, err := cluster.New(cfg, func(o *cluster.Options) { o.Scheme = mgr.GetScheme() })
		if err != nil {
			return err
		}
		if err := mgr.Add(away); err != nil {
			return err
		}
		caches = append(caches, away.GetCache())
		for _, o := range []client.Object{&corev1.ConfigMap{}, &corev1.Secret{}} {
			b = b.WatchesRawSource(source.Kind(away.GetCache(), o, &handler.EnqueueRequestForObject{}))
		}
	}
	return b.Complete(reconcile.Func(func(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
		return reconcile.Result{}, recordBoth(ctx, mgr.GetClient(), caches, req.Name)
	}))
}
