package sim

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/sim/internal/choice"
	"github.com/wavetank/wavetank/sim/internal/process"
	"github.com/wavetank/wavetank/sim/internal/sched"
	"github.com/wavetank/wavetank/sim/internal/wire"
)

// World is one simulated cluster with everything in it. It lives for one run. Its methods must be called on the
// goroutine that the scenario was called on.
type World struct {
	settings settings
	choices  *choice.Recorder
	sched    *sched.Scheduler
	history  *history.History
	wire     *wire.Network
	procs    *process.Supervisor
	user     *userClient

	builtins   []*builtin
	clusters   []*Cluster
	properties []*property
	pack       []*property   // the default pack, as far as it is on
	without    []string      // what of the default pack is off
	compares   bool          // with the undisturbed run
	looked     int           // the step at which caches were looked at last
	kept       time.Duration // since when the record is kept
	outcomes   []outcomes    // of reconciles that are no longer kept
	compared   int           // events that were compared with the first run of a doubled one
	faults     []Fault
	pauses     []*pause // those of them
	healed     bool     // faults are off: the second phase of a stretch
	judging    bool
	judged     *property // the property that is being judged
	quiet      *quietness
	verdict    *Verdict
	over       bool // torn down
	ctx        context.Context
	cancel     context.CancelFunc
	ignored    []string // functions whose goroutines may outlive their process
	// pending is an ending found where the run could not be unwound.
	pending *Verdict
	// foreign is the verdict of an assertion that failed on a goroutine of the code under test.
	foreign *Verdict
	// blurted is the first of those, at once: a scenario that waits for the goroutine, which has ended, has no next quiet moment.
	blurted atomic.Pointer[Verdict]
	// unready are the processes whose setup functions have failed last.
	unready map[*process.Process]unready
}

// stopRun unwinds the scenario once the verdict is known.
type stopRun struct{}

// fail ends the run with a verdict.
func (w *World) fail(v *Verdict) {
	if w.verdict == nil {
		v.Step = w.sched.Steps()
		v.At = w.sched.Now()
		w.verdict = v
		w.note(history.Event{Kind: history.Violation, Note: v.sentence()})
	}
	panic(stopRun{})
}

// misuse ends the run because the scenario asks for something that cannot be.
func (w *World) misuse(format string, args ...any) { w.fail(misuse(format, args...)) }

func misuse(format string, args ...any) *Verdict {
	return &Verdict{Temper: "misuse", Message: "sim: " + fmt.Sprintf(format, args...)}
}

// alive unwinds again if the scenario goes on after its run has ended.
func (w *World) alive() {
	if w.over {
		panic("sim: a World was used when its run was over; each run has a World of its own, so do not keep it")
	}
	w.mine()
	if w.verdict != nil {
		panic(stopRun{})
	}
	w.sched.Disturb()
}

func (w *World) note(e history.Event) {
	e.Step, e.At, e.Server = w.sched.Steps(), w.sched.Now(), w.wire.Server().Revision()
	w.history.Add(e)
}

// History is the record of this run so far.
func (w *World) History() *history.History { return w.history }

// Context is done when the run ends.
func (w *World) Context() context.Context { return w.ctx }

// ProcessOption changes how a process is started.
type ProcessOption func(*processOptions)

type processOptions struct {
	manager             ctrl.Options
	as                  *string
	services            []string
	vary, listThenWatch bool
	ignored             []string
}

// Options gives a process the ctrl.Options of the operator's own main. The harness overrides what it must own: the
// metrics, health and pprof addresses, the REST mapper (unless MapperProvider is set), the check that controller names
// are unique, the order of cached lists, and the identity of the leader election lock; a RenewDeadline that is a multiple
// of the RetryPeriod is cut by 7 ms, so that the two never fall on one instant. LeaderElectionConfig
// and Cache.NewInformer are refused.
func Options(o ctrl.Options) ProcessOption {
	return func(p *processOptions) { p.manager = o }
}

func processOptionsOf(opts []ProcessOption) processOptions {
	var o processOptions
	for _, opt := range opts {
		opt(&o)
	}
	return o
}

// Start adds a process that is one manager. setup is the function that the operator ships, called afresh for each life.
func (w *World) Start(name string, setup func(ctrl.Manager) error, opts ...ProcessOption) {
	o := processOptionsOf(opts)
	if setup == nil {
		w.misuse("w.Start(%q) was given no setup function", name)
	}
	o.turn(w, name)
	w.begin(name, o, func(ctx context.Context, cfg *rest.Config) error {
		mgr, err := process.NewManager(cfg, o.manager)
		if err != nil {
			return &setupError{err}
		}
		if err := mgr.Setup(setup); err != nil {
			return &setupError{err}
		}
		return mgr.Start(ctx)
	})
}

// Run adds a process that is any program: main is called afresh for each life and must return when ctx is done. It
// reaches the cluster through cfg; one that makes managers itself uses [NewManager], to which it gives its ctrl.Options.
// Of those given here by [Options] only the Scheme counts, for [World.Client] and [World.Apply]; others are refused.
func (w *World) Run(name string, main func(ctx context.Context, cfg *rest.Config) error, opts ...ProcessOption) {
	if main == nil {
		w.misuse("w.Run(%q) was given no function", name)
	}
	o := processOptionsOf(opts)
	rest := o.manager
	if rest.Scheme = nil; o.vary || !reflect.ValueOf(rest).IsZero() {
		w.misuse("w.Run(%q) makes no manager, so of sim.Options it takes the Scheme alone, and no sim.Vary; give sim.NewManager the rest inside the program", name)
	}
	w.begin(name, o, main)
}

func (w *World) begin(name string, o processOptions, main process.Main) {
	w.between("w.Start or w.Run")
	if name == "" || name == userName {
		w.misuse("a process cannot be called %q", name)
	}
	if w.procs.Find(name) != nil {
		w.misuse("two processes are called %q; a process's name names one program (its later lives are started by the world)", name)
	}
	if s := o.manager.Scheme; s != nil {
		w.user.know(s)
		for _, c := range w.clusters {
			c.user.know(s)
		}
	}
	w.ignored = append(w.ignored, o.ignored...)
	w.procs.Start(name, main, process.Settings{Account: w.account(name, o), Services: o.services, ListThenWatch: o.listThenWatch})
	w.sched.Quiesce() // programs that start one after the other draw their dice one after the other
}

// setupError is what NewManager or the setup function returned, before anything ran.
type setupError struct{ error }

func (e *setupError) Unwrap() error { return e.error }

// NewManager makes a manager inside a program started with [World.Run]: ctrl.NewManager for simulated processes.
func NewManager(cfg *rest.Config, o ctrl.Options) (ctrl.Manager, error) {
	return process.NewManager(cfg, o)
}

// Inject declares faults: from here on they may strike, wherever the choices of the run say so, until the next Settle
// heals them; after that they are on again.
func (w *World) Inject(faults ...Fault) {
	w.alive()
	for _, declared := range faults {
		f := declared.fresh()
		c := f.core()
		if strings.Contains(c.name, "(-") || strings.Contains(c.name, ", -") {
			w.misuse("fault %s has a negative duration", f)
		}
		if c.scope.process != "" && w.procs.Find(c.scope.process) == nil {
			w.misuse("fault %s names process %q, which has not been started", f, c.scope.process)
		}
		if f, ok := f.(*staleServer); ok && w.settings.window > 0 && f.max > w.settings.window {
			w.misuse("fault %s trails further than the run remembers, which is %v (sim.Window)", f, w.settings.window)
		}
		if c.unfit != "" {
			w.misuse("fault %s cannot be narrowed %s", f, c.unfit)
		}
		if c.count.Fault == "" {
			c.count.Fault = f.String()
		}
		c.eager = w.choices.Choose("fault "+f.String(), 3)
		w.faults = append(w.faults, f)
		if f, ok := f.(*pause); ok {
			w.pauses = append(w.pauses, f)
		}
	}
}

// Sleep lets virtual time pass, under faults.
func (w *World) Sleep(d time.Duration) {
	w.between("w.Sleep")
	if d < 0 {
		w.misuse("w.Sleep(%v): time does not go back", d)
	}
	until := w.sched.Now() + d
	for w.sched.Step(until) {
		w.bounded("w.Sleep")
	}
}

// Stop asks a process to end, as SIGTERM does; the kubelet starts it again at once when it has ended.
func (w *World) Stop(name string) {
	w.alive()
	p := w.procs.Find(name)
	if p == nil {
		w.misuse("w.Stop(%q): there is no such process", name)
	}
	if l := p.Current(); l != nil {
		l.Stop()
	}
}

// Client is a client of the user's: for anything that [World.Apply] and [World.Remove] do not do. Inside a property it
// reads the server's state at that moment.
func (w *World) Client() client.Client { return w.user }

// Stepped implements sched.Observer.
func (r rules) Stepped() {
	w := r.w
	w.quiet.take(w)
	if w.verdict == nil {
		w.raise()
		w.judge(always)
		w.forget()
	}
}

// bounded gives up on a run that has taken too many steps.
func (w *World) bounded(in string) {
	switch limit := w.settings.maxSteps; {
	case w.sched.Steps() <= limit:
	case in == settling:
		w.unsettled(fmt.Sprintf("after %d steps (-sim.max-steps)", limit))
	default:
		w.fail(&Verdict{Temper: settles, Property: worldSettles, Message: fmt.Sprintf("the run has taken %d steps and is still in %s, "+
			"before it is asked to settle; if it is meant to be that long, allow more by sim.MaxSteps or -sim.max-steps", limit, in)})
	}
}

// Exited implements process.Observer. It decides what follows when a program ended by itself.
func (r rules) Exited(l *process.Incarnation, err error) (restart bool) {
	w := r.w
	var bad *setupError
	var panicked *process.PanicError
	switch {
	case errors.As(err, &panicked):
		message := fmt.Sprintf("process %q panicked outside a reconcile: %v\n%s", l.Process.Name, pointers.ReplaceAllString(fmt.Sprint(panicked.Value), "0x…"), panicked.Stack)
		if w.pending = misuse("%s", message); w.anyFault() { // it may take that fault: a run to be shrunk, kept and replayed
			w.pending = &Verdict{Temper: "panic", Message: message}
		}
	case errors.As(err, &bad) && l.N == 1 && !w.anyFault():
		w.pending = misuse("the setup function of process %q failed: %v%s", l.Process.Name, bad.error, schemeHint(bad.error))
	case errors.As(err, &bad):
		// It has worked before, or it took a fault: the kubelet starts it again, and a world in which that never helps does not settle.
		w.unready[l.Process] = unready{l.N, bad.error}
		if !w.anyFault() {
			w.pending = &Verdict{Temper: settles, Property: worldSettles, Message: w.unreadiness(l.Process) + ", and no fault is in the way: the kubelet starts it again for ever"}
		}
	}
	return w.pending == nil
}

// unready is how the setup function of a process failed, and in which life.
type unready struct {
	life int
	err  error
}

// unreadiness says that a process is down because its setup function failed; "" if it is not.
func (w *World) unreadiness(p *process.Process) string {
	u, ok := w.unready[p]
	if !ok || u.life != p.Incarnations() {
		return ""
	}
	return fmt.Sprintf("the setup function of process %q failed in life %d: %v", p.Name, u.life, u.err)
}

// schemes that w.Client knows from the start. The second is the one to which programs without a manager add their types.
var baseSchemes = []*runtime.Scheme{baseScheme(), clientgoscheme.Scheme}
