package world

import (
	"time"

	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/wavetank/wavetank/internal/story"
	"github.com/wavetank/wavetank/models/apiserver"
	"github.com/wavetank/wavetank/sim/internal/process"
	"github.com/wavetank/wavetank/sim/internal/run"
	"github.com/wavetank/wavetank/sim/internal/sched"
	"github.com/wavetank/wavetank/sim/internal/wire"
)

// rules is the world as the scheduler, the wire and the processes know it: it implements the
// Observer of each. It puts the declared faults and the ordinary delays of a network onto the wire.
type rules struct{ w *World }

// latencies are what a request, a reply or a step of a built-in controller may take. The first is
// the default choice.
var latencies = []time.Duration{
	time.Millisecond, 2 * time.Millisecond, 5 * time.Millisecond,
	20 * time.Millisecond, 100 * time.Millisecond, 500 * time.Millisecond,
}

// Latency implements wire.Rules.
func (r rules) Latency(c *wire.Call, leg story.Kind) time.Duration {
	if c.Idle() {
		return latencies[0]
	}
	label := story.Label{Kind: leg, Who: c.Port.Process, Verb: c.Verb(), What: c.Subject()}
	d := latencies[r.w.choices.Pace(label, c.Actor(), len(latencies), 3)]
	if leg == story.Request {
		return d
	}
	d += r.w.faults.ReplyDelay(c)
	if !r.w.faultsEnded() {
		d += c.Wait
	}
	return d
}

// Arrive implements wire.Rules.
func (r rules) Arrive(c *wire.Call) wire.Ruling {
	if c.Port.Process == run.User {
		return wire.Ruling{}
	}
	return r.w.faults.Arrive(c)
}

// Landed implements wire.Rules.
func (r rules) Landed(c *wire.Call) wire.Ruling {
	if c.Port.Process == run.User {
		return wire.Ruling{}
	}
	return r.w.faults.Landed(c)
}

// Lag implements wire.Rules.
func (r rules) Lag(s *wire.Stream, f apiserver.Frame) time.Duration {
	if f.Initial || s.Call.Idle() {
		return 0
	}
	return r.w.faults.Lag(s, f)
}

// Fate implements wire.Rules.
func (r rules) Fate(s *wire.Stream, f apiserver.Frame) wire.Fate {
	if f.Initial || f.Type == "ERROR" || s.Call.Idle() || s.Port.Process == run.User {
		return wire.Arrives
	}
	return r.w.faults.Fate(s, f)
}

// Webhook implements wire.Rules.
func (r rules) Webhook(c *wire.Call) wire.Ruling { return r.w.faults.Webhook(c) }

// Committed implements wire.Observer: built-in controllers observe the change.
func (r rules) Committed(ch apiserver.Change) {
	if r.w.real != nil {
		r.w.real.learn(r.w)
	}
	r.w.builtins.observe(ch)
}

// Endpoints implements wire.Observer.
func (r rules) Endpoints(service *apiserver.WebhookService, path string) []wire.Endpoint {
	return r.w.procs.Endpoints(service, path)
}

// UnknownHost implements wire.Observer.
func (r rules) UnknownHost(c *wire.Call, clash string) { r.w.unknownHost(c, clash) }

// Quiet implements sched.Observer.
func (r rules) Quiet() (woke bool) {
	process.Quiet()
	r.w.settings.Monitor.Beats.Add(1)
	return r.w.procs.Flush()
}

// Stepped implements sched.Observer.
func (r rules) Stepped() { r.w.stepped() }

// Held implements sched.Observer: actions of a frozen process wait for its end.
func (r rules) Held(a *sched.Action) time.Duration { return r.w.faults.Held(a) }

// Dequeued implements process.Observer.
func (r rules) Dequeued(l *process.Incarnation, controller string, item reconcile.Request) {
	r.w.faults.Dequeued(l, controller, item)
}

// Exited implements process.Observer.
func (r rules) Exited(l *process.Incarnation, err error) (restart bool) { return r.w.exited(l, err) }

// Dialled implements process.Observer.
func (rules) Dialled(process, address, at string, byHTTP bool) { Dialled(process, address, at, byHTTP) }
