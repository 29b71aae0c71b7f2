package world

import (
	"context"
	"fmt"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/sim/internal/choice"
	"github.com/wavetank/wavetank/sim/internal/process"
	"github.com/wavetank/wavetank/sim/internal/run"
	"github.com/wavetank/wavetank/sim/internal/sched"
	"github.com/wavetank/wavetank/sim/internal/wire"
	"github.com/wavetank/wavetank/sim/result"
)

// core is what every part of a world needs: what is simulated, the record, the judge, and how the
// run ends.
type core struct {
	settings run.Settings
	choices  *choice.Recorder
	sched    *sched.Scheduler
	history  *history.History
	wire     *wire.Network
	procs    *process.Supervisor
	ctx      context.Context
	cancel   context.CancelFunc
	judge    judge
	ending
}

// latencies are what a request, a reply or a step of a built-in controller may take. The first is
// the default choice.
var latencies = []time.Duration{
	time.Millisecond, 2 * time.Millisecond, 5 * time.Millisecond,
	20 * time.Millisecond, 100 * time.Millisecond, 500 * time.Millisecond,
}

// ending is how a run ends. The code that detects a failure reports it in the way of its
// goroutine:
//
//   - The scenario's goroutine, which is also the scheduling goroutine, calls [core.fail].
//   - A goroutine of the code under test calls [core.failSoon] or [core.failLater].
//   - A process that ends by itself sets exit, as the scenario cannot be unwound there.
//   - Panics of the scenario, and what only the end of the bubble tells, are added by
//     [attempt.endInside] and [attempt.endOutside].
type ending struct {
	// failure is the failure that ended the run; nil if there is none yet.
	failure *result.Ending
	// over is set when the world has been torn down.
	over bool
	// exit is the failure of a program that ended by itself.
	exit *result.Ending
	// asserted is the failure that a goroutine of the code under test has reported.
	asserted *result.Ending
	// reported is the first of those, at once. A scenario that waits for such a goroutine, which
	// has ended, has no next quiet moment.
	reported atomic.Pointer[result.Ending]
}

// stopRun unwinds the scenario when the run has failed.
type stopRun struct{}

// GinkgoRecoverShouldIgnoreThisPanic keeps a deferred GinkgoRecover from taking the end of a run
// for a failed spec.
func (stopRun) GinkgoRecoverShouldIgnoreThisPanic() {}

// fail ends the run. It must be called on the scenario's goroutine, and panics.
func (c *core) fail(e *result.Ending) {
	if c.failure == nil {
		e.Step, e.At = c.sched.Steps(), c.sched.Now()
		c.failure = e
		c.note(history.Event{Kind: history.Violation, Note: e.Sentence(), Read: c.judge.read, About: e.About})
	}
	panic(stopRun{})
}

// failLater ends the calling goroutine of the code under test, and the run at its next quiet
// moment.
func (c *core) failLater(e *result.Ending) {
	c.failSoon(e)
	runtime.Goexit()
}

// failSoon ends the run at its next quiet moment. Any goroutine may call it.
func (c *core) failSoon(e *result.Ending) {
	c.reported.CompareAndSwap(nil, e)
	c.sched.Note("verdict "+e.Site+" "+e.Message, func() {
		if c.asserted == nil {
			c.asserted = e
		}
	})
}

// failIfAsserted ends the run if a goroutine of the code under test has reported a failure.
func (c *core) failIfAsserted() {
	if c.asserted != nil && c.failure == nil {
		c.fail(c.asserted)
	}
}

// failIfReported ends the run if a goroutine of the code under test has reported a failure, or if a
// program has ended in a way after which no world can continue.
func (c *core) failIfReported() {
	c.failIfAsserted()
	if c.exit != nil {
		c.fail(c.exit)
	}
}

// misuse ends the run because the scenario asks for something that cannot be.
func (c *core) misuse(format string, args ...any) { c.fail(misuse(format, args...)) }

func misuse(format string, args ...any) *result.Ending {
	return &result.Ending{Kind: result.Misuse, Message: "sim: " + fmt.Sprintf(format, args...)}
}

// note adds an event of the present step to the history.
func (c *core) note(e history.Event) {
	e.Step, e.At, e.Server = c.sched.Steps(), c.sched.Now(), c.wire.Revision()
	c.history.Add(e)
}

// panicIfOver unwinds again if the scenario continues after its run has ended. Every method of the
// world that does anything calls it.
func (c *core) panicIfOver() {
	if c.over {
		panic("sim: a World was used when its run was over; each run has a World of its own, so do not keep it")
	}
	c.panicIfElsewhere()
	if c.failure != nil {
		panic(stopRun{})
	}
	c.sched.Disturb()
}

// panicIfInStep ends the run if the world is asked to continue in the middle of a step.
func (c *core) panicIfInStep(call string) {
	c.panicIfOver()
	if c.sched.Performing() {
		c.misuse("%s was called in the middle of a step, by a handler given to w.External or by a built-in "+
			"controller; the world continues only when that step is over, so call it in the scenario, or let a "+
			"process do it", call)
	}
}

// panicIfElsewhere ends the run if the world is used where it cannot be: on another goroutine than
// the scenario's, or inside a property.
func (c *core) panicIfElsewhere() {
	if !run.OnScenario() {
		c.failLater(misuse("a World was used on another goroutine than its scenario's (in a reconciler, or " +
			"after a go statement); controllers use mgr.GetClient(), and a scenario does one thing after the " +
			"other: call it on the scenario's own goroutine, without go"))
	}
	if c.judge.judging {
		c.misuse("a property may only read: its history, or the server through w.Client()")
	}
}

// History is the record of this run so far.
func (c *core) History() *history.History { return c.history }

// Context is done when the run ends.
func (c *core) Context() context.Context { return c.ctx }

// judgeAll judges the properties of a kind and ends the run at the first that does not hold.
func (c *core) judgeAll(k result.Kind) {
	passed := len(c.judge.passed)
	v := c.judge.judge(k, c.history)
	for _, e := range c.judge.passed[passed:] {
		e.Step, e.At = c.sched.Steps(), c.sched.Now()
	}
	if v != nil {
		c.fail(v)
	}
}
