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
type rules struct {
	*core
	faults   *faults
	builtins *builtins
	programs *programs
	real     *real  // nil if the run is simulated
	stepped  func() // after every step
}

func (r *rules) Latency(c *wire.Call, leg story.Kind) time.Duration {
	if c.Idle() {
		return latencies[0]
	}
	label := story.Label{Kind: leg, Who: c.Port.Process, Verb: c.Verb(), What: c.Subject()}
	d := latencies[r.choices.Pace(label, c.Actor(), len(latencies), 3)]
	if leg == story.Request {
		return d
	}
	d += r.faults.declared.ReplyDelay(c)
	if !r.faults.ended() {
		d += c.Wait
	}
	return d
}

func (r *rules) Arrive(c *wire.Call) wire.Ruling {
	if c.Port.Process == run.User {
		return wire.Ruling{}
	}
	return r.faults.declared.Arrive(c)
}

func (r *rules) Landed(c *wire.Call) wire.Ruling {
	if c.Port.Process == run.User {
		return wire.Ruling{}
	}
	return r.faults.declared.Landed(c)
}

func (r *rules) Lag(s *wire.Stream, f apiserver.Frame) time.Duration {
	if f.Initial || s.Call.Idle() {
		return 0
	}
	if free := r.real.free(); free != nil && s.Port.Process != run.User {
		return free.lag(f)
	}
	return r.faults.declared.Lag(s, f)
}

func (r *rules) Fate(s *wire.Stream, f apiserver.Frame) wire.Fate {
	if f.Initial || f.Type == "ERROR" || s.Call.Idle() || s.Port.Process == run.User {
		return wire.Arrives
	}
	return r.faults.declared.Fate(s, f)
}

func (r *rules) Webhook(c *wire.Call) wire.Ruling { return r.faults.declared.Webhook(c) }

// Committed implements wire.Observer: built-in controllers observe the change.
func (r *rules) Committed(ch apiserver.Change) {
	if r.real != nil && r.real.free() == nil {
		r.real.names.learn()
	}
	r.builtins.observe(ch)
}

func (r *rules) Endpoints(service *apiserver.WebhookService, path string) []wire.Endpoint {
	if r.real != nil && r.real.Child != nil {
		r.real.refuse("the webhook " + path + " is called, and an operator in a process of its own serves none; " +
			"try it without -sim.child")
	}
	return r.procs.Endpoints(service, path)
}

func (r *rules) UnknownHost(c *wire.Call, clash string) { r.unknownHost(c, clash) }

func (r *rules) Quiet() (woke bool) {
	process.Quiet()
	r.settings.Monitor.Beats.Add(1)
	r.real.free().quietMoment()
	return r.procs.Flush()
}

func (r *rules) Stepped() { r.stepped() }

// Held implements sched.Observer: actions of a frozen process wait for its end.
func (r *rules) Held(a *sched.Action) time.Duration { return r.faults.declared.Held(a) }

func (r *rules) Dequeued(l *process.Incarnation, controller string, item reconcile.Request) {
	r.faults.declared.Dequeued(l, controller, item)
}

func (r *rules) Exited(l *process.Incarnation, err error) (restart bool) {
	return r.programs.exited(l, err)
}

func (r *rules) Dialled(process, address, at string, byHTTP bool) {
	r.dialled(process, address, at, byHTTP)
}
