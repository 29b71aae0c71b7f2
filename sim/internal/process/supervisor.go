// Package process runs the processes of a world: their incarnations, their real controller-runtime
// managers, and the observation of their work queues. An incarnation is one call of a program's
// main: a crash ends it and a restart calls main again, so memory is lost.
//
// It does not decide when an incarnation ends; faults and scenarios do.
package process

import (
	"context"
	"fmt"
	"slices"

	"github.com/go-logr/logr"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/models/apiserver"
	"github.com/wavetank/wavetank/sim/internal/child"
	"github.com/wavetank/wavetank/sim/internal/sched"
	"github.com/wavetank/wavetank/sim/internal/wire"
)

// Supervisor starts the processes of a world, and lets their goroutines continue at each quiet
// moment.
type Supervisor struct {
	*environment
	observer     Observer
	processes    []*Process
	incarnations []*Incarnation
	alive        []*Incarnation // room for Flush, which is called at each quiet moment
}

// New returns a supervisor without processes. The observer of its scheduler must call
// [Supervisor.Flush] at each quiet moment. That of its network takes the endpoints of webhooks from
// [Supervisor.Endpoints]. Programs report their errors to it until the next one is made.
func New(s *sched.Scheduler, h *history.History, w *wire.Network, log logr.Logger, o Observer) *Supervisor {
	e := &environment{Sched: s, History: h, Wire: w, Log: log, dialled: o.Dialled}
	supervisor := &Supervisor{environment: e, observer: o}
	utilruntime.ErrorHandlers = []utilruntime.ErrorHandler{supervisor.handleError}
	return supervisor
}

// Start adds a process and begins its first incarnation.
func (s *Supervisor) Start(name string, main Main, settings Settings) *Process {
	return s.start(&program{Name: name, main: main, settings: settings}, 0)
}

func (s *Supervisor) start(which *program, before int) *Process {
	p := newProcess(s.environment, which, before, s.observer,
		func(i *Incarnation) { s.incarnations = append(s.incarnations, i) })
	s.processes = append(s.processes, p)
	p.begin()
	s.Sched.Disturb()
	return p
}

// Processes are all processes, in the order in which they were started.
func (s *Supervisor) Processes() []*Process { return s.processes }

// Find returns a process by name, or nil.
func (s *Supervisor) Find(name string) *Process {
	for _, p := range s.processes {
		if p.Name == name {
			return p
		}
	}
	return nil
}

// Settled resets the count of incarnations.
func (s *Supervisor) Settled() {
	for _, p := range s.processes {
		p.restarts.settled = p.restarts.started
	}
}

// Flush is called at each quiet moment. First it resumes, one by one, the goroutines that waited
// for a cache. Then informers' handlers get their notifications in order, and handlers that wait
// after an addition continue. When there are none it passes the held adds to the queues, process by
// process and controller by controller. It reports whether a goroutine is runnable.
func (s *Supervisor) Flush() (woke bool) {
	s.alive = slices.DeleteFunc(append(s.alive[:0], s.incarnations...), isDead)
	for _, i := range s.alive {
		if i.far != nil {
			woke = i.far.turn(child.Turn{}) || woke
		}
	}
	if woke {
		return true
	}
	for _, i := range s.alive {
		if i.turns.next() {
			return true
		}
	}
	for _, i := range s.alive {
		woke = i.caches.flush() || woke
	}
	for _, i := range s.alive {
		woke = i.pauses.flush() || woke
	}
	if woke {
		return true
	}
	for _, i := range s.alive {
		woke = i.controllers.flush() || woke
	}
	return woke
}

func isDead(i *Incarnation) bool { return i.Port.Dead() }

// Teardown ends every incarnation and lets all goroutines of the run finish. wait must wait for
// quiet.
func (s *Supervisor) Teardown(wait func()) {
	for _, i := range s.incarnations {
		i.Port.Die()
	}
	wait()
	for _, i := range s.incarnations {
		i.release(wait)
	}
	s.Wire.Release(wait)
	for _, i := range s.incarnations {
		i.controllers.close(wait)
	}
}

// Reap lets the goroutines of dead incarnations end before the run does, and forgets those
// incarnations. wait must wait for quiet. These goroutines may draw random numbers while they end,
// so the generators are seeded again.
func (s *Supervisor) Reap(wait func()) {
	if !slices.ContainsFunc(s.incarnations, isDead) {
		return
	}
	for _, i := range s.incarnations {
		if isDead(i) {
			i.release(wait)
			s.Wire.Dismiss(i.Port, wait)
			i.controllers.close(wait)
		}
	}
	s.incarnations = slices.DeleteFunc(s.incarnations, isDead)
	reseed(uint64(s.Sched.Now()))
}

// Endpoints are the incarnations that serve a webhook. A Service reaches the processes that it was
// declared for, and those without any declaration.
func (s *Supervisor) Endpoints(service *apiserver.WebhookService, path string) []wire.Endpoint {
	var out []wire.Endpoint
	for _, i := range s.incarnations {
		if isDead(i) || !i.program.behind(service) {
			continue
		}
		for _, server := range i.servers() {
			if e := server.endpoint(path); e != nil {
				out = append(out, *e)
			}
		}
	}
	return out
}

// Unobserved names the controllers that could not be observed.
func (s *Supervisor) Unobserved() (out []string) {
	for _, i := range s.incarnations {
		for _, name := range i.controllers.unobservable() {
			if !slices.Contains(out, name) {
				out = append(out, name)
			}
		}
	}
	return out
}

// Inspect looks for objects that were changed in place, in all caches of living processes.
func (s *Supervisor) Inspect() {
	for _, i := range s.incarnations {
		i.caches.inspect()
		if i.far != nil {
			i.far.turn(child.Turn{Inspect: true})
		}
	}
}

// Starting says what a living process waits for before all its controllers work; "" when all that
// can work do.
func (s *Supervisor) Starting() string {
	for _, p := range s.processes {
		i := p.current
		if i == nil {
			continue
		}
		what, led := i.managers.starting(i.Name(), s.holder)
		if what != "" {
			return what
		}
		if name := i.controllers.starting(led); name != "" {
			return fmt.Sprintf("the start of controller %s in %s", name, i.Name())
		}
	}
	return ""
}

// MissingWatch says which informer of a living process has no open watch, because its reflector
// backs off; "" when all have one.
func (s *Supervisor) MissingWatch() string {
	for _, p := range s.processes {
		if p.current != nil {
			if what := p.current.caches.missingWatch(); what != "" {
				return what
			}
		}
	}
	return ""
}

// holder is the identity of the incarnation that holds the lease, "" if that incarnation is over.
func (s *Supervisor) holder(lease history.Ref) string {
	o, ok := s.History.Object(lease.Group, lease.Kind, lease.Namespace, lease.Name)
	if !ok {
		return ""
	}
	var v struct {
		Spec struct{ HolderIdentity string }
	}
	if o.Into(&v) != nil {
		return ""
	}
	for _, p := range s.processes {
		if p.current != nil && p.current.holds(lease, v.Spec.HolderIdentity) {
			return v.Spec.HolderIdentity
		}
	}
	return ""
}

// handleError records an error that a program gives to utilruntime.HandleError, as the workers of a
// queue of its own do when a key fails. Errors that a library reports are not recorded. The
// context has the incarnation, or else the goroutine has its label: HandleError gives no context.
func (s *Supervisor) handleError(ctx context.Context, err error, message string, _ ...any) {
	source, name := wire.HandlerSource(), labelledName()
	if c, ok := ctx.Value(incarnationKey{}).(*core); ok {
		name = c.Name()
	}
	if source == "" || name == "" {
		return
	}
	switch {
	case err != nil && message == "Unhandled Error": // that of HandleError, which is given none
		message = err.Error()
	case err != nil:
		message += ": " + err.Error()
	}
	outcome := history.Outcome{Kind: history.OutcomeFailure, Text: repeatable(message)}
	s.Sched.Note(name+" error "+outcome.Text, func() {
		for _, i := range s.incarnations {
			if i.Name() == name && !isDead(i) {
				e := i.Wire.Event(i.Port, history.HandledError)
				e.Outcome, e.Source = outcome, source
				s.History.Add(e)
			}
		}
	})
}
