// This file holds programs that have no manager: informers, work queue and election of client-go.

package correct

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	corev1listers "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/fault"
)

func clientGoOperators() []Operator {
	return []Operator{
		{"client-go", "shared informers and a work queue of client-go, without a manager", clientGo},
		{"client-go-election", "the same, with two replicas and the leader election of client-go", clientGoElection},
		{"manager-election", "two replicas with the leader election of the manager", managerElection},
	}
}

// mirror copies each ConfigMap with the label to a Secret, and deletes copies whose source is gone.
type mirror struct {
	clients kubernetes.Interface
	sources corev1listers.ConfigMapLister
	copies  corev1listers.SecretLister
	queue   workqueue.TypedRateLimitingInterface[cache.ObjectName]
}

const mirrored = "correct.example/mirror"

// run mirrors until the context ends.
func (m *mirror) run(ctx context.Context) error {
	m.queue = workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[cache.ObjectName]())
	factory := informers.NewSharedInformerFactoryWithOptions(m.clients, 0,
		informers.WithTweakListOptions(func(o *metav1.ListOptions) { o.LabelSelector = mirrored }))
	configs, secrets := factory.Core().V1().ConfigMaps(), factory.Core().V1().Secrets()
	m.sources, m.copies = configs.Lister(), secrets.Lister()
	add := func(o any) {
		if name, err := cache.DeletionHandlingObjectToName(o); err == nil {
			m.queue.Add(name) // a copy has the name of its source
		}
	}
	handlers := cache.ResourceEventHandlerFuncs{AddFunc: add, UpdateFunc: func(_, o any) { add(o) }, DeleteFunc: add}
	for _, informer := range []cache.SharedIndexInformer{configs.Informer(), secrets.Informer()} {
		if _, err := informer.AddEventHandler(handlers); err != nil {
			return err
		}
	}
	factory.Start(ctx.Done())
	defer factory.Shutdown()
	var workers sync.WaitGroup
	defer workers.Wait()
	defer m.queue.ShutDown()
	for _, synced := range factory.WaitForCacheSync(ctx.Done()) {
		if !synced {
			return errors.New("the caches did not sync")
		}
	}
	for range 2 {
		workers.Go(func() { m.work(ctx) })
	}
	<-ctx.Done()
	return nil
}

func (m *mirror) work(ctx context.Context) {
	for {
		name, down := m.queue.Get()
		if down {
			return
		}
		if err := m.sync(ctx, name); err != nil {
			m.queue.AddRateLimited(name)
		} else {
			m.queue.Forget(name)
		}
		m.queue.Done(name)
	}
}

func (m *mirror) sync(ctx context.Context, name cache.ObjectName) error {
	api := m.clients.CoreV1().Secrets(name.Namespace)
	have, err := m.copies.Secrets(name.Namespace).Get(name.Name)
	if err != nil && !apierrors.IsNotFound(err) {
		return err
	}
	missing := err != nil
	source, err := m.sources.ConfigMaps(name.Namespace).Get(name.Name)
	if apierrors.IsNotFound(err) && missing {
		return nil
	}
	if apierrors.IsNotFound(err) {
		// The copy may be newer than what the cache knows of sources.
		_, err := m.clients.CoreV1().ConfigMaps(name.Namespace).Get(ctx, name.Name, metav1.GetOptions{})
		if !apierrors.IsNotFound(err) {
			return err
		}
		same := metav1.NewUIDPreconditions(string(have.UID))
		err = api.Delete(ctx, name.Name, metav1.DeleteOptions{Preconditions: same})
		if apierrors.IsNotFound(err) {
			return nil
		}
		return err
	}
	if err != nil {
		return err
	}
	data := map[string][]byte{}
	for k, v := range source.Data {
		data[k] = []byte(v)
	}
	if missing {
		fresh := &corev1.Secret{Data: data}
		fresh.Namespace, fresh.Name, fresh.Labels = name.Namespace, name.Name, map[string]string{mirrored: "yes"}
		_, err = api.Create(ctx, fresh, metav1.CreateOptions{})
		return err
	}
	if maps.EqualFunc(data, have.Data, func(a, b []byte) bool { return string(a) == string(b) }) {
		return nil
	}
	have = have.DeepCopy()
	have.Data = data
	_, err = api.Update(ctx, have, metav1.UpdateOptions{})
	return err
}

// runs adds the program as a process.
func (s *stage) runs(name string, main func(context.Context, kubernetes.Interface) error) {
	s.processes = append(s.processes, name)
	s.unfit = []string{"RacingRequeue"} // there is no controller
	s.Run(name, func(ctx context.Context, cfg *rest.Config) error {
		clients, err := kubernetes.NewForConfig(cfg)
		if err != nil {
			return err
		}
		return main(ctx, clients)
	}, sim.Options(ctrl.Options{Scheme: scheme}))
}

// mirrors is what users do with ConfigMaps, and what must become of that.
func (s *stage) mirrors() {
	s.promise()
	s.Eventually("the copies are those of the sources", func(h *history.History) error {
		want, have := map[string]string{}, map[string]string{}
		for _, o := range h.Objects("", "ConfigMap") {
			var c corev1.ConfigMap
			if o.Into(&c) == nil && c.Labels[mirrored] != "" {
				want[c.Name] = c.Data["text"]
			}
		}
		for _, o := range h.Objects("", "Secret") {
			var c corev1.Secret
			if o.Into(&c) == nil {
				have[c.Name] = string(c.Data["text"])
			}
		}
		if !maps.Equal(want, have) {
			return fmt.Errorf("the sources are %v and the copies %v", want, have)
		}
		return nil
	})
	source := func(name, text string) *corev1.ConfigMap {
		c := &corev1.ConfigMap{ObjectMeta: named(name), Data: map[string]string{"text": text}}
		c.Labels = map[string]string{mirrored: "yes"}
		return c
	}
	s.Apply(source("a", "red"), source("b", "blue"))
	s.Settle()
	s.Apply(source("a", "green"))
	s.Remove(source("b", ""))
	s.Settle()
	s.restart()
	s.Apply(source("b", "white"))
	s.Remove(source("a", ""))
	s.Settle()
}

func clientGo(w *stage) {
	w.runs("mirror", func(ctx context.Context, clients kubernetes.Interface) error {
		return (&mirror{clients: clients}).run(ctx)
	})
	w.disturb()
	w.mirrors()
}

func clientGoElection(w *stage) {
	for _, name := range []string{"one", "two"} {
		w.runs(name, func(ctx context.Context, clients kubernetes.Interface) error {
			ctx, cancel := context.WithCancel(ctx)
			defer cancel()
			var err error
			elector, wrong := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
				Lock: &resourcelock.LeaseLock{LeaseMeta: named("mirror"), Client: clients.CoordinationV1(),
					LockConfig: resourcelock.ResourceLockConfig{Identity: name}},
				LeaseDuration: 15 * time.Second, RenewDeadline: 10 * time.Second, RetryPeriod: 2 * time.Second,
				ReleaseOnCancel: true,
				Callbacks: leaderelection.LeaderCallbacks{
					OnStartedLeading: func(ctx context.Context) {
						err = (&mirror{clients: clients}).run(ctx)
						cancel()
					},
					OnStoppedLeading: func() {},
				},
			})
			if wrong != nil {
				return wrong
			}
			elector.Run(ctx)
			return err
		})
	}
	w.disturb(fault.LeaderOverlap())
	w.mirrors()
}

func managerElection(w *stage) {
	w.controllers = []string{"configurer"}
	for _, name := range []string{"one", "two"} {
		w.start(name, ctrl.Options{LeaderElection: true, LeaderElectionID: "configurer", LeaderElectionNamespace: ns,
			LeaderElectionReleaseOnCancel: true}, func(mgr ctrl.Manager) error {
			return configurer{mgr.GetClient()}.SetupWithManager(mgr, "configurer")
		})
	}
	w.disturb(fault.LeaderOverlap())
	w.promise()
	w.finally("the ConfigMap is up to date", "a", configured)
	w.usual()
}
