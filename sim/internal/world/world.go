// Package world is one run: a simulated cluster, the processes in it, how it settles, and how
// it is judged. Package sim shows it to scenarios.
package world

import (
	"context"
	"time"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/internal/story"
	"github.com/wavetank/wavetank/models/admission"
	"github.com/wavetank/wavetank/models/apiserver"
	"github.com/wavetank/wavetank/models/garbage"
	"github.com/wavetank/wavetank/models/namespace"
	"github.com/wavetank/wavetank/models/protection"
	"github.com/wavetank/wavetank/models/rbac"
	"github.com/wavetank/wavetank/sim/internal/choice"
	"github.com/wavetank/wavetank/sim/internal/inject"
	"github.com/wavetank/wavetank/sim/internal/process"
	"github.com/wavetank/wavetank/sim/internal/run"
	"github.com/wavetank/wavetank/sim/internal/sched"
	"github.com/wavetank/wavetank/sim/internal/user"
	"github.com/wavetank/wavetank/sim/internal/wire"
	"github.com/wavetank/wavetank/sim/result"
)

// World is one simulated cluster with everything in it. It lives for one run. Its methods must be
// called on the goroutine that the scenario was called on.
type World struct {
	settings run.Settings
	choices  *choice.Recorder
	sched    *sched.Scheduler
	history  *history.History
	wire     *wire.Network
	procs    *process.Supervisor
	ctx      context.Context
	cancel   context.CancelFunc

	user       *user.Client
	clusters   []*Cluster
	builtins   builtins
	programs   programs
	rights     rights
	faults     inject.Set
	recovering bool // faults have ended for now
	healed     bool // faults have ended until Inject declares more
	judge      judge
	real       *real // the run takes place at a real API server; nil if it is simulated
	quiescence quiescence
	window     window
	inspected  int  // the step at which caches were inspected last
	required   bool // each object of a user must succeed in some run of the campaign
	ending

	// findUndisturbed is the undisturbed run with some drawn values, nil if it was not made. It is
	// nil in an undisturbed run.
	findUndisturbed func(drawn choice.Sequence) *history.History
	findDefault     func() *history.History // the default run; nil in that run itself
	wants           bool                    // the run ends because it asks for a run that was not made
	redrawn         bool                    // this is an undisturbed run with other random values
}

func newWorld(
	source *choice.Recorder, h *history.History, s run.Settings, course *run.Course, testFailed func() bool,
) *World {
	w := &World{settings: s, choices: source, history: h,
		programs: programs{failures: map[*process.Process]failedSetup{}}}
	w.judge.defaults = defaultProperties(testFailed, w.missingPermission)
	w.judge.passes, w.judge.ignored = s.Pass, s.Ignored
	w.ctx, w.cancel = context.WithCancel(context.Background())
	w.sched = sched.New(source, rules{w})
	seed := source.Choose(story.Label{Kind: story.Names}, 1<<16)
	server := apiserver.New(apiserver.Options{Now: time.Now, Seed: uint64(seed)})
	w.rights.authorizer = rbac.New(server)
	server.SetAuthorizer(w.rights.authorizer)
	server.SetAdmission(admission.New(server))
	w.wire = wire.New(w.sched, h, server, rules{w})
	if s.Callers && s.Window == 0 {
		w.wire.Callers, w.wire.ByTimer = map[int][]uintptr{}, map[int]bool{}
	}
	w.procs = process.New(w.sched, h, w.wire, s.Log, rules{w})
	if w.real != nil && !w.real.Paced {
		w.procs.BackOff = shortBackOff
	}
	w.quiescence = quiescence{w.sched, w.procs, w.wire, h, &w.builtins, newActivity()}
	if s.Record != nil {
		w.record(s.Record)
	}
	if s.Real != nil {
		w.real = &real{Real: s.Real, course: course}
		w.sched.Wait = awaitQuiet
		w.real.connect(w)
	}
	w.user = w.newUser(wire.APIHost, server)
	w.Builtin(namespace.New())
	w.Builtin(garbage.New())
	w.Builtin(protection.New()...)
	return w
}

// stepped is called after every step.
func (w *World) stepped() {
	w.quiescence.read()
	if w.real != nil {
		w.real.stepped(w)
	}
	if w.failure == nil {
		w.failIfAsserted()
		w.judgeAll(result.Always)
		w.forget()
	}
}

// note adds an event of the present step to the history.
func (w *World) note(e history.Event) {
	e.Step, e.At, e.Server = w.sched.Steps(), w.sched.Now(), w.wire.Revision()
	w.history.Add(e)
}

// panicIfOver unwinds again if the scenario continues after its run has ended. Every method of the
// world that does anything calls it.
func (w *World) panicIfOver() {
	if w.over {
		panic("sim: a World was used when its run was over; each run has a World of its own, so do not keep it")
	}
	w.panicIfElsewhere()
	if w.failure != nil {
		panic(stopRun{})
	}
	w.sched.Disturb()
}

// panicIfInStep ends the run if the world is asked to continue in the middle of a step.
func (w *World) panicIfInStep(call string) {
	w.panicIfOver()
	if w.sched.Performing() {
		w.misuse("%s was called in the middle of a step, by a handler given to w.External or by a built-in "+
			"controller; the world continues only when that step is over, so call it in the scenario, or let a "+
			"process do it", call)
	}
}

// panicIfElsewhere ends the run if the world is used where it cannot be: on another goroutine than
// the scenario's, or inside a property.
func (w *World) panicIfElsewhere() {
	if !run.OnScenario() {
		w.failLater(misuse("a World was used on another goroutine than its scenario's (in a reconciler, or " +
			"after a go statement); controllers use mgr.GetClient(), and a scenario does one thing after the " +
			"other: call it on the scenario's own goroutine, without go"))
	}
	if w.judge.judging {
		w.misuse("a property may only read: its history, or the server through w.Client()")
	}
}

// History is the record of this run so far.
func (w *World) History() *history.History { return w.history }

// Context is done when the run ends.
func (w *World) Context() context.Context { return w.ctx }

// Redrawn reports whether this is the undisturbed run that shows which values are random. What is
// arbitrary should differ in it.
func (w *World) Redrawn() bool { return w.redrawn }

// Undisturbed is the history of the run with the values drawn so far and no other choice than the
// defaults.
func (w *World) Undisturbed() *history.History {
	w.panicIfOver()
	w.cannotIfReal("a property compares the run with an undisturbed one (w.Undisturbed), and two runs at a real " +
		"server differ in time and names")
	switch {
	case w.settings.Window > 0:
		w.misuse("w.Undisturbed: with sim.Window no run keeps the whole record that another could be compared with")
	case w.findUndisturbed == nil:
		return w.history
	}
	return w.insteadOf(w.findUndisturbed(w.choices.Sequence().Drawn()))
}

// Default is the history of the run in which every choice is the default choice, the drawn values
// too; nil in that run itself.
func (w *World) Default() *history.History {
	w.panicIfOver()
	if w.findDefault == nil {
		return nil
	}
	return w.insteadOf(w.findDefault())
}

// insteadOf returns the history of another run. If that was not made, this run is given up for it.
func (w *World) insteadOf(found *history.History) *history.History {
	if found == nil {
		w.wants = true
		w.failure = misuse("the run is given up for another run") // it is not reported
		panic(stopRun{})
	}
	return found
}
