package process

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/webhook"

	"github.com/wavetank/wavetank/sim/internal/sched"
)

// guarded is a controller as its manager sees it. Two things happen where the runtime would choose an order:
//
//   - With EnableWarmup, Start waits for a mutex that Warmup holds until the caches have synced, and a world with a
//     goroutine that waits for a mutex never goes quiet. So Start is called when Warmup is over; it would have waited as
//     long.
//   - When the program ends gracefully, the manager learns of the end of the last reconcile a step later. Otherwise what
//     that reconcile still had under way, an Event for one, would race with the manager's end.
type guarded struct {
	led
	life *Life
	name string
	over chan struct{} // closed when Warmup has returned; nil for a controller that does not warm up
}

func (l *Life) guard(r manager.Runnable, name string) manager.Runnable {
	g := &guarded{led: led{r}, life: l, name: name}
	if warmsUp(r) {
		g.over = make(chan struct{})
	}
	return g
}

// Warmup implements what controller-runtime calls before the process leads.
func (g *guarded) Warmup(ctx context.Context) error {
	if g.over == nil {
		return nil
	}
	defer close(g.over)
	return g.Runnable.(interface{ Warmup(context.Context) error }).Warmup(g.life.own(ctx))
}

// Start implements manager.Runnable.
func (g *guarded) Start(ctx context.Context) error {
	if g.over != nil {
		select {
		case <-g.over:
		case <-ctx.Done():
			return nil
		}
	}
	err := g.Runnable.Start(g.life.own(ctx))
	if !g.life.Port.Dead() {
		g.pass()
	}
	return err
}

// pass waits for a step of its own.
func (g *guarded) pass() {
	granted := make(chan bool, 1)
	a := &sched.Action{
		Order: g.life.Name() + " " + g.name + " ended",
		What:  func() string { return "the end of controller " + g.name + " in " + g.life.Name() },
		Do:    func() { granted <- true },
	}
	g.life.parkHandout(a, granted, false)
	<-granted
	g.life.unparkHandout(a)
}

// led is a runnable that waits for leadership if the one in it does.
type led struct{ manager.Runnable }

// NeedLeaderElection implements manager.LeaderElectionRunnable, with what a manager assumes of those that do not.
func (r led) NeedLeaderElection() bool {
	inner, ok := r.Runnable.(manager.LeaderElectionRunnable)
	return !ok || inner.NeedLeaderElection()
}

// catcher is a runnable of the operator's own, whose panic ends its program and not the test binary. The manager
// gives it a context that comes from nowhere, and the catcher one of the incarnation.
type catcher struct {
	led
	life *Life
}

// caught returns what to add to a manager in the place of r: r itself where its type decides how it is run.
func (l *Life) caught(r manager.Runnable) manager.Runnable {
	sortLists(r)
	switch r := r.(type) {
	case caching:
		return foreign{r, l}
	case *manager.Server, webhook.Server, interface{ Warmup(context.Context) error }:
		return r
	}
	return catcher{led{r}, l}
}

// Start implements manager.Runnable.
func (c catcher) Start(ctx context.Context) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &PanicError{Value: v, Stack: stack()}
		}
	}()
	return c.Runnable.Start(c.life.own(ctx))
}
