package sim

import (
	"time"

	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/wavetank/wavetank/models/apiserver"
	"github.com/wavetank/wavetank/sim/internal/process"
	"github.com/wavetank/wavetank/sim/internal/wire"
)

// rules is the world as the scheduler, the wire and the processes know it: it implements the Observer of each.
type rules struct{ w *World }

// latencies are what a request or a reply may take; the first is the dull one.
var latencies = []time.Duration{
	time.Millisecond, 2 * time.Millisecond, 5 * time.Millisecond, 20 * time.Millisecond, 100 * time.Millisecond, 500 * time.Millisecond,
}

// Latency implements wire.Rules.
func (r rules) Latency(c *wire.Call, leg string) time.Duration {
	if c.Idle() {
		return latencies[0]
	}
	d := latencies[r.w.choices.Pace(leg+" "+c.Port.Process+" "+c.String(), c.Actor(), len(latencies), 3)]
	for _, f := range r.w.faults {
		if f, ok := f.(*slowEffect); ok && leg == "reply" {
			d += f.delay(r.w, c)
		}
	}
	if leg == "reply" && !r.w.healed {
		d += c.Wait
	}
	return d
}

// Arrive implements wire.Rules. The first fault that strikes wins.
func (r rules) Arrive(c *wire.Call) wire.Ruling {
	if c.Port.Process == userName {
		return wire.Ruling{}
	}
	var ruling wire.Ruling
	for _, f := range r.w.faults {
		if f, ok := f.(arriver); ok {
			got := f.arrive(r.w, c)
			if got.Kill || got.Lose != nil || got.Answer != nil || got.Hold {
				return got
			}
			if got.Again || got.Seen != nil {
				ruling = got
			}
		}
	}
	return ruling
}

// Landed implements wire.Rules.
func (r rules) Landed(c *wire.Call) wire.Ruling {
	if c.Port.Process == userName {
		return wire.Ruling{}
	}
	for _, f := range r.w.faults {
		if f, ok := f.(lander); ok {
			if ruling := f.land(r.w, c); ruling.Kill || ruling.Lose != nil || ruling.Answer != nil || ruling.Seen != nil {
				return ruling
			}
		}
	}
	return wire.Ruling{}
}

// Lag implements wire.Rules.
func (r rules) Lag(s *wire.Stream, f apiserver.Frame) time.Duration {
	if f.Initial || s.Call.Idle() {
		return 0
	}
	lag := r.w.trailing(s, f)
	for _, fault := range r.w.faults {
		switch fault := fault.(type) {
		case *staleCache:
			lag = max(lag, fault.lag(r.w, s, f))
		case *unreachable:
			lag = max(lag, fault.remaining(r.w, s.Port.Process))
		case *missedStates:
			lag = max(lag, fault.lag(r.w, s, f))
		}
	}
	return lag
}

// Fate implements wire.Rules.
func (r rules) Fate(s *wire.Stream, f apiserver.Frame) wire.Fate {
	if f.Initial || f.Type == "ERROR" || s.Call.Idle() || s.Port.Process == userName {
		return wire.Arrives
	}
	for _, fault := range r.w.faults {
		if fault, ok := fault.(ender); ok {
			if fate := fault.fate(r.w, s, f); fate != wire.Arrives {
				return fate
			}
		}
	}
	return wire.Arrives
}

// Dequeued implements process.Observer.
func (r rules) Dequeued(l *process.Incarnation, controller string, item reconcile.Request) {
	w := r.w
	begun := &w.history.Events[len(w.history.Events)-1]
	for _, f := range w.faults {
		switch f := f.(type) {
		case *staleCache:
			if len(begun.Seen) > 0 {
				f.seenLatest()
			}
		case *crash:
			if f.scope.process == l.Process.Name && l.N > max(1, f.felt) {
				f.felt = l.N
				f.seenLatest()
			}
		case *racingRequeue:
			f.race(w, l, controller, item)
		case *leaderOverlap:
			f.handout(w, l)
		}
	}
}

// Quiet implements sched.Observer.
func (r rules) Quiet() (woke bool) {
	beat.Add(1)
	return r.w.procs.Flush()
}

// Endpoints implements wire.Observer.
func (r rules) Endpoints(service *apiserver.WebhookService, path string) []wire.Endpoint {
	return r.w.procs.Endpoints(service, path)
}

// UnknownHost implements wire.Observer.
func (r rules) UnknownHost(c *wire.Call, clash string) { r.w.unknown(c, clash) }

// Dialled implements process.Observer.
func (rules) Dialled(process, address, at string) { dialled(process, address, at) }
