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
	"github.com/wavetank/wavetank/sim/internal/child"
	"github.com/wavetank/wavetank/sim/internal/choice"
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
	*core
	*declarations
	*faults
	*builtins
	*settler
	*actions
	*programs
	rights   *rights
	window   *window
	real     *real // nil if the run is simulated
	required bool  // each object of a user must succeed in some run of the campaign

	// findUndisturbed is the undisturbed run with some drawn values, nil if it was not made. It is
	// nil in an undisturbed run.
	findUndisturbed func(drawn choice.Sequence) *history.History
	findDefault     func() *history.History // the default run; nil in that run itself
	wants           bool                    // the run ends because it asks for a run that was not made
	redrawn         bool                    // this is an undisturbed run with other random values
}

func newWorld(source *choice.Recorder, h *history.History, s run.Settings, course *run.Course,
	testFailed func() bool) *World {
	c := &core{settings: s, choices: source, history: h}
	c.ctx, c.cancel = context.WithCancel(context.Background())
	f := &faults{core: c}
	b := &builtins{core: c, faults: f}
	observer := &rules{core: c, faults: f, builtins: b}
	c.sched = sched.New(source, observer)
	seed := source.Choose(story.Label{Kind: story.Names}, 1<<16)
	server := apiserver.New(apiserver.Options{Now: time.Now, Seed: uint64(seed)})
	authorizer := rbac.New(server)
	server.SetAuthorizer(authorizer)
	server.SetAdmission(admission.New(server))
	c.wire = wire.New(c.sched, h, server, observer)
	if s.Callers && s.Window == 0 {
		c.wire.Callers, c.wire.ByTimer = map[int][]uintptr{}, map[int]bool{}
	}
	c.procs = process.New(c.sched, h, c.wire, s.Log, observer)
	c.procs.NoteReads = s.Reads
	if s.Fresh != nil {
		c.sched.Before = c.freshen
	}
	if s.Record != nil {
		writeScript(c, b.has, s.Record)
	}
	var r *real
	if s.Real != nil {
		r = newReal(c, s.Real, course, b.observe)
		c.sched.Wait = sched.AwaitQuiet
		if r.Child != nil {
			c.procs.Children = &child.Launcher{Command: r.Child, Refused: r.refuse,
				Launch: child.Launch{Choices: r.Choices, Kubeconfig: r.Kubeconfig, Paced: r.Paced}}
		}
		r.connect()
		r.free().begin()
		if !r.Paced {
			c.procs.ScriptedTimers = true
			c.sched.SetNow(0)
		}
	}
	b.real, observer.real = r, r
	setups := failedSetups{}
	q := &quiescence{c.sched, c.procs, c.wire, h, b, newActivity()}
	a := &actions{settler: &settler{core: c, faults: f, quiescence: q, setups: setups, real: r,
		maxSteps: s.MaxSteps}}
	a.user = a.newUser(wire.APIHost, server)
	w := &World{core: c, declarations: &declarations{c}, faults: f, builtins: b, settler: a.settler, actions: a,
		rights: &rights{core: c, authorizer: authorizer}, window: &window{core: c}, real: r}
	c.ctx = context.WithValue(c.ctx, worldKey{}, w)
	w.programs = &programs{core: c, faults: f, builtins: b, rights: w.rights, setups: setups,
		users: func() []*user.User { return a.users }, versions: map[string]*version{}}
	observer.programs, observer.stepped = w.programs, w.stepped
	c.judge.passes, c.judge.ignored = s.Pass, s.Ignored
	c.judge.defaults = defaultProperties(testFailed, w.rights.missingPermission)
	w.Builtin(namespace.New())
	w.Builtin(garbage.New())
	w.Builtin(protection.New()...)
	return w
}

// freshen brings a cache up to date if its step has come.
func (c *core) freshen() {
	if f := c.settings.Fresh; !f.Reached && c.sched.Steps()+1 == f.Step {
		f.Reached = true
		f.Delivered = c.wire.Watches.Deliver(f.Process, f.Kind)
	}
}

// stepped is called after every step.
func (w *World) stepped() {
	w.quiescence.read()
	if w.real != nil {
		w.real.stepped()
	}
	if w.failure == nil {
		w.failIfAsserted()
		w.judgeAll(result.Always)
		w.window.forget()
	}
}

// Redrawn reports whether this is the undisturbed run that shows which values are random. What is
// arbitrary should differ in it.
func (w *World) Redrawn() bool { return w.redrawn }

// Undisturbed is the history of the run with the values drawn so far and no other choice than the
// defaults.
func (w *World) Undisturbed() *history.History {
	w.panicIfOver()
	w.real.refuse("a property compares the run with an undisturbed one (w.Undisturbed), and two runs at a real " +
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
