// This file is the program: it starts, watches, and ends.

package throttle

import (
	"context"
	"fmt"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
)

// Examples is the kind that the operator serves.
var Examples = schema.GroupVersionResource{Group: "kopf.dev", Version: "v1", Resource: "kopfexamples"}

// Timing of the framework; the original's.
const (
	reopen = 100 * time.Millisecond // before a watch that has ended is opened again
	batch  = 100 * time.Millisecond // for which events of an object are gathered; only the newest counts
	drain  = 2 * time.Second        // that the workers have to finish when the program ends
)

// Operator is a program that calls handlers for every object of its kind.
type Operator struct {
	Variant  Variant
	Handlers []Handler
	// Workers is how many objects are looked after at a time; 0 for any number.
	Workers int
}

// Run is the operator's main. It returns when ctx is done, or with the error for which the process
// must end.
func (o *Operator) Run(ctx context.Context, config *rest.Config) error {
	policy, err := o.Variant.policy()
	if err != nil {
		return err
	}
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	k := &keeper{
		Operator: o, policy: policy, client: client, objects: map[types.UID]*object{}, fatal: make(chan error, 1),
	}
	k.all.Go(func() {
		if err := k.watch(ctx); err != nil {
			// As in every variant: a watcher is a root task, and if one fails the operator stops.
			k.die(fmt.Errorf("watching: %w", err))
		}
	})
	select {
	case <-ctx.Done():
	case err = <-k.fatal:
	}
	cancel()
	k.join(drain)
	return err
}

// keeper is one incarnation of the operator.
type keeper struct {
	*Operator
	policy policy
	client dynamic.Interface
	fatal  chan error
	all    sync.WaitGroup // goroutines

	mu      sync.Mutex // guards what follows, and the objects; never held over a call
	objects map[types.UID]*object
	running int
	waiting []*object // for a worker, in the order in which they came
}

// join waits for every goroutine, but not for longer than d.
func (k *keeper) join(d time.Duration) {
	done := make(chan struct{})
	var waiter sync.WaitGroup
	waiter.Go(func() {
		k.all.Wait()
		close(done)
	})
	select {
	case <-done:
	case <-time.After(d):
	}
}

// die has the process end. Only the first error counts.
func (k *keeper) die(err error) {
	select {
	case k.fatal <- err:
	default:
	}
}

// watch lists and watches for ever. A watch that ends, or is too old, is followed by another full
// list; any other error is the end of it.
func (k *keeper) watch(ctx context.Context) error {
	for ctx.Err() == nil {
		if err := k.listAndWatch(ctx); err != nil && !apierrors.IsResourceExpired(err) && !apierrors.IsGone(err) {
			return err
		}
		pause(ctx, reopen)
	}
	return nil
}

func (k *keeper) listAndWatch(ctx context.Context) error {
	var list *unstructured.UnstructuredList
	err := k.patiently(ctx, func() (err error) {
		list, err = k.client.Resource(Examples).List(ctx, metav1.ListOptions{})
		return err
	})
	if err != nil {
		return err
	}
	if k.policy.classify {
		k.keepOnly(list.Items)
	}
	for i := range list.Items {
		k.event(ctx, &list.Items[i])
	}
	var w watch.Interface
	err = k.patiently(ctx, func() (err error) {
		w, err = k.client.Resource(Examples).Watch(ctx, metav1.ListOptions{ResourceVersion: list.GetResourceVersion()})
		return err
	})
	if err != nil {
		return err
	}
	defer w.Stop()
	for e := range w.ResultChan() {
		switch e.Type {
		case watch.Added, watch.Modified:
			k.event(ctx, e.Object.(*unstructured.Unstructured))
		case watch.Deleted:
			k.forget(e.Object.(*unstructured.Unstructured))
		case watch.Error:
			return apierrors.FromObject(e.Object)
		}
	}
	return nil
}

// pause sleeps, and reports false if ctx was done first.
func pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
