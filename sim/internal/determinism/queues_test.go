package determinism

import (
	"context"
	"errors"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/fault"
)

// waits fails twice for each new value, then comes back after a second for as often as it must.
type waits struct {
	client.Client
	tries map[string]int
}

func (w *waits) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	var cm corev1.ConfigMap
	if err := w.Get(ctx, req.NamespacedName, &cm); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	key := cm.Name + cm.Data["k"]
	switch w.tries[key]++; {
	case cm.Annotations["done"] == cm.Data["k"]:
		return reconcile.Result{}, nil
	case w.tries[key] < 3:
		return reconcile.Result{}, errors.New("not yet")
	case w.tries[key] < 6:
		return reconcile.Result{RequeueAfter: time.Second}, nil
	}
	was := cm.DeepCopy()
	metav1.SetMetaDataAnnotation(&cm.ObjectMeta, "done", cm.Data["k"])
	return reconcile.Result{}, w.Patch(ctx, &cm, client.MergeFrom(was))
}

// waiting is a program with three workers and one of controller-runtime's two queues.
func waiting(priority bool) func(*sim.World) {
	return func(w *sim.World) {
		w.Start("op", func(mgr ctrl.Manager) error {
			return ctrl.NewControllerManagedBy(mgr).For(&corev1.ConfigMap{}).
				WithOptions(controller.Options{MaxConcurrentReconciles: 1, UsePriorityQueue: &priority}).
				Complete(&waits{mgr.GetClient(), map[string]int{}})
		})
		w.Start("other", func(mgr ctrl.Manager) error {
			return ctrl.NewControllerManagedBy(mgr).For(&corev1.ConfigMap{}).
				WithOptions(controller.Options{MaxConcurrentReconciles: 3, UsePriorityQueue: &priority}).
				Complete(&copies{mgr.GetClient()})
		})
		w.Inject(faults("op")...)
		w.Inject(fault.Pause("other", time.Minute), fault.MissedStates(10*time.Second))
		twoRounds(w)
	}
}

// copies copies each ConfigMap to a Secret.
type copies struct{ client.Client }

func (c *copies) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	var cm corev1.ConfigMap
	if err := c.Get(ctx, req.NamespacedName, &cm); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	return reconcile.Result{}, copyTo(ctx, c.Client, "copy-"+cm.Name, cm.Data)
}

func TestPriorityQueue(t *testing.T) { replays(t, waiting(true)) }

func TestClassicQueue(t *testing.T) { replays(t, waiting(false)) }

// A program of client-go's parts alone: informers, a queue that limits its rate, and two workers.
func TestClientGoWithoutManager(t *testing.T) {
	replays(t, func(w *sim.World) {
		w.Run("op", copiesWithClientGo)
		w.Inject(fault.StaleCache(30*time.Second), fault.Crash("op"), fault.Restart("op"), fault.LostReply(),
			fault.ServerError(),
			fault.Conflict(), fault.DroppedWatch(), fault.Expired())
		twoRounds(w)
	})
}

func copiesWithClientGo(ctx context.Context, cfg *rest.Config) error {
	clients, err := kubernetes.NewForConfig(cfg)
	if err != nil {
		return err
	}
	queue := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[string]())
	factory := informers.NewSharedInformerFactory(clients, 0)
	maps := factory.Core().V1().ConfigMaps()
	add := func(o any) {
		if key, err := toolscache.MetaNamespaceKeyFunc(o); err == nil {
			queue.Add(key)
		}
	}
	_, err = maps.Informer().AddEventHandler(toolscache.ResourceEventHandlerFuncs{
		AddFunc: add, UpdateFunc: func(_, o any) { add(o) },
	})
	if err != nil {
		return err
	}
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())
	for range 2 {
		store := maps.Informer().GetStore()
		go work(queue, func(key string) error { return copyWithClientGo(ctx, clients, store, key) })
	}
	<-ctx.Done()
	queue.ShutDown()
	factory.Shutdown()
	return nil
}

// copyWithClientGo copies a ConfigMap that the store holds to one with a longer name.
func copyWithClientGo(ctx context.Context, clients kubernetes.Interface, store toolscache.Store, key string) error {
	item, there, err := store.GetByKey(key)
	if err != nil || !there {
		return err
	}
	from := item.(*corev1.ConfigMap)
	if len(from.Name) > 1 {
		return nil // a copy
	}
	api := clients.CoreV1().ConfigMaps(from.Namespace)
	to, err := api.Get(ctx, from.Name+"-copy", metav1.GetOptions{})
	if client.IgnoreNotFound(err) != nil {
		return err
	} else if err != nil {
		_, err = api.Create(ctx, configMap(from.Namespace, from.Name+"-copy", from.Data["k"]), metav1.CreateOptions{})
		return err
	}
	if to.Data["k"] == from.Data["k"] {
		return nil
	}
	to.Data = from.Data
	_, err = api.Update(ctx, to, metav1.UpdateOptions{})
	return err
}

// A program whose queue is its own and which learns of objects from the manager's informers.
func TestQueueOfItsOwn(t *testing.T) {
	replays(t, func(w *sim.World) {
		w.Start("op", func(mgr ctrl.Manager) error {
			ctx := context.Background()
			informer, err := mgr.GetCache().GetInformer(ctx, &corev1.ConfigMap{}, cache.BlockUntilSynced(false))
			if err != nil {
				return err
			}
			queue := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[string]())
			add := func(o any) { queue.Add(o.(*corev1.ConfigMap).Name) }
			_, err = informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
				AddFunc: add, UpdateFunc: func(_, o any) { add(o) },
			})
			if err != nil {
				return err
			}
			return mgr.Add(manager.RunnableFunc(func(ctx context.Context) error {
				for range 2 {
					go work(queue, func(name string) error {
						req := reconcile.Request{NamespacedName: client.ObjectKey{Namespace: "default", Name: name}}
						_, err := (&copies{mgr.GetClient()}).Reconcile(ctx, req)
						return err
					})
				}
				<-ctx.Done()
				queue.ShutDown()
				return nil
			}))
		})
		w.Inject(faults("op")...)
		twoRounds(w)
	})
}

// work does what a queue holds until it is shut down.
func work(queue workqueue.TypedRateLimitingInterface[string], do func(string) error) {
	for {
		key, down := queue.Get()
		if down {
			return
		}
		if err := do(key); err != nil {
			queue.AddRateLimited(key)
		} else {
			queue.Forget(key)
		}
		queue.Done(key)
	}
}
