package process

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/sim/internal/child"
	"github.com/wavetank/wavetank/sim/internal/choice"
	"github.com/wavetank/wavetank/sim/internal/sched"
	"github.com/wavetank/wavetank/sim/internal/wire"
)

// far is the world's side of an incarnation that is an operating system process of its own. What
// waits there, such as the dequeue of a key, waits in the world's scheduler, too.
type far struct {
	*core
	exit     func(error)
	crash    func()
	dequeued func(controller string, item reconcile.Request)

	child   *child.Process
	waiting map[int64]*sched.Action
	timers  []string // dequeues that wait for timers
}

// startupTime is how long an incarnation may take to begin.
const startupTime = time.Minute

// answerTime is how long an incarnation may take to become quiet.
const answerTime = 20 * time.Second

// launch starts the process and waits until the program runs.
func (f *far) launch() {
	var err error
	f.child, err = child.Start(f.Children.Command(), func(ctx context.Context, s wire.Sent, answer func(wire.Answer)) {
		f.Port.Carry(context.WithValue(ctx, reconcileName{}, s.Reconcile), s, answer)
	}, f.Sched.Wake)
	if err != nil {
		f.Children.Refused(fmt.Sprintf("a process for %s does not start: %v", f.Name(), err))
		return
	}
	l := f.Children.Launch
	l.Process, l.Incarnation, l.Now = f.Port.Process, f.Port.Incarnation, f.Sched.Now()
	r := f.child.Ask(child.Message{Launch: &l}, startupTime)
	if r == nil {
		f.Children.Refused(fmt.Sprintf("the process of %s does not begin:\n%s", f.Name(), f.child.Output()))
		return
	}
	f.apply(r)
}

// turn has the incarnation do something. It reports whether the program has sent a request.
func (f *far) turn(t child.Turn) (woke bool) {
	if f.child == nil || f.Port.Dead() {
		return false
	}
	before := f.child.Arrived()
	t.Now = f.Sched.Now()
	if c, ok := f.Sched.Current().(history.Cause); ok {
		t.Cause = &c
	}
	r := f.child.Ask(child.Message{Turn: &t}, answerTime)
	if r == nil {
		f.exit(&child.Exit{Message: "its process has ended: " + f.child.Stop()})
		return true
	}
	f.apply(r)
	return before != f.child.Arrived()
}

// apply makes what waits in the incarnation, and what has happened there, known to the world.
func (f *far) apply(r *child.Report) {
	if r.Refused != "" {
		f.Children.Refused(r.Refused)
		return
	}
	for _, e := range r.Events {
		e.Step, e.At, e.Server = f.Sched.Steps(), f.Sched.Now(), f.Wire.Revision()
		f.History.Add(e)
		if e.Kind == history.Dequeue {
			f.Sched.SetCurrent(history.Cause{Kind: history.CauseReconcile, Of: e.Reconcile.String()})
			f.dequeued(e.Reconcile.Controller, request{NamespacedName: types.NamespacedName{
				Namespace: e.Reconcile.Namespace, Name: e.Reconcile.Name}})
		}
		if f.Port.Dead() {
			return // a fault has ended it
		}
	}
	f.timers = r.Timers
	there := map[int64]bool{}
	for _, a := range r.Actions {
		there[a.ID] = true
		if f.waiting[a.ID] == nil {
			f.waiting[a.ID] = f.action(a)
			f.Sched.Park(f.waiting[a.ID])
		}
	}
	for id, a := range f.waiting {
		if !there[id] {
			f.Sched.Drop(a)
			delete(f.waiting, id)
		}
	}
	switch {
	case r.Crashed:
		f.crash()
	case r.Exit != nil && r.Exit.Panic != "":
		f.exit(&PanicError{Value: r.Exit.Panic, Stack: r.Exit.Stack})
	case r.Exit != nil && r.Exit.Message == "":
		f.exit(nil)
	case r.Exit != nil:
		f.exit(r.Exit)
	}
}

// action is what waits in the incarnation, for the world's scheduler.
func (f *far) action(a child.Action) *sched.Action {
	out := &sched.Action{Order: a.Order, Actor: choice.Actor{Process: a.Actor, Name: a.Of}, Idle: a.Idle,
		Chatter: a.Chatter, What: func() string { return a.Words }, Do: func() { f.turn(child.Turn{Perform: a.ID}) }}
	if a.HasDetail {
		out.Detail = func() string { return a.Detail }
	}
	return out
}

// kill ends the process.
func (f *far) kill() {
	if f.child == nil {
		return // it has not started
	}
	for _, a := range f.waiting {
		f.Sched.Drop(a)
	}
	clear(f.waiting)
	f.child.Kill()
}
