package process

import (
	"context"
	"net/http"
	"runtime/pprof"
	"time"

	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/sim/internal/choice"
	"github.com/wavetank/wavetank/sim/internal/sched"
	"github.com/wavetank/wavetank/sim/internal/wire"
)

// Observer observes what processes do by themselves.
type Observer interface {
	// Dequeued is called for every key that a worker gets, as its reconcile begins.
	Dequeued(i *Incarnation, controller string, item reconcile.Request)
	// Exited is called if a program's main returns by itself. It reports whether the kubelet
	// should start it again.
	Exited(i *Incarnation, err error) (restart bool)
	// Dialled is called if a program dials an address by itself, with a context of its own
	// incarnation. It may be called on any goroutine. at is the operator's line, as file:line.
	Dialled(process, address, at string, byHTTP bool)
}

// Incarnation is one start of a process. It owns how that ends; its parts own the rest.
type Incarnation struct {
	*core
	Restarts *Restarts
	*managers
	program     *program
	observer    Observer
	gone        func() // called when the process is down
	waiters     *waiters
	turns       *turns
	pauses      *pauses
	caches      *caches
	controllers *controllers

	far    *far // the process that the program runs in; nil if it runs in this one
	exited bool
	asked  bool          // asked to stop gracefully
	grace  *sched.Action // the SIGKILL that follows if it does not
}

func newIncarnation(e *environment, p *program, r *Restarts, o Observer) *Incarnation {
	c := &core{environment: e, Port: e.Wire.NewPort(p.Name, r.started)}
	i := &Incarnation{core: c, Restarts: r, managers: &managers{}, program: p, observer: o, turns: &turns{core: c}}
	c.spawn = i.spawn
	if p.Account() != "" {
		c.readers = &p.readers
	}
	i.waiters = &waiters{core: c, exit: i.exit}
	i.pauses = &pauses{waiters: i.waiters}
	i.caches = &caches{waiters: i.waiters, turns: i.turns, listThenWatch: p.settings.ListThenWatch}
	observed := func(controller string, item reconcile.Request) { o.Dequeued(i, controller, item) }
	i.controllers = &controllers{waiters: i.waiters, caches: i.caches, pauses: i.pauses, kill: i.Kill,
		dequeued: observed}
	if e.Children != nil {
		i.far = &far{core: c, exit: i.exit, crash: i.Kill, dequeued: observed, waiting: map[int64]*sched.Action{}}
	}
	i.Port.Owner = i
	i.Port.Attribute = Attribute
	p.identify(i.Port, e.Wire)
	c.ctx, c.cancel = context.WithCancel(c.attach(context.Background()))
	return i
}

// spawn runs a function on a goroutine of the incarnation. Those that it starts inherit its labels.
func (i *Incarnation) spawn(f func()) {
	go func() {
		pprof.SetGoroutineLabels(i.ctx)
		f()
	}()
}

// Config is the rest.Config that the program is given.
func (i *Incarnation) Config() *rest.Config {
	return &rest.Config{
		Host:          "http://" + wire.APIHost,
		Transport:     i.Port,
		WrapTransport: i.wrap,
		QPS:           -1,
		ContentConfig: rest.ContentConfig{ContentType: "application/json", AcceptContentTypes: "application/json"},
	}
}

// wrap numbers the clients that are made from the incarnation's rest.Config. A program's own
// transport stays.
func (i *Incarnation) wrap(rt http.RoundTripper) http.RoundTripper {
	if rt == http.RoundTripper(i.Port) {
		return i.Port.Client()
	}
	return rt
}

// First reports whether the incarnation is the first of its version.
func (i *Incarnation) First() bool { return i.Port.Incarnation == i.program.first }

// start runs the program.
func (i *Incarnation) start() {
	if i.far != nil {
		i.far.launch()
		return
	}
	metrics.Registry = newRegistry()
	i.spawn(i.run)
}

func (i *Incarnation) run() {
	var err error
	defer func() {
		if r := recover(); r != nil {
			err = &PanicError{Value: r, Stack: stack()}
		}
		i.Sched.Note(i.Name(), func() { i.exit(err) })
	}()
	err = i.program.main(i.ctx, i.Config())
}

// exit runs on the scheduling goroutine when main has returned.
func (i *Incarnation) exit(err error) {
	if i.Port.Dead() || i.exited {
		return
	}
	if i.Port.Frozen() { // its exit is reported only after it resumes
		i.dismiss()
		i.Port.Await(&sched.Action{
			Order: i.Name() + " exit",
			Actor: i.Port.Actor("exit"),
			What:  func() string { return "the end of " + i.Name() },
			Do:    func() { i.exit(err) },
		})
		return
	}
	i.exited = true
	outcome := history.Outcome{Kind: history.OutcomeSuccess}
	if err != nil {
		outcome = history.Outcome{Kind: history.OutcomeFailure, Text: repeatable(err.Error())}
	}
	e := i.record(history.Stop, outcome)
	i.bury()
	if i.observer.Exited(i, err) {
		i.Restarts.schedule(err != nil || !i.asked, i.asked, e.Remark())
	}
}

// Kill ends the incarnation as SIGKILL would: nothing of it takes effect any more.
func (i *Incarnation) Kill() {
	if i.Port.Dead() {
		return
	}
	i.record(history.Crash, history.Outcome{})
	i.bury()
	i.Restarts.schedule(true, i.asked, "crashed")
}

// grace is how long the kubelet waits between SIGTERM and SIGKILL: terminationGracePeriodSeconds,
// by default.
const grace = 30 * time.Second

// Stop asks the incarnation to end, as SIGTERM would. The kubelet kills it after 30 s, and starts
// the next one when it has ended.
func (i *Incarnation) Stop() {
	if i.Port.Dead() || i.asked {
		return
	}
	i.asked = true
	i.record(history.Stop, history.Outcome{Kind: history.OutcomeAsked})
	i.terminate()
	i.grace = &sched.Action{
		Order: i.Port.Process + " grace",
		Actor: choice.Actor{Process: i.Port.Process, Name: "grace"},
		What:  func() string { return "the end of " + i.Name() + "'s grace period" },
		Delay: func() time.Duration { return grace },
		Own:   grace,
		Do:    i.Kill,
	}
	i.Sched.Park(i.grace)
	i.Sched.Disturb()
}

// terminate asks the program to end.
func (i *Incarnation) terminate() {
	if i.far != nil {
		i.far.child.Terminate()
		i.Sched.Disturb()
		return
	}
	i.asked = true
	i.dismiss()
	i.cancel()
}

// dismiss lets the incarnation begin no reconcile any more.
func (i *Incarnation) dismiss() {
	i.waiters.dismiss()
	i.Sched.Disturb()
}

// Ending reports whether the incarnation was asked to end, or has ended and the world does not know
// yet.
func (i *Incarnation) Ending() bool { return i.waiters.ending.Load() }

// EndsByContext implements [wire.Owner]. A manager ends its own parts one after another, so only
// programs without one are concerned.
func (i *Incarnation) EndsByContext() bool { return i.Ending() && !i.Managed() }

// bury lets nothing of the incarnation happen any more. Its goroutines may be there still; those
// that are blocked stay blocked until the run ends.
func (i *Incarnation) bury() {
	i.Wire.Bury(i.Port)
	i.waiters.drop()
	if i.far != nil {
		i.far.kill()
	}
	if i.grace != nil {
		i.Sched.Drop(i.grace)
	}
	i.gone()
	i.cancel()
	i.Sched.Disturb()
}

// release lets the blocked goroutines of a dead incarnation continue, one at a time, to their end.
// Then it ends the waits for caches that have not synced. wait must wait for quiet.
func (i *Incarnation) release(wait func()) {
	if i.far != nil {
		i.far.kill()
	}
	i.cancel()
	wait()
	i.turns.release()
	blocked, informers := i.waiters.release(), i.caches.release()
	i.controllers.close(wait)
	for i.turns.next() {
		wait()
		i.controllers.close(wait)
	}
	for _, h := range blocked {
		select {
		case h.granted <- false:
			wait()
		default:
		}
	}
	for _, at := range informers {
		at.end()
	}
	wait()
	i.controllers.close(wait)
}
