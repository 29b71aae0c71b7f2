package process

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/manager"

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
	waiters *waiters
	name    string
	over    chan struct{} // closed when Warmup has returned; nil for a controller that does not warm up
}

// Warmup implements what controller-runtime calls before the process leads.
func (m *managedController) Warmup(ctx context.Context) error {
	if m.over == nil {
		return nil
	}
	defer close(m.over)
	return m.Runnable.(interface{ Warmup(context.Context) error }).Warmup(m.waiters.attach(ctx))
}

func (m *managedController) Start(ctx context.Context) error {
	if m.over != nil {
		select {
		case <-m.over:
		case <-ctx.Done():
			return nil
		}
	}
	err := m.Runnable.Start(m.waiters.attach(ctx))
	if w := m.waiters; !w.Port.Dead() {
		w.await(&sched.Action{
			Order: w.Name() + " " + m.name + " ended",
			Actor: w.Port.Actor(m.name + " ended"),
			What:  func() string { return "the end of controller " + m.name + " in " + w.Name() },
		}, false)
	}
	return err
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
	turns *turns
	n     int // of the runnables that were added
}

func (p panicCatcher) Start(ctx context.Context) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &PanicError{Value: v, Stack: stack()}
		}
	}()
	p.turns.startInTurn(p.n)
	return p.Runnable.Start(p.turns.attach(ctx))
}
