package determinism

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/events"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	oldevents "k8s.io/client-go/tools/record"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/fault"
)

// A program of client-go's parts with four workers, two kinds that feed one queue, and both
// recorders of Events. Its goroutines add to the queue at the same time.
func TestClientGoEvents(t *testing.T) {
	replays(t, func(w *sim.World) {
		w.Run("raw", replicates)
		w.Inject(fault.StaleCache(30*time.Second), fault.MissedStates(10*time.Second), fault.DroppedWatch(),
			fault.Relist(), fault.Expired(), fault.StaleServer(time.Minute), fault.LostReply(), fault.Conflict(),
			fault.ServerError(), fault.Unreachable(30*time.Second), fault.Rejected("no"), fault.Forbidden(time.Minute),
			fault.Crash("raw"), fault.Restart("raw"), fault.Pause("raw", time.Minute))
		for _, n := range []string{"a", "b", "c"} {
			w.Apply(wanted(n, "3"))
		}
		w.Sleep(30 * time.Second)
		w.Apply(wanted("a", "5"))
		w.Settle()
	})
}

// Three replicas elect a leader by client-go alone, with its usual times: the renewal polls every
// 2 s within a deadline of 10 s, so the last timer and the deadline are due at one instant.
func TestClientGoLeaderElection(t *testing.T) {
	replays(t, func(w *sim.World) {
		for i := range 3 {
			name := fmt.Sprintf("op-%d", i)
			w.Run(name, leads(name))
			w.Inject(fault.Pause(name, time.Minute), fault.Crash(name), fault.Restart(name))
		}
		w.Inject(fault.LeaderOverlap(), fault.Unreachable(30*time.Second), fault.ServerError(), fault.LostReply())
		w.Apply(source("a", "1"), source("b", "1"))
		w.Sleep(3 * time.Minute)
		w.Apply(source("a", "2"))
		w.Settle()
	})
}

// leads is a program that copies ConfigMaps while it is the leader.
func leads(name string) func(context.Context, *rest.Config) error {
	return func(ctx context.Context, cfg *rest.Config) error {
		clients, err := kubernetes.NewForConfig(cfg)
		if err != nil {
			return err
		}
		failed := make(chan error, 1)
		elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
			Lock: &resourcelock.LeaseLock{
				LeaseMeta: metav1.ObjectMeta{Namespace: "default", Name: "op"}, Client: clients.CoordinationV1(),
				LockConfig: resourcelock.ResourceLockConfig{Identity: name},
			},
			LeaseDuration: 15 * time.Second, RenewDeadline: 10 * time.Second, RetryPeriod: 2 * time.Second,
			ReleaseOnCancel: true,
			Callbacks: leaderelection.LeaderCallbacks{
				OnStartedLeading: func(ctx context.Context) { failed <- copiesWithClientGo(ctx, cfg) },
				OnStoppedLeading: func() {},
			},
		})
		if err != nil {
			return err
		}
		if elector.Run(ctx); ctx.Err() != nil {
			return nil
		}
		return errors.New("the lease is lost")
	}
}

// wanted is a ConfigMap that asks for a number of copies.
func wanted(name, n string) *corev1.ConfigMap {
	cm := source(name, "")
	cm.Data = map[string]string{"replicate": n}
	return cm
}

// replicates copies ConfigMaps as often as they ask for, and records two Events for each copy.
func replicates(ctx context.Context, cfg *rest.Config) error {
	clients, err := kubernetes.NewForConfig(cfg)
	if err != nil {
		return err
	}
	factory := informers.NewSharedInformerFactory(clients, 10*time.Minute)
	queue := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[string]())
	maps := factory.Core().V1().ConfigMaps()
	key := func(o any) string { k, _ := toolscache.DeletionHandlingMetaNamespaceKeyFunc(o); return k }
	handler := toolscache.ResourceEventHandlerFuncs{
		AddFunc:    func(o any) { queue.Add(key(o)) },
		UpdateFunc: func(_, o any) { queue.AddRateLimited(key(o)) },
		DeleteFunc: func(o any) { queue.Add(key(o)) },
	}
	for _, i := range []toolscache.SharedInformer{maps.Informer(), factory.Apps().V1().Deployments().Informer()} {
		if _, err := i.AddEventHandler(handler); err != nil {
			return err
		}
	}
	old := oldevents.NewBroadcaster(oldevents.WithContext(ctx))
	old.StartRecordingToSink(&typedcorev1.EventSinkImpl{Interface: clients.CoreV1().Events("")})
	defer old.Shutdown()
	recent := events.NewBroadcaster(&events.EventSinkImpl{Interface: clients.EventsV1()})
	stop := make(chan struct{})
	recent.StartRecordingToSink(stop)
	defer close(stop)
	defer recent.Shutdown()
	r := &replicator{
		clients: clients, get: maps.Lister().ConfigMaps("default").Get,
		old:    old.NewRecorder(clientgoscheme.Scheme, corev1.EventSource{Component: "raw"}),
		recent: recent.NewRecorder(clientgoscheme.Scheme, "raw.example.com/new"),
	}
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() { work(queue, func(key string) error { return r.sync(ctx, key) }) })
	}
	<-ctx.Done()
	queue.ShutDown()
	wg.Wait()
	factory.Shutdown()
	return nil
}

type replicator struct {
	clients kubernetes.Interface
	get     func(string) (*corev1.ConfigMap, error)
	old     oldevents.EventRecorder
	recent  events.EventRecorder
}

func (r *replicator) sync(ctx context.Context, key string) error {
	_, name, _ := toolscache.SplitMetaNamespaceKey(key)
	cm, err := r.get(name)
	if err != nil || cm.Data["replicate"] == "" {
		return client.IgnoreNotFound(err)
	}
	n, err := strconv.Atoi(cm.Data["replicate"])
	if err != nil {
		return err
	}
	for i := range n {
		copied := configMap("default", fmt.Sprintf("%s-%d", name, i), name)
		_, err := r.clients.CoreV1().ConfigMaps("default").Create(ctx, copied, metav1.CreateOptions{})
		if err != nil && !apierrors.IsAlreadyExists(err) {
			return err
		}
		if err == nil {
			r.old.Eventf(cm, corev1.EventTypeNormal, "Copied", "copy %d", i)
			r.recent.Eventf(cm, nil, corev1.EventTypeNormal, "Copied", "Copying", "copy %d", i)
		}
	}
	return nil
}
