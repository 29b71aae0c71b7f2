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

func (i *Incarnation) manage(r manager.Runnable, name string) manager.Runnable {
	g := &managedController{leaderElected: leaderElected{r}, incarnation: i, name: name}
	if warmsUp(r) {
		g.over = make(chan struct{})
	}
	return g
}

// Warmup implements what controller-runtime calls before the process leads.
func (m *managedController) Warmup(ctx context.Context) error {
	if m.over == nil {
		return nil
	}
	defer close(m.over)
	return m.Runnable.(interface{ Warmup(context.Context) error }).Warmup(m.incarnation.attach(ctx))
}

// Start implements manager.Runnable.
func (m *managedController) Start(ctx context.Context) error {
	if m.over != nil {
		select {
		case <-m.over:
		case <-ctx.Done():
			return nil
		}
	}
	err := m.Runnable.Start(m.incarnation.attach(ctx))
	if !m.incarnation.Port.Dead() {
		m.pass()
	}
	return err
}

// pass waits for a step of its own.
func (m *managedController) pass() {
	granted := make(chan bool, 1)
	a := &sched.Action{
		Order: m.incarnation.Name() + " " + m.name + " ended",
		Actor: choice.Actor{Process: m.incarnation.Name(), Name: m.name + " ended"},
		What:  func() string { return "the end of controller " + m.name + " in " + m.incarnation.Name() },
		Do:    func() { granted <- true },
	}
	m.incarnation.block(a, granted, false)
	<-granted
	m.incarnation.unblock(a)
}

// leaderElected is a runnable that waits for leadership if the one in it does.
type leaderElected struct{ manager.Runnable }

// NeedLeaderElection implements manager.LeaderElectionRunnable. A runnable that does not implement
// it waits, as managers have it.
func (l leaderElected) NeedLeaderElection() bool {
	inner, ok := l.Runnable.(manager.LeaderElectionRunnable)
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
func (i *Incarnation) catchPanics(r manager.Runnable) manager.Runnable {
	sortLists(r)
	i.mu.Lock()
	i.runnables++
	n := i.runnables
	i.mu.Unlock()
	switch r := r.(type) {
	case clusterRunnable:
		return otherCluster{r, i, n}
	case *manager.Server, webhook.Server, interface{ Warmup(context.Context) error }:
		return r
	}
	return panicCatcher{leaderElected{r}, i, n}
}

// Start implements manager.Runnable.
func (p panicCatcher) Start(ctx context.Context) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &PanicError{Value: v, Stack: stack()}
		}
	}()
	p.incarnation.startInTurn(p.n)
	return p.Runnable.Start(p.incarnation.attach(ctx))
}
