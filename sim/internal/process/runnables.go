package process

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/webhook"

	"github.com/wavetank/wavetank/sim/internal/choice"
	"github.com/wavetank/wavetank/sim/internal/sched"
)

// managedController is a controller as its manager sees it. It orders two events whose order the
// runtime would choose otherwise:
//
//   - With EnableWarmup, Start waits for a mutex that Warmup holds until the caches have synced. A
//     world with a goroutine that waits for a mutex never goes quiet. So Start is called when
//     Warmup has returned; it would have waited as long.
//   - When the process ends gracefully, the manager learns of the end of the last reconcile one
//     step later. Otherwise what that reconcile still has in flight, such as an Event, would race
//     with the manager's end.
type managedController struct {
	leaderElected
	incarnation *Incarnation
	name        string
	over        chan struct{} // closed when Warmup has returned; nil for a controller that does not warm up
}

func (l *Incarnation) manage(r manager.Runnable, name string) manager.Runnable {
	g := &managedController{leaderElected: leaderElected{r}, incarnation: l, name: name}
	if warmsUp(r) {
		g.over = make(chan struct{})
	}
	return g
}

// Warmup implements what controller-runtime calls before the process leads.
func (g *managedController) Warmup(ctx context.Context) error {
	if g.over == nil {
		return nil
	}
	defer close(g.over)
	return g.Runnable.(interface{ Warmup(context.Context) error }).Warmup(g.incarnation.attach(ctx))
}

// Start implements manager.Runnable.
func (g *managedController) Start(ctx context.Context) error {
	if g.over != nil {
		select {
		case <-g.over:
		case <-ctx.Done():
			return nil
		}
	}
	err := g.Runnable.Start(g.incarnation.attach(ctx))
	if !g.incarnation.Port.Dead() {
		g.pass()
	}
	return err
}

// pass waits for a step of its own.
func (g *managedController) pass() {
	granted := make(chan bool, 1)
	a := &sched.Action{
		Order: g.incarnation.Name() + " " + g.name + " ended",
		Actor: choice.Actor{Process: g.incarnation.Name(), Name: g.name + " ended"},
		What:  func() string { return "the end of controller " + g.name + " in " + g.incarnation.Name() },
		Do:    func() { granted <- true },
	}
	g.incarnation.block(a, granted, false)
	<-granted
	g.incarnation.unblock(a)
}

// leaderElected is a runnable that waits for leadership if the one in it does.
type leaderElected struct{ manager.Runnable }

// NeedLeaderElection implements manager.LeaderElectionRunnable. A runnable that does not implement
// it waits, as managers have it.
func (r leaderElected) NeedLeaderElection() bool {
	inner, ok := r.Runnable.(manager.LeaderElectionRunnable)
	return !ok || inner.NeedLeaderElection()
}

// panicCatcher is a runnable of the operator's own whose panic ends its process and not the test
// binary. The manager's context comes from nowhere; the runnable gets one of the incarnation.
type panicCatcher struct {
	leaderElected
	incarnation *Incarnation
	n           int // of the runnables that were added
}

// catchPanics returns what to add to a manager in place of r. It is r itself where its type decides
// how it is run.
func (l *Incarnation) catchPanics(r manager.Runnable) manager.Runnable {
	sortLists(r)
	l.mu.Lock()
	l.runnables++
	n := l.runnables
	l.mu.Unlock()
	switch r := r.(type) {
	case clusterRunnable:
		return otherCluster{r, l, n}
	case *manager.Server, webhook.Server, interface{ Warmup(context.Context) error }:
		return r
	}
	return panicCatcher{leaderElected{r}, l, n}
}

// Start implements manager.Runnable.
func (c panicCatcher) Start(ctx context.Context) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &PanicError{Value: v, Stack: stack()}
		}
	}()
	c.incarnation.startInTurn(c.n)
	return c.Runnable.Start(c.incarnation.attach(ctx))
}
