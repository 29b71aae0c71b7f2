package process

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"sync"

	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/webhook"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/sim/internal/wire"
)

// controllers are the controllers of an incarnation, with their queues, and the other runnables
// that were added to its managers.
type controllers struct {
	*waiters
	caches   *caches
	pauses   *pauses
	kill     func()                                          // ends the incarnation at once
	dequeued func(controller string, item reconcile.Request) // see [Observer]

	mu         sync.Mutex
	queues     []*queue
	observed   []*observedController
	unobserved []string // controllers that cannot be observed
	runnables  int      // of the program's own
}

// observe puts the observers into a controller that is added to a manager, and returns
// what to add in its place.
func (c *controllers) observe(r manager.Runnable) (manager.Runnable, error) {
	f, ok, err := fieldsOf(r)
	if err != nil {
		return r, err
	}
	if !ok {
		if name, is := unobservable(r); is {
			c.mu.Lock()
			c.unobserved = append(c.unobserved, fmt.Sprintf("%s of process %q", name, c.Port.Process))
			c.mu.Unlock()
			return c.manage(r, name), nil // it may warm up
		}
		return c.catchPanics(r), nil
	}
	at := &observedController{name: f.name, runnable: r}
	c.mu.Lock()
	c.observed = append(c.observed, at)
	c.mu.Unlock()
	lim := &limiter{rateLimiter: f.limiter.Interface().(rateLimiter)}
	newQueue := f.newQueue.Interface().(func(string, rateLimiter) workQueue)
	f.limiter.Set(reflect.ValueOf(rateLimiter(lim)))
	f.newQueue.Set(reflect.ValueOf(func(name string, rl rateLimiter) workQueue {
		var observed workQueue
		observed, lim.q = c.observeQueue(at, newQueue(queueName(newQueue, name), rl))
		return observed
	}))
	inner := f.do.Interface().(reconcile.TypedReconciler[request])
	f.do.Set(reflect.ValueOf(reconcile.TypedReconciler[request](reconcile.Func(
		func(ctx context.Context, req request) (reconcile.Result, error) {
			return c.reconcile(ctx, lim.q, inner, req, f.dies)
		}))))
	return c.manage(r, f.name), nil
}

// observeQueue puts the observer around the queue of a controller.
func (c *controllers) observeQueue(of *observedController, inner workQueue) (workQueue, *queue) {
	p, priority := inner.(priorityqueue.PriorityQueue[request])
	q := &queue{
		workQueue: inner, priority: p, waiters: c.waiters, pauses: c.pauses, controller: of,
		seen: c.caches.versionsSeen, dequeued: c.dequeued, keys: newKeys(of.name, priority),
	}
	c.mu.Lock()
	c.queues = append(c.queues, q)
	c.mu.Unlock()
	if priority {
		return priorityQueue{q}, q
	}
	return q, q
}

// reconcile runs the operator's reconciler and records how it ended. controller-runtime recovers
// its panic. If dies is set, the panic would end the operator's process there, so it ends the
// incarnation.
func (c *controllers) reconcile(
	ctx context.Context, q *queue, inner reconcile.TypedReconciler[request], req request, dies bool,
) (res reconcile.Result, err error) {
	var name history.Reconcile
	q.with(req, func(k *key) { name = k.name })
	ctx = c.attach(context.WithValue(ctx, reconcileName{}, name))
	if c.NoteReads {
		ctx = wire.WithReads(ctx)
	}
	finished := false
	defer func() {
		q.with(req, func(k *key) { k.ended = c.Sched.Now() })
		outcome, order := outcomeOf(res, err), c.Name()+" "+name.String()
		reads := wire.TakeReads(ctx)
		if finished {
			c.Sched.Note(order, func() { c.finished(q, req, name, outcome, "", reads) })
			return
		}
		source := wire.Source()
		outcome = history.Outcome{Kind: history.OutcomeGoroutineExit}
		if r := recover(); r != nil {
			outcome = history.Outcome{Kind: history.OutcomePanic, Text: repeatable(fmt.Sprint(r))}
			if dies {
				c.stay(order, func() {
					c.finished(q, req, name, outcome, source, reads)
					c.kill()
				})
				err = wire.ErrDead
				return
			}
			defer panic(r)
		}
		c.Sched.Note(order, func() { c.finished(q, req, name, outcome, source, reads) })
	}()
	res, err = inner.Reconcile(ctx, req)
	finished = true
	return res, err
}

func outcomeOf(res reconcile.Result, err error) history.Outcome {
	switch {
	case errors.Is(err, reconcile.TerminalError(nil)):
		return history.Outcome{Kind: history.OutcomeTerminalFailure, Text: repeatable(err.Error())}
	case err != nil:
		return history.Outcome{Kind: history.OutcomeFailure, Text: repeatable(err.Error())}
	case res.RequeueAfter > 0:
		return history.Outcome{Kind: history.OutcomeRequeueAfter, After: res.RequeueAfter}
	case res.Requeue: //nolint:staticcheck // operators still use it
		return history.Outcome{Kind: history.OutcomeRequeue}
	}
	return history.Outcome{Kind: history.OutcomeSuccess}
}

// finished records the end of a reconcile. source is the line that panicked or ended the goroutine.
func (c *controllers) finished(
	q *queue, req request, name history.Reconcile, outcome history.Outcome, source string, reads []history.Read,
) {
	q.with(req, func(k *key) { k.finish(name) })
	if c.Port.Dead() {
		return
	}
	e := c.Wire.Event(c.Port, history.Done)
	e.Reconcile, e.Outcome, e.Wait, e.Source, e.Reads = name, outcome, outcome.After, source, reads
	c.History.Add(e)
}

// manage returns what to add to a manager in place of a controller.
func (c *controllers) manage(r manager.Runnable, name string) manager.Runnable {
	g := &managedController{leaderElected: leaderElected{r}, waiters: c.waiters, name: name}
	if warmsUp(r) {
		g.over = make(chan struct{})
	}
	return g
}

// catchPanics returns what to add to a manager in place of r. It is r itself where its type decides
// how it is run.
func (c *controllers) catchPanics(r manager.Runnable) manager.Runnable {
	sortLists(r)
	c.mu.Lock()
	c.runnables++
	n := c.runnables
	c.mu.Unlock()
	switch r := r.(type) {
	case clusterRunnable:
		return otherCluster{r, c.caches.turns, n}
	case *manager.Server, webhook.Server, interface{ Warmup(context.Context) error }:
		return r
	}
	return panicCatcher{leaderElected{r}, c.caches.turns, n}
}

// all are the queues so far.
func (c *controllers) all() []*queue {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.queues
}

// flush passes held adds to the queues. It is called at each quiet moment, and reports whether a
// goroutine can continue because of that.
func (c *controllers) flush() (woke bool) {
	for _, q := range c.all() {
		woke = q.flush() || woke
	}
	return woke
}

// close shuts those queues down that wait for a quiet moment to do so.
func (c *controllers) close(wait func()) {
	for slices.ContainsFunc(c.all(), (*queue).close) {
		wait()
	}
}

// starting is a controller that has no worker yet and will have; "" if there is none. led says that
// the incarnation leads.
func (c *controllers) starting(led bool) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, o := range c.observed {
		if !o.working.Load() && (led || !o.waitsForLease()) {
			return o.name
		}
	}
	return ""
}

// unobservable names the controllers that cannot be observed.
func (c *controllers) unobservable() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.unobserved
}
