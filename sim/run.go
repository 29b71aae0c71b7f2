package sim

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/models/admission"
	"github.com/wavetank/wavetank/models/apiserver"
	"github.com/wavetank/wavetank/models/garbage"
	"github.com/wavetank/wavetank/models/namespace"
	"github.com/wavetank/wavetank/models/protection"
	"github.com/wavetank/wavetank/models/rbac"
	"github.com/wavetank/wavetank/sim/internal/choice"
	"github.com/wavetank/wavetank/sim/internal/process"
	"github.com/wavetank/wavetank/sim/internal/sched"
	"github.com/wavetank/wavetank/sim/internal/shell"
	"github.com/wavetank/wavetank/sim/internal/wire"
)

// Verdict is why a run failed.
type Verdict struct {
	// Temper is always, eventually, settles, expectation, panic, leak, nondeterminism, failed or misuse.
	Temper string
	// Property is the sentence that broke; empty for the tempers from expectation on, which are about no property.
	Property string
	// Site is where the property was declared, as file:line.
	Site string
	// Message says what was the matter.
	Message string
	// Step and At are when it was noticed.
	Step int
	At   history.Time
}

func (v *Verdict) sentence() string {
	if v.Property == "" {
		return v.Temper + ": " + v.Message
	}
	return fmt.Sprintf("%s %q broke: %s", v.Temper, v.Property, v.Message)
}

// same says whether two verdicts are about the same failure: the property and where it stands, not the details.
func (v *Verdict) same(o *Verdict) bool {
	if v == nil || o == nil {
		return v == o
	}
	return v.Temper == o.Temper && v.Property == o.Property && v.Site == o.Site &&
		(v.Property != "" || v.Temper == expectation || firstLine(v.Message) == firstLine(o.Message))
}

func firstLine(s string) string {
	s, _, _ = strings.Cut(s, "\n")
	return s
}

// result is one run.
type result struct {
	verdict    *Verdict
	history    *history.History
	log        []choice.Answer
	tape       choice.Sequence
	steps      int
	reconciles int
	requests   int
	virtual    time.Duration
	faults     []FaultCount
	sometimes  []Probe
	outcomes   []outcomes
	refused    []refused
	unseen     []string // controllers that were not observed
	strayed    bool     // something connected to the real network, perhaps not in the run
	unheeded   []unheeded
	processes  int               // that were started
	callers    map[int][]uintptr // of requests, by event
	compares   bool              // with the undisturbed run
	ignored    []string          // functions whose goroutines may be left behind
}

// Probe says whether a Sometimes was ever true.
type Probe struct {
	Sentence string
	Site     string
	Reached  int // runs in which it was
}

// once is one run: the scenario, in a bubble of its own, with every choice answered by the oracle.
func once(t *testing.T, scenario func(*World), oracle choice.Source, s settings) *result {
	r := &result{history: &history.History{}}
	source := choice.New(oracle)
	if s.window > 0 {
		r.history = history.Forgetful()
		source.OnlySequence()
	}
	latest.Store(&inProgress{source, r.history, process.Dials()})
	failed := t.Failed()
	var carried any // a panic of somebody else's that must be raised again outside
	err := bubble(t, func(bt *testing.T) {
		done := make(chan struct{})
		go func() {
			defer close(done)
			r.live(bt, scenario, source, s, &carried)
		}()
		<-done
	})
	if carried != nil {
		panic(carried)
	}
	if left, ok := err.(*errLeft); ok {
		err = left.but(r.ignored)
	}
	if w := current.Swap(nil); w != nil && err != nil { // the scenario never went on
		r.verdict = w.blurted.Load()
	}
	if err == errFailed && r.verdict == nil {
		r.verdict = &Verdict{Temper: failedTest, Message: whyFailed(shell.Races()), Step: r.steps, At: r.virtual}
	} else if err != nil && r.verdict == nil {
		r.verdict = &Verdict{Temper: "leak", Message: err.Error(), Step: r.steps, At: r.virtual}
	}
	if r.verdict == nil && t.Failed() && !failed {
		r.verdict = &Verdict{Temper: failedTest, Step: r.steps, At: r.virtual, Message: "the test was failed from inside the run, by t.Error or t.Fail; state what must hold with " +
			"w.Always or w.Eventually instead, which can be shrunk and replayed"}
	}
	if r.verdict != nil && r.verdict.Message == endedInside && t.Failed() && !failed {
		r.verdict.Temper = failedTest // t.Fatal has said its line, and would say it again in each run for shrinking
	}
	r.log, r.tape = source.Log(), source.Sequence()
	for _, o := range outcomesOf(r.history.Events) {
		r.outcomes = addOutcomes(r.outcomes, o)
	}
	r.refused = refusedOf(r.history.Events)
	r.reconciles, r.requests = r.history.Count(history.Handout), r.history.Count(history.Request)
	return r
}

// drain is the virtual time in which goroutines of dead lives may wake, find that their connection is gone, and end:
// libraries that take no context poll for as long as they were told to, and time stops with the run.
const drain = 10 * time.Minute

// failedTest is the temper of a run in which somebody failed the test itself. A test cannot be made whole again, so no
// second run of it can be told from the first.
const failedTest = "failed"

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
func bubble(t *testing.T, f func(*testing.T)) (err error) {
	underWay.Store(true)
	defer underWay.Store(false)
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
func (r *result) live(bt *testing.T, scenario func(*World), source *choice.Recorder, s settings, carried *any) {
	var w *World
	defer current.Store(nil)
	normal := false
	defer func() {
		v := recover()
		if w == nil { // the oracle itself gave up
			if c, ok := v.(carry); ok {
				v = c.value
			}
			*carried = v
			return
		}
		switch v := v.(type) {
		case nil:
			if !normal && w.verdict == nil {
				w.verdict = &Verdict{Temper: "panic", Message: endedInside}
			}
		case stopRun:
		case carry:
			*carried = v.value
		default:
			if h, ok := s.host.(leaver); ok && h.Leaves(v) {
				*carried = v
				break
			}
			w.verdict = &Verdict{Temper: "panic", Message: fmt.Sprintf("%v\n%s", v, debug.Stack())}
			if p := w.judged; p != nil {
				w.verdict.Site = p.site
				w.verdict.Message = fmt.Sprintf("the property %q panicked: %s", p.sentence, w.verdict.Message)
			}
		}
		if w.verdict != nil && w.verdict.Step == 0 { // a panic's
			w.verdict.Step, w.verdict.At = w.sched.Steps(), w.sched.Now()
		}
		w.sched.SetFair(true)
		w.cancel()
		w.procs.Teardown(synctest.Wait)
		w.over = true
		r.compares, r.outcomes, r.ignored, r.unseen = w.compares, w.outcomes, w.ignored, w.procs.Unobserved()
		r.unheeded, r.processes, r.callers = w.unheeded(), len(w.procs.Processes()), w.wire.Callers
		r.verdict, r.steps, r.virtual = w.verdict, w.sched.Steps(), w.sched.Now()
		for _, f := range w.faults {
			r.faults = append(r.faults, f.core().count)
		}
		for _, p := range w.properties {
			if p.temper == sometimes {
				probe := Probe{Sentence: p.sentence, Site: p.site}
				if p.reached {
					probe.Reached = 1
				}
				r.sometimes = append(r.sometimes, probe)
			}
		}
		time.Sleep(drain)
	}()
	process.Seed(bt, uint64(source.Choose("dice", 1<<16)))
	w = newWorld(source, r.history, s)
	current.Store(w)
	scenario(w)
	w.lookInCaches()
	w.endings()
	w.judge(always)
	w.judge(sometimes)
	w.unasked()
	normal = true
}

// carry is a panic that belongs to somebody outside, for example to rapid.
type carry struct{ value any }

// leaver is a Host whose tests are left by panics, once they have been marked as failed or skipped.
type leaver interface{ Leaves(panicked any) bool }

func newWorld(source *choice.Recorder, h *history.History, s settings) *World {
	w := &World{settings: s, choices: source, history: h, pack: defaultPack(), quiet: newQuietness(), unready: map[*process.Process]unready{}}
	w.ctx, w.cancel = context.WithCancel(context.Background())
	w.sched = sched.New(source, rules{w})
	server := apiserver.New(apiserver.Options{Now: time.Now, Seed: uint64(source.Choose("names", 1<<16))})
	server.SetAuthorizer(rbac.New(server))
	server.SetAdmission(admission.New(server))
	w.wire = wire.New(w.sched, h, server, rules{w})
	if s.callers && s.window == 0 {
		w.wire.Callers = map[int][]uintptr{}
	}
	w.procs = process.New(w.sched, h, w.wire, runLog(), rules{w})
	w.user = newUserClient(w, wire.APIHost, server)
	w.Builtin(namespace.New())
	w.Builtin(garbage.New())
	w.Builtin(protection.New()...)
	return w
}

// runLog is where controllers under test log: nowhere, unless somebody wants to read it.
func runLog() logr.Logger {
	if !flags.log {
		return logr.Discard()
	}
	return funcr.New(func(prefix, args string) { fmt.Fprintln(os.Stderr, strings.TrimSpace(prefix+" "+args)) },
		funcr.Options{LogTimestamp: true, TimestampFormat: "15:04:05.000"}) // of the bubble's clock, which begins at midnight
}
