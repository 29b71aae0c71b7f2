package process

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"

	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/sim/internal/sched"
	"github.com/wavetank/wavetank/sim/internal/wire"
)

// This file is the one place that relies on something that controller-runtime does not promise: the controller that
// arrives at Manager.Add has exported fields Name, Do, NewQueue, RateLimiter and RecoverPanic. Their types are public, their struct
// is not, so they are set by reflection. hinge_test.go fails with an explanation when that changes.

// controllerFields are the fields of one controller that the observers take the place of.
type controllerFields struct {
	name     string
	do       reflect.Value // reconcile.TypedReconciler[request]
	newQueue reflect.Value // func(string, rateLimiter) workQueue
	limiter  reflect.Value // rateLimiter
	dies     bool          // RecoverPanic is false: a panic ends the process
}

// errNoHinge explains what to do when controller-runtime has moved.
var errNoHinge = errors.New("wavetank: this version of controller-runtime keeps a controller's Do, NewQueue and RateLimiter elsewhere; " +
	"use controller-runtime v0.25, or update sim/internal/process/hinge.go")

// structOf is controller-runtime's own struct if r is one of its controllers.
func structOf(r manager.Runnable) (v reflect.Value, is bool) {
	v = reflect.ValueOf(r)
	if v.Kind() != reflect.Pointer || v.Elem().Kind() != reflect.Struct {
		return v, false
	}
	v = v.Elem()
	return v, v.Type().PkgPath() == "sigs.k8s.io/controller-runtime/pkg/internal/controller"
}

// fieldsOf finds the fields if r is a controller over reconcile.Request; ok is false for any other runnable.
func fieldsOf(r manager.Runnable) (f controllerFields, ok bool, err error) {
	if _, is := r.(reconcile.TypedReconciler[request]); !is {
		return f, false, nil
	}
	v, is := structOf(r)
	if !is {
		return f, false, nil // a runnable of the user's that happens to have a Reconcile method
	}
	f = controllerFields{do: v.FieldByName("Do"), newQueue: v.FieldByName("NewQueue"), limiter: v.FieldByName("RateLimiter")}
	name := v.FieldByName("Name")
	for _, field := range []reflect.Value{name, f.do, f.newQueue, f.limiter, v.FieldByName("RecoverPanic")} {
		if !field.IsValid() || !field.CanSet() {
			return f, false, errNoHinge
		}
	}
	if _, fits := f.newQueue.Interface().(func(string, rateLimiter) workQueue); !fits {
		return f, false, errNoHinge
	}
	f.name = name.String()
	if recovers, is := v.FieldByName("RecoverPanic").Interface().(*bool); is {
		f.dies = recovers != nil && !*recovers
	}
	return f, true, nil
}

// otherwise finds the name of a controller whose requests are of a type of the operator's own. Its queue is generic code that
// nobody has instantiated here, so it cannot be observed.
func otherwise(r manager.Runnable) (name string, is bool) {
	v, is := structOf(r)
	if !is {
		return "", false
	}
	n, do := v.FieldByName("Name"), v.FieldByName("Do")
	if !n.IsValid() || !do.IsValid() {
		return "", false
	}
	return fmt.Sprintf("controller %q (%s)", n.String(), do.Type()), true
}

// Unseen names the controllers that could not be observed.
func (w *World) Unseen() (out []string) {
	for _, l := range w.lives {
		l.mu.Lock()
		for _, name := range l.unseen {
			if !slices.Contains(out, name) {
				out = append(out, name)
			}
		}
		l.mu.Unlock()
	}
	return out
}

// warmsUp says whether r is a controller that starts its sources before it leads.
func warmsUp(r manager.Runnable) bool {
	v, is := structOf(r)
	if !is {
		return false
	}
	f := v.FieldByName("EnableWarmup")
	if !f.IsValid() {
		return false // a version that has no warm-up
	}
	warm, ok := f.Interface().(*bool)
	return ok && warm != nil && *warm
}

// hook puts the observers into a controller that is being added to a manager, and returns what to add in its place.
func (l *Life) hook(r manager.Runnable) (manager.Runnable, error) {
	f, ok, err := fieldsOf(r)
	if err != nil {
		return r, err
	}
	if !ok {
		if name, is := otherwise(r); is {
			l.mu.Lock()
			l.unseen = append(l.unseen, fmt.Sprintf("%s of process %q", name, l.Process.Name))
			l.mu.Unlock()
			return l.guard(r, name), nil // it may warm up
		}
		return l.caught(r), nil
	}
	l.mu.Lock()
	l.hooked = append(l.hooked, &hooked{name: f.name, runnable: r})
	at := l.hooked[len(l.hooked)-1]
	l.mu.Unlock()
	lim := &limiter{rateLimiter: f.limiter.Interface().(rateLimiter)}
	newQueue := f.newQueue.Interface().(func(string, rateLimiter) workQueue)
	var q *queue
	f.limiter.Set(reflect.ValueOf(rateLimiter(lim)))
	f.newQueue.Set(reflect.ValueOf(func(name string, rl rateLimiter) workQueue {
		observed := l.observe(name, newQueue(name, rl))
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
				q.working = l.world.Sched.Now()
				q.mu.Unlock()
				l.world.Sched.Wake()
			}
		}
		return observed
	}))
	inner := f.do.Interface().(reconcile.TypedReconciler[request])
	f.do.Set(reflect.ValueOf(reconcile.TypedReconciler[request](reconcile.Func(
		func(ctx context.Context, req request) (reconcile.Result, error) {
			return l.reconcile(ctx, q, inner, req, f.dies)
		}))))
	return l.guard(r, f.name), nil
}

// hooked is a controller that was added to a manager of the life.
type hooked struct {
	name     string
	runnable manager.Runnable
	working  atomic.Bool // a worker has asked for its first key
}

// waitsForLease says whether the controller starts only in the leader.
func (h *hooked) waitsForLease() bool {
	r, ok := h.runnable.(manager.LeaderElectionRunnable)
	return !ok || r.NeedLeaderElection()
}

type reconcileName struct{}

// Attribute names the reconcile that a context belongs to; "" for none.
func Attribute(ctx context.Context) string {
	name, _ := ctx.Value(reconcileName{}).(string)
	return name
}

// reconcile runs the user's reconciler and records how it ended. A panic goes on to controller-runtime, which recovers it,
// or ends the life where controller-runtime would let it end the process (dies).
func (l *Life) reconcile(ctx context.Context, q *queue, inner reconcile.TypedReconciler[request], req request, dies bool) (res reconcile.Result, err error) {
	q.mu.Lock()
	name := q.key(req).name
	q.mu.Unlock()
	ctx = l.own(context.WithValue(ctx, reconcileName{}, name))
	finished := false
	defer func() {
		q.mu.Lock()
		q.key(req).ended = l.world.Sched.Now()
		q.mu.Unlock()
		outcome := outcomeOf(res, err)
		var wait history.Time
		if res.RequeueAfter > 0 && err == nil {
			wait = res.RequeueAfter
		}
		if finished {
			l.world.Sched.Note(l.Name()+" "+name, func() { l.finished(q, req, name, outcome, wait) })
			return
		}
		if r := recover(); r == nil {
			outcome = "the goroutine exited"
		} else if outcome = repeatable(fmt.Sprintf("panic: %v", r)); dies {
			err = l.die(func() { l.finished(q, req, name, outcome, 0) }, name)
			return
		} else {
			defer panic(r)
		}
		l.world.Sched.Note(l.Name()+" "+name, func() { l.finished(q, req, name, outcome, 0) })
	}()
	res, err = inner.Reconcile(ctx, req)
	finished = true
	return res, err
}

// die ends the life from within one of its goroutines, which stays where it is until the run ends.
func (l *Life) die(last func(), order string) error {
	gone := make(chan bool, 1)
	l.mu.Lock()
	released := l.released
	l.handouts = append(l.handouts, handout{&sched.Action{}, gone, false})
	l.mu.Unlock()
	if !released {
		l.world.Sched.Note(l.Name()+" "+order, func() { last(); l.Kill() })
		<-gone
	}
	return wire.ErrDead
}

// addresses are what Go prints of pointers. They are never the same in two runs.
var addresses = regexp.MustCompile(`0x[0-9a-f]{6,}`)

// repeatable is a message without them.
func repeatable(message string) string {
	if !strings.Contains(message, "0x") {
		return message
	}
	return addresses.ReplaceAllString(message, "0x…")
}

func outcomeOf(res reconcile.Result, err error) string {
	switch {
	case errors.Is(err, reconcile.TerminalError(nil)):
		return "terminal error: " + repeatable(err.Error())
	case err != nil:
		return "error: " + repeatable(err.Error())
	case res.RequeueAfter > 0:
		return "requeue after " + res.RequeueAfter.String()
	case res.Requeue: //nolint:staticcheck // operators still use it
		return "requeue"
	}
	return "ok"
}

func (l *Life) finished(q *queue, req request, name, outcome string, wait history.Time) {
	q.mu.Lock()
	if k := q.key(req); k.name == name {
		k.name = ""
		if k.timer == nil && k.held+len(k.causes) == 0 { // what was put off is not wanted any more
			clear(k.owed)
		}
	}
	q.mu.Unlock()
	if l.Port.Dead() {
		return
	}
	w := l.world
	w.History.Add(history.Event{
		Step: w.Sched.Steps(), At: w.Sched.Now(), Kind: history.Done, Process: l.Process.Name, Life: l.N,
		Reconcile: name, Outcome: outcome, Wait: wait, Server: w.Wire.Server().Revision(),
	})
}
