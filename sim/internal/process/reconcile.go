package process

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/sim/internal/sched"
	"github.com/wavetank/wavetank/sim/internal/wire"
)

// observeController puts the observers into a controller that is added to a manager, and returns
// what to add in its place.
func (i *Incarnation) observeController(r manager.Runnable) (manager.Runnable, error) {
	f, ok, err := fieldsOf(r)
	if err != nil {
		return r, err
	}
	if !ok {
		if name, is := unobservable(r); is {
			i.mu.Lock()
			i.unobserved = append(i.unobserved, fmt.Sprintf("%s of process %q", name, i.Process.Name))
			i.mu.Unlock()
			return i.manage(r, name), nil // it may warm up
		}
		return i.catchPanics(r), nil
	}
	i.mu.Lock()
	i.hooked = append(i.hooked, &observedController{name: f.name, runnable: r})
	at := i.hooked[len(i.hooked)-1]
	i.mu.Unlock()
	lim := &limiter{rateLimiter: f.limiter.Interface().(rateLimiter)}
	newQueue := f.newQueue.Interface().(func(string, rateLimiter) workQueue)
	var q *queue
	f.limiter.Set(reflect.ValueOf(rateLimiter(lim)))
	f.newQueue.Set(reflect.ValueOf(func(name string, rl rateLimiter) workQueue {
		observed := i.observe(name, newQueue(queueName(newQueue, name), rl))
		switch o := observed.(type) {
		case priorityQueue:
			q = o.queue
		case *queue:
			q = o
		}
		lim.q, q.hooked = q, at
		q.onGet = func() {
			if !at.working.Swap(true) {
				q.mu.Lock()
				q.working = i.world.Sched.Now()
				q.mu.Unlock()
				i.world.Sched.Wake()
			}
		}
		return observed
	}))
	inner := f.do.Interface().(reconcile.TypedReconciler[request])
	f.do.Set(reflect.ValueOf(reconcile.TypedReconciler[request](reconcile.Func(
		func(ctx context.Context, req request) (reconcile.Result, error) {
			return i.reconcile(ctx, q, inner, req, f.dies)
		}))))
	return i.manage(r, f.name), nil
}

// waitsForLease reports whether the controller starts only in the leader.
func (o *observedController) waitsForLease() bool {
	r, ok := o.runnable.(manager.LeaderElectionRunnable)
	return !ok || r.NeedLeaderElection()
}

// Unobserved names the controllers that could not be observed.
func (s *Supervisor) Unobserved() (out []string) {
	for _, l := range s.incarnations {
		l.mu.Lock()
		for _, name := range l.unobserved {
			if !slices.Contains(out, name) {
				out = append(out, name)
			}
		}
		l.mu.Unlock()
	}
	return out
}

// reconcile runs the operator's reconciler and records how it ended. controller-runtime recovers
// its panic. If dies is set, the panic would end the operator's process there, so it ends the
// incarnation.
func (i *Incarnation) reconcile(
	ctx context.Context, q *queue, inner reconcile.TypedReconciler[request], req request, dies bool,
) (res reconcile.Result, err error) {
	q.mu.Lock()
	name := q.key(req).name
	q.mu.Unlock()
	ctx = i.attach(context.WithValue(ctx, reconcileName{}, name))
	finished := false
	defer func() {
		q.mu.Lock()
		q.key(req).ended = i.world.Sched.Now()
		q.mu.Unlock()
		outcome, order := outcomeOf(res, err), i.Name()+" "+name.String()
		if finished {
			i.world.Sched.Note(order, func() { i.finished(q, req, name, outcome, "") })
			return
		}
		source := wire.Source()
		outcome = history.Outcome{Kind: history.OutcomeGoroutineExit}
		if r := recover(); r != nil {
			outcome = history.Outcome{Kind: history.OutcomePanic, Text: repeatable(fmt.Sprint(r))}
			if dies {
				err = i.die(func() { i.finished(q, req, name, outcome, source) }, order)
				return
			}
			defer panic(r)
		}
		i.world.Sched.Note(order, func() { i.finished(q, req, name, outcome, source) })
	}()
	res, err = inner.Reconcile(ctx, req)
	finished = true
	return res, err
}

// die ends the incarnation from one of its goroutines, which stays blocked until the run ends.
func (i *Incarnation) die(last func(), order string) error {
	gone := make(chan bool, 1)
	i.mu.Lock()
	released := i.released
	i.waiters = append(i.waiters, waiter{&sched.Action{}, gone, false})
	i.mu.Unlock()
	if !released {
		i.world.Sched.Note(order, func() { last(); i.Kill() })
		<-gone
	}
	return wire.ErrDead
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
func (i *Incarnation) finished(
	q *queue, req request, name history.Reconcile, outcome history.Outcome, source string,
) {
	q.mu.Lock()
	if k := q.key(req); k.name == name {
		k.name = history.Reconcile{}
		if k.timer == nil && k.held+len(k.causes) == 0 { // what was put off is not wanted any more
			clear(k.owed)
		}
	}
	q.mu.Unlock()
	if i.Port.Dead() {
		return
	}
	e := i.event(history.Done)
	e.Reconcile, e.Outcome, e.Wait, e.Source = name, outcome, outcome.After, source
	i.world.History.Add(e)
}
