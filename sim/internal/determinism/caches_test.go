package determinism

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/cluster"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	crsource "sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/fault"
)

// feeder lets the informers of a cache send what they learn to a channel, each object from a
// goroutine of its own.
type feeder struct {
	cache  cache.Cache
	kinds  []client.Object
	events chan<- event.GenericEvent
}

// Start implements manager.Runnable.
func (f feeder) Start(ctx context.Context) error {
	for _, o := range f.kinds {
		informer, err := f.cache.GetInformer(ctx, o)
		if err != nil {
			return err
		}
		send := func(o any) {
			go func() {
				select {
				case f.events <- event.GenericEvent{Object: o.(client.Object)}:
				case <-ctx.Done():
				}
			}()
		}
		_, err = informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
			AddFunc: send, UpdateFunc: func(_, o any) { send(o) },
		})
		if err != nil {
			return err
		}
	}
	<-ctx.Done()
	return nil
}

// listed is what caches list, in their order.
func listed(ctx context.Context, caches []cache.Cache) (string, error) {
	var seen []string
	for _, own := range caches {
		var all corev1.ConfigMapList
		if err := own.List(ctx, &all); err != nil {
			return "", err
		}
		for _, cm := range all.Items {
			seen = append(seen, cm.Name+"="+cm.Data["k"])
		}
	}
	return strings.Join(seen, ","), nil
}

// recordsLists writes what caches list into one Secret for each ConfigMap.
func recordsLists(mgr ctrl.Manager, caches *[]cache.Cache) reconcile.Func {
	return func(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
		seen, err := listed(ctx, *caches)
		if err != nil || len(req.Name) > 1 { // of its own Secrets
			return reconcile.Result{}, err
		}
		return reconcile.Result{}, copyTo(ctx, mgr.GetClient(), "out-"+req.Name, map[string]string{"seen": seen})
	}
}

// A program with two caches of its own, which watch the same kinds, feeds a channel source from
// both.
func TestCachesOfItsOwn(t *testing.T) {
	replays(t, func(w *sim.World) {
		w.Start("op", func(mgr ctrl.Manager) error {
			events := make(chan event.GenericEvent)
			caches := make([]cache.Cache, 2)
			for i := range caches {
				options := cache.Options{Scheme: mgr.GetScheme(), Mapper: mgr.GetRESTMapper()}
				own, err := cache.New(mgr.GetConfig(), options)
				if err != nil {
					return err
				}
				caches[i] = own
				if err := mgr.Add(own); err != nil {
					return err
				}
				kinds := []client.Object{&corev1.ConfigMap{}, &corev1.Secret{}}
				if err := mgr.Add(feeder{own, kinds, events}); err != nil {
					return err
				}
			}
			return ctrl.NewControllerManagedBy(mgr).Named("fed").For(&corev1.Service{}).
				WatchesRawSource(crsource.Channel(events, &handler.EnqueueRequestForObject{})).
				Complete(recordsLists(mgr, &caches))
		})
		w.Inject(faults("op")...)
		twoRounds(w)
	})
}

// Four informers of the manager's cache feed an unbuffered channel, and each reconcile makes a slow
// call to the outside.
func TestChannelSource(t *testing.T) { replays(t, channelSource) }

func channelSource(w *sim.World) {
	w.External("billing.example", http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		fmt.Fprintln(rw, r.URL.Path)
	}))
	w.Start("op", func(mgr ctrl.Manager) error {
		events, outside := make(chan event.GenericEvent), sim.HTTPClient(mgr)
		kinds := []client.Object{&corev1.ConfigMap{}, &corev1.Secret{}, &corev1.Service{}, &corev1.ServiceAccount{}}
		if err := mgr.Add(feeder{mgr.GetCache(), kinds, events}); err != nil {
			return err
		}
		return ctrl.NewControllerManagedBy(mgr).Named("fed").For(&corev1.Service{}).
			WatchesRawSource(crsource.Channel(events, &handler.EnqueueRequestForObject{})).
			Complete(reconcile.Func(func(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
				return reconcile.Result{}, bill(ctx, mgr.GetClient(), outside, req)
			}))
	})
	w.Inject(faults("op")...)
	w.Inject(fault.SlowEffect(20*time.Second), fault.FailedEffect())
	twoRounds(w)
}

// bill tells the outside of a ConfigMap, and keeps what it has told it in a Secret.
func bill(ctx context.Context, c client.Client, outside *http.Client, req reconcile.Request) error {
	var cm corev1.ConfigMap
	if err := c.Get(ctx, req.NamespacedName, &cm); err != nil {
		return client.IgnoreNotFound(err)
	}
	url := "http://billing.example/" + cm.Name + "/" + cm.Data["k"]
	put, err := http.NewRequestWithContext(ctx, http.MethodPut, url, nil)
	if err != nil {
		return err
	}
	reply, err := outside.Do(put)
	if err != nil {
		return err
	}
	defer reply.Body.Close()
	if reply.StatusCode != http.StatusOK {
		return fmt.Errorf("billing answers %s", reply.Status)
	}
	return copyTo(ctx, c, "billed-"+cm.Name, cm.Data)
}

// A program that copies from two other clusters into its own, and lists what they have.
func TestSeveralClusters(t *testing.T) {
	replays(t, func(w *sim.World) {
		hosts := []string{"a.example", "b.example"}
		a, b := w.Cluster(hosts[0]), w.Cluster(hosts[1])
		w.Start("op", func(mgr ctrl.Manager) error {
			copier := ctrl.NewControllerManagedBy(mgr).Named("copier")
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
					copier.WatchesRawSource(crsource.Kind(away.GetCache(), o, &handler.EnqueueRequestForObject{}))
				}
			}
			return copier.Complete(recordsLists(mgr, &caches))
		})
		w.Inject(faults("op")...)
		a.Apply(source("a", "1"), source("b", "1"), source("c", "1"))
		b.Apply(source("b", "1"), source("c", "1"), source("d", "1"))
		w.Settle()
		b.Apply(source("d", "2"))
		w.Settle()
	})
}

// A program that lists by fields which it has indexed, and owns what it makes.
func TestFieldIndexes(t *testing.T) {
	replays(t, func(w *sim.World) {
		w.Start("op", func(mgr ctrl.Manager) error {
			ctx := context.Background()
			value := func(o client.Object) []string { return []string{o.(*corev1.ConfigMap).Data["k"]} }
			if err := mgr.GetFieldIndexer().IndexField(ctx, &corev1.ConfigMap{}, "data.k", value); err != nil {
				return err
			}
			name := func(o client.Object) []string { return []string{o.GetName(), "any"} }
			if err := mgr.GetFieldIndexer().IndexField(ctx, &corev1.Secret{}, "name", name); err != nil {
				return err
			}
			return ctrl.NewControllerManagedBy(mgr).For(&corev1.ConfigMap{}).Owns(&corev1.Secret{}).
				Complete(&peers{mgr.GetClient()})
		})
		w.Inject(faults("op")...)
		twoRounds(w)
	})
}

// peers writes into a Secret which ConfigMaps have the same value, and how many Secrets there are.
type peers struct{ client.Client }

func (p *peers) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	var cm corev1.ConfigMap
	if err := p.Get(ctx, req.NamespacedName, &cm); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	var same corev1.ConfigMapList
	if err := p.List(ctx, &same, client.MatchingFields{"data.k": cm.Data["k"]}); err != nil {
		return reconcile.Result{}, err
	}
	var secrets corev1.SecretList
	if err := p.List(ctx, &secrets, client.MatchingFields{"name": "any"}); err != nil {
		return reconcile.Result{}, err
	}
	seen := ""
	for _, s := range same.Items {
		seen += s.Name + " "
	}
	out := &corev1.Secret{}
	out.Namespace, out.Name = cm.Namespace, "out-"+cm.Name
	_, err := ctrl.CreateOrUpdate(ctx, p.Client, out, func() error {
		out.Data = map[string][]byte{"same": []byte(seen), "secrets": fmt.Append(nil, len(secrets.Items))}
		return controllerutil.SetControllerReference(&cm, out, p.Scheme())
	})
	return reconcile.Result{}, err
}
