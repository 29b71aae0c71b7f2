package sim

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/models/admission"
	"github.com/wavetank/wavetank/models/apiserver"
	"github.com/wavetank/wavetank/models/garbage"
	"github.com/wavetank/wavetank/models/namespace"
	"github.com/wavetank/wavetank/models/protection"
	"github.com/wavetank/wavetank/models/rbac"
	"github.com/wavetank/wavetank/sim/internal/choice"
	"github.com/wavetank/wavetank/sim/internal/process"
	"github.com/wavetank/wavetank/sim/internal/run"
	"github.com/wavetank/wavetank/sim/internal/sched"
	"github.com/wavetank/wavetank/sim/internal/shell"
	"github.com/wavetank/wavetank/sim/internal/wire"
	"github.com/wavetank/wavetank/sim/result"
)

// runner makes the runs of one scenario.
type runner struct {
	scenario func(*World)
	// undisturbed is the record of the run on the default schedule, once a run has compared itself with it.
	undisturbed *history.History
}

// runnerOf is the runner of a scenario; nil if there is none.
func runnerOf(scenario func(*World)) run.Runner {
	if scenario == nil {
		return nil
	}
	return (&runner{scenario: scenario}).run
}

// run makes one run. When its scenario compares with the undisturbed run for the first time, that one is made, and the
// run is repeated from its choices. A run that has connected to the real network has failed.
func (r *runner) run(t *testing.T, o choice.Oracle, s run.Settings) *run.Result {
	if s.Monitor == nil {
		s.Monitor = &run.Monitor{}
	}
	dials := process.Dials()
	res := r.compared(t, o, s)
	if process.Dials() != dials && res.Ending.Kind != result.Misuse {
		r.connected(t, res, s)
	}
	return res
}

func (r *runner) compared(t *testing.T, o choice.Oracle, s run.Settings) *run.Result {
	res, compares := r.once(t, o, s)
	if !compares || r.undisturbed != nil {
		return res
	}
	undisturbed, _ := r.once(t, choice.Play(nil), s)
	r.undisturbed = undisturbed.History
	res, _ = r.once(t, choice.Play(res.Tape), s)
	return res
}

// execution is a run while it is made.
type execution struct {
	*run.Result
	world    *World
	settings run.Settings
	source   *choice.Source
	compares bool     // with the undisturbed run
	ignored  []string // functions whose goroutines may be left behind
	carried  any      // a panic of somebody else's that must be raised again outside
}

// once is one run: the scenario, in a bubble of its own, with every choice answered by the oracle. It says whether the
// scenario compares with the undisturbed run.
func (r *runner) once(t *testing.T, o choice.Oracle, s run.Settings) (res *run.Result, compares bool) {
	x := &execution{Result: &run.Result{History: &history.History{}}, settings: s, source: choice.New(o)}
	if s.Window > 0 {
		x.History = history.Forgetful()
		x.source.OnlyTape()
	}
	s.Monitor.Latest.Store(&run.InProgress{Choices: x.source, History: x.History, Dials: process.Dials()})
	failed := t.Failed()
	err := bubble(t, s.Monitor, func(bt *testing.T) {
		done := make(chan struct{})
		go func() {
			defer close(done)
			run.Scenario(func() { r.live(bt, x) })
		}()
		<-done
	})
	if x.carried != nil {
		panic(x.carried)
	}
	if left, ok := err.(*errLeft); ok {
		err = left.but(x.ignored)
	}
	x.judgeBubble(err, t.Failed() && !failed)
	x.Log, x.Tape = x.source.Log(), x.source.Tape()
	for _, o := range run.OutcomesOf(x.History.Events) {
		x.Outcomes = run.AddOutcomes(x.Outcomes, o)
	}
	x.Refused = run.RefusedOf(x.History.Events)
	x.Reconciles, x.Requests = x.History.Count(history.Handout), x.History.Count(history.Request)
	return x.Result, x.compares
}

// judgeBubble fails a run for how its bubble ended, or because the test was failed meanwhile.
func (x *execution) judgeBubble(err error, testFailed bool) {
	e := &x.Ending
	if w := current.Swap(nil); w != nil && err != nil { // the scenario never went on
		*e = result.Ending{}
		if v := w.blurted.Load(); v != nil {
			*e = *v
		}
	}
	switch {
	case e.Failed():
	case err == errFailed:
		*e = result.Ending{Kind: result.TestFailed, Message: whyFailed(shell.Races()), Step: x.Steps, At: x.Virtual}
	case err != nil:
		*e = result.Ending{Kind: result.Leak, Message: err.Error(), Step: x.Steps, At: x.Virtual}
	case testFailed:
		*e = result.Ending{Kind: result.TestFailed, Step: x.Steps, At: x.Virtual, Message: "the test was failed from inside the run, by t.Error or t.Fail; " +
			"state what must hold with w.Always or w.Eventually instead, which can be shrunk and replayed"}
	}
	if e.Message == endedInside && testFailed {
		e.Kind = result.TestFailed // t.Fatal has said its line, and would say it again in each run for shrinking
	}
}

// drain is the virtual time in which goroutines of dead lives may wake, find that their connection is gone, and end:
// libraries that take no context poll for as long as they were told to, and time stops with the run.
const drain = 10 * time.Minute

// endedInside is the message of a run whose scenario did not return.
const endedInside = "the scenario's goroutine was ended from inside (t.FailNow or runtime.Goexit); state what must hold with w.Always or w.Eventually"

// errFailed is how a bubble ends that package testing has failed: it looks for data races when the bubble is over.
var errFailed = errors.New("the test was failed from inside the run")

// whyFailed says in words who may have failed a test from inside a run: package testing does not.
func whyFailed(races bool) string {
	ended := "t.Fatal or t.FailNow in a reconciler; state what must hold with w.Always or w.Eventually instead, which can be shrunk and replayed"
	if !races {
		return errFailed.Error() + ", by " + ended
	}
	return errFailed.Error() + ": the race detector found a data race, and its report (WARNING: DATA RACE) stands above\n" +
		"Look where its two stacks begin. If both do in modules that are not yours, as the paths tell, the race is in them and not in your code: " +
		"controller-runtime v0.25 has one, in engageStopProcedure, if a lease is lost while a manager that was asked to stop waits in vain for its runnables. " +
		"A process reports a race once, so the run is not shrunk. Where no report stands above, it was " + ended + "."
}

// bubble runs f in a synctest bubble on a goroutine of its own, so that nothing that happens inside can end the test
// before its story is told.
func bubble(t *testing.T, m *run.Monitor, f func(*testing.T)) (err error) {
	m.UnderWay.Store(true)
	defer m.UnderWay.Store(false)
	done := make(chan struct{})
	finished := false
	go func() {
		defer close(done)
		defer func() {
			if v := recover(); v != nil {
				err = &errLeft{why: v}
			} else if !finished {
				err = errFailed
			}
		}()
		synctest.Test(t, f)
		finished = true
	}()
	<-done
	return err
}

// live builds the world, runs the scenario and tears everything down. It is called inside the bubble.
func (r *runner) live(bt *testing.T, x *execution) {
	defer current.Store(nil)
	normal := false
	defer func() {
		v := recover()
		if x.world == nil { // the oracle itself gave up
			if c, ok := v.(run.Stopped); ok {
				v = c.Value
			}
			x.carried = v
			return
		}
		x.unwound(v, normal)
		x.end()
		time.Sleep(drain)
	}()
	process.Seed(bt, uint64(x.source.Choose("dice", 1<<16)))
	w := newWorld(x.source, x.History, x.settings)
	x.world, w.undisturbed = w, r.undisturbed
	current.Store(w)
	r.scenario(w)
	w.lookInCaches()
	w.endings()
	w.judge(result.Always)
	w.judge(result.Sometimes)
	w.unasked()
	normal = true
}

// unwound takes in how the scenario ended: by a panic, or, with none, normally or from inside.
func (x *execution) unwound(panicked any, normal bool) {
	w := x.world
	switch v := panicked.(type) {
	case nil:
		if !normal && w.verdict == nil {
			w.verdict = &result.Ending{Kind: result.Panic, Message: endedInside}
		}
	case stopRun:
	case run.Stopped:
		x.carried = v.Value
	default:
		if x.settings.Leaves != nil && x.settings.Leaves(v) {
			x.carried = v
			break
		}
		w.verdict = &result.Ending{Kind: result.Panic, Message: fmt.Sprintf("%v\n%s", v, debug.Stack())}
		if p := w.judged; p != nil {
			w.verdict.Site = p.site
			w.verdict.Message = fmt.Sprintf("the property %q panicked: %s", p.sentence, w.verdict.Message)
		}
	}
	if w.verdict != nil && w.verdict.Step == 0 { // a panic's
		w.verdict.Step, w.verdict.At = w.sched.Steps(), w.sched.Now()
	}
}

// end tears the world down, and takes from it what belongs to the result.
func (x *execution) end() {
	w := x.world
	w.sched.SetFair(true)
	w.cancel()
	w.procs.Teardown(synctest.Wait)
	w.over = true
	x.compares, x.Outcomes, x.ignored, x.Unobserved = w.compares, w.outcomes, w.ignored, w.procs.Unseen()
	x.Ignored, x.Processes, x.Callers = w.ignoredObjects(), len(w.procs.Processes()), w.wire.Callers
	x.Steps, x.Virtual = w.sched.Steps(), w.sched.Now()
	if w.verdict != nil {
		x.Ending = *w.verdict
	}
	for _, f := range w.faults {
		x.Faults = append(x.Faults, f.core().count)
	}
	for _, p := range w.properties {
		if p.kind == result.Sometimes {
			probe := result.Probe{Sentence: p.sentence, Site: p.site}
			if p.reached {
				probe.Reached = 1
			}
			x.Sometimes = append(x.Sometimes, probe)
		}
	}
}

func newWorld(source *choice.Source, h *history.History, s run.Settings) *World {
	w := &World{settings: s, choices: source, history: h, pack: defaultPack(), quiet: newQuietness(), unready: map[*process.Process]unready{}}
	w.ctx, w.cancel = context.WithCancel(context.Background())
	w.sched = sched.New(source)
	server := apiserver.New(apiserver.Options{Now: time.Now, Seed: uint64(source.Choose("names", 1<<16))})
	server.SetAuthorizer(rbac.New(server))
	server.SetAdmission(admission.New(server))
	w.wire = wire.New(w.sched, h, server)
	w.wire.Rules = rules{w}
	if s.Callers && s.Window == 0 {
		w.wire.Callers = map[int][]uintptr{}
	}
	w.procs = process.New(w.sched, h, w.wire, s.Log)
	w.procs.OnHandout = w.handout
	w.procs.OnExit = w.onExit
	w.procs.OnDial = dialled
	w.sched.Granted = w.granted
	w.sched.Progress = &s.Monitor.Beats
	w.wire.Committed = w.observe
	w.wire.Unknown = w.unknown
	w.user = newUserClient(w, wire.APIHost, server)
	w.Builtin(namespace.New())
	w.Builtin(garbage.New())
	w.Builtin(protection.New()...)
	return w
}
