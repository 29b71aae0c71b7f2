// This file is the program: it starts, watches, has a worker for each object, and ends. A worker
// knows only the newest event of its object.

package throttle

import (
	"context"
	"errors"
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
	k := &keeper{Operator: o, policy: policy, client: client, objects: map[types.UID]*object{}}
	k.fatal = make(chan error, 1)
	k.all.Go(func() {
		if err := k.watch(ctx); err != nil {
			k.die(fmt.Errorf("watching: %w", err)) // a watcher is a root task, and if one fails the operator stops
		}
	})
	select {
	case <-ctx.Done():
	case err = <-k.fatal:
	}
	cancel()
	done := make(chan struct{})
	var waiter sync.WaitGroup
	waiter.Go(func() {
		k.all.Wait()
		close(done)
	})
	select {
	case <-done:
	case <-time.After(drain):
	}
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

// object is what the operator remembers of one, as long as the incarnation lasts and the object
// exists.
type object struct {
	newest *unstructured.Unstructured // seen and not looked at
	queued bool                       // has a worker or waits for one
	fresh  chan struct{}              // signalled with every event
	// failures in a row, until when they delay the object, and with which generation of it the last
	// one came.
	failures int
	until    time.Time
	failed   int64
	// conflicts since something has succeeded.
	conflicts int
	// alarm numbers what was said last of when to come back; earlier alarms do not count.
	alarm int
	gone  bool
	// kept are outcomes that are not written down yet, by handler. Only the object's worker looks
	// at them.
	kept map[string]outcome
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
	if k.policy.fixed {
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

// event takes in what the watch says. What came before it and was not looked at is forgotten.
func (k *keeper) event(ctx context.Context, body *unstructured.Unstructured) {
	k.mu.Lock()
	defer k.mu.Unlock()
	o := k.objects[body.GetUID()]
	if o == nil {
		o = &object{fresh: make(chan struct{}, 1), kept: map[string]outcome{}}
		if k.policy.fixed {
			o.failures = failuresSaid(body)
		}
		k.objects[body.GetUID()] = o
	}
	k.handOut(ctx, o, body)
}

// handOut gives what is newest of an object to its worker, or to one to come. k.mu is held.
func (k *keeper) handOut(ctx context.Context, o *object, body *unstructured.Unstructured) {
	o.newest = body
	select {
	case o.fresh <- struct{}{}:
	default:
	}
	if !o.queued {
		o.queued = true
		k.waiting = append(k.waiting, o)
		k.hire(ctx)
	}
}

// hire starts workers for those who wait, as far as the cap allows. k.mu is held.
func (k *keeper) hire(ctx context.Context) {
	for len(k.waiting) > 0 && (k.Workers == 0 || k.running < k.Workers) {
		o := k.waiting[0]
		k.waiting = k.waiting[1:]
		k.running++
		k.all.Go(func() { k.work(ctx, o) })
	}
}

// keepOnly forgets the objects that a list does not have: the watch before it may have ended
// without a word of their end.
func (k *keeper) keepOnly(listed []unstructured.Unstructured) {
	there := map[types.UID]bool{}
	for i := range listed {
		there[listed[i].GetUID()] = true
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	for uid := range k.objects {
		if !there[uid] {
			k.remove(uid)
		}
	}
}

func (k *keeper) forget(body *unstructured.Unstructured) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.remove(body.GetUID())
}

// remove has nobody come back to an object. k.mu is held.
func (k *keeper) remove(uid types.UID) {
	if o := k.objects[uid]; o != nil {
		o.gone, o.newest = true, nil
		delete(k.objects, uid)
	}
}

// work is what a worker does. An error in what the operator itself wrote on the object is around
// the handlers.
func (k *keeper) work(ctx context.Context, o *object) {
	for body := k.next(ctx, o); body != nil; body = k.next(ctx, o) {
		if !k.policy.due(k, ctx, o, body) {
			continue
		}
		var wait time.Duration
		react := k.policy.around
		records, err := k.recall(body)
		if err == nil {
			react = k.policy.after
			wait, err = k.process(ctx, o, body, records)
		}
		switch {
		case errors.Is(err, errVanished):
			k.forget(body)
		case k.policy.fixed && apierrors.IsConflict(err) && k.outrun(o):
			k.comeBack(ctx, o, body, 0) // no failure: somebody was faster
		case err == nil:
			k.succeed(o)
			if wait > 0 {
				k.policy.wait(k, ctx, o, body, wait)
			}
		case ctx.Err() == nil:
			react(k, ctx, o, body, err)
		}
	}
}

// next waits for an event, gathers those that follow it closely, and takes the newest. It returns
// nil when the worker has ended, because it was idle for long enough or because the program ends.
func (k *keeper) next(ctx context.Context, o *object) *unstructured.Unstructured {
	idle := time.Now().Add(k.policy.idle)
	for {
		k.mu.Lock()
		pending := o.newest != nil
		if !pending && !time.Now().Before(idle) || ctx.Err() != nil {
			o.queued = false
			k.running--
			k.hire(ctx)
			k.mu.Unlock()
			return nil
		}
		k.mu.Unlock()
		if !pending {
			o.press(ctx, time.Until(idle))
			continue
		}
		if !pause(ctx, batch) {
			continue
		}
		k.mu.Lock()
		body := o.newest
		o.newest = nil
		select {
		case <-o.fresh:
		default:
		}
		k.mu.Unlock()
		if body != nil {
			return body
		}
	}
}

// press sleeps until d has passed, which it reports, or an event has come.
func (o *object) press(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-o.fresh:
	case <-ctx.Done():
	}
	return false
}

// pause sleeps, and reports false if ctx was done first.
func pause(ctx context.Context, d time.Duration) bool { return (&object{}).press(ctx, d) }
