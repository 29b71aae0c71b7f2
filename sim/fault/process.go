package fault

import (
	"fmt"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/sim/internal/choice"
	"github.com/wavetank/wavetank/sim/internal/inject"
	"github.com/wavetank/wavetank/sim/internal/process"
	"github.com/wavetank/wavetank/sim/internal/sched"
	"github.com/wavetank/wavetank/sim/internal/wire"
)

// Crash kills the process, as SIGKILL does, before or after any of its writes takes effect. The
// kubelet restarts it after a back-off of 10 s to 5 min, as a process that has failed before. With
// [AtOnce] the first restart is immediate. Crash and Restart start at most 20 incarnations of a
// process between two Settles.
func Crash(process string, scopes ...CrashScope) Fault {
	return declare("Crash", process, scopes, func(c core) inject.Fault { return &crash{core: c} }).
		of(process)
}

type crash struct {
	core
	reconciled int // the latest incarnation that began to reconcile with empty memory
}

// Arrive implements [inject.Arriver].
func (c *crash) Arrive(call *wire.Call) wire.Ruling { return c.kill(call, "before") }

// Landed implements [inject.Lander].
func (c *crash) Landed(call *wire.Call) wire.Ruling { return c.kill(call, "after") }

func (c *crash) kill(call *wire.Call, when string) wire.Ruling {
	l, ok := call.Port.Owner.(*process.Incarnation)
	if !ok || !call.Writes() || !l.Restarts.MayEnd() || c.injectedAt(call, when, 2, 24, 6) == 0 {
		return wire.Ruling{}
	}
	c.note(call, when)
	if c.scope.atOnce {
		l.Restarts.Fresh()
	}
	return wire.Ruling{Kill: true}
}

// Dequeued implements [inject.Dequeuer]: the next incarnation reconciles.
func (c *crash) Dequeued(l *process.Incarnation, _ string, _ reconcile.Request) {
	if c.process == l.Port.Process && l.Port.Incarnation > max(1, c.reconciled) {
		c.reconciled = l.Port.Incarnation
		c.latestObserved()
	}
}

// Restart asks the process to stop, as SIGTERM does, around any of its writes. The process may
// finish its work and release a lease. It is killed if it has not stopped after 30 s. The first
// restart is immediate once it has stopped. After that, or after an error, the kubelet's back-off
// of 10 s to 5 min applies.
func Restart(process string, scopes ...ProcessScope) Fault {
	return declare("Restart", process, scopes, func(c core) inject.Fault { return &restart{core: c} }).of(process)
}

type restart struct {
	core
	asked int // the latest incarnation that was asked to end
}

// Arrive implements [inject.Arriver].
func (r *restart) Arrive(c *wire.Call) wire.Ruling { return r.stop(c, "before") }

// Landed implements [inject.Lander].
func (r *restart) Landed(c *wire.Call) wire.Ruling { return r.stop(c, "after") }

func (r *restart) stop(c *wire.Call, when string) wire.Ruling {
	l, ok := c.Port.Owner.(*process.Incarnation)
	if !ok || !c.Writes() || r.asked >= l.Port.Incarnation || !l.Restarts.MayEnd() ||
		r.injectedAt(c, when, 2, 24, 6) == 0 {
		return wire.Ruling{}
	}
	r.asked = l.Port.Incarnation
	r.note(c, "SIGTERM "+when)
	r.env.Park(&sched.Action{
		Order: "stop " + l.Name(),
		Actor: choice.Actor{Name: "stop " + l.Name()},
		What:  func() string { return "SIGTERM to " + l.Name() },
		Do:    func() { r.observed(); l.Stop() },
	})
	return wire.Ruling{}
}

// Pause freezes the process for up to d around any of its requests, as when a virtual machine
// stalls or a container gets no CPU time. No reply and no watch event reaches the process, and
// nothing that it does has an effect. Then it continues where it was. A write that it was about to
// send arrives now, even if another replica leads meanwhile. This write is not delayed again, so no
// write is under way for much longer than d.
//
// Timers of the process do fire while it is frozen, but their consequences are held back until it
// continues.
func Pause(process string, d time.Duration, scopes ...ProcessScope) Fault {
	given := fmt.Sprintf("%s, %v", process, d)
	return declare("Pause", given, scopes, func(c core) inject.Fault { return &pause{core: c} }).of(process).upTo(d)
}

type pause struct {
	core
	frozen *process.Incarnation // nil for none
	until  time.Duration
	wake   *sched.Action
}

// Arrive implements [inject.Arriver].
func (p *pause) Arrive(c *wire.Call) wire.Ruling { return wire.Ruling{Hold: p.freeze(c, "before")} }

// Landed implements [inject.Lander].
func (p *pause) Landed(c *wire.Call) wire.Ruling {
	p.freeze(c, "after")
	return wire.Ruling{}
}

func (p *pause) freeze(c *wire.Call, when string) bool {
	l, ok := c.Port.Owner.(*process.Incarnation)
	if !ok || p.frozen != nil || l.Ending() || when == "before" && c.WasFrozen() {
		return false
	}
	v := p.injectedAt(c, when, len(lengths), 48, 12)
	if v == 0 {
		return false
	}
	d := p.share(lengths, v)
	p.note(c, fmt.Sprintf("for %v, %s", d, when))
	p.frozen, p.until = l, p.env.Now()+d
	l.Port.Freeze()
	p.wake = &sched.Action{
		Order: "wake " + l.Name(),
		Actor: choice.Actor{Name: "wake " + l.Name()},
		What:  func() string { return "the end of " + l.Name() + "'s pause" },
		Delay: func() time.Duration { return d },
		Do:    p.End,
	}
	p.env.Park(p.wake)
	return true
}

// End implements [inject.Ender]: the process continues.
func (p *pause) End() {
	if p.frozen == nil {
		return
	}
	if !p.frozen.Port.Dead() {
		p.observed()
		p.env.Note(history.Event{
			Kind: history.Fault, Process: p.frozen.Port.Process, Incarnation: p.frozen.Port.Incarnation,
			Injection: p.injection("resumes"),
		})
	}
	p.frozen.Port.Thaw()
	p.env.Drop(p.wake)
	p.frozen = nil
	p.env.Disturb()
}

// Held implements [inject.Holder].
func (p *pause) Held(a *sched.Action) time.Duration {
	if p.frozen == nil || a.Actor.Process != p.frozen.Name() {
		return 0
	}
	return p.until
}
