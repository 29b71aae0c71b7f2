package world

import (
	"errors"
	"fmt"
	"runtime/debug"
	"strings"

	"github.com/wavetank/wavetank/internal/story"
	"github.com/wavetank/wavetank/sim/internal/bubble"
	"github.com/wavetank/wavetank/sim/internal/choice"
	"github.com/wavetank/wavetank/sim/internal/inject"
	"github.com/wavetank/wavetank/sim/internal/process"
	"github.com/wavetank/wavetank/sim/internal/run"
	"github.com/wavetank/wavetank/sim/internal/shell"
	"github.com/wavetank/wavetank/sim/result"
)

// attempt is a run while it is made.
type attempt struct {
	*run.Result
	world      *World
	settings   run.Settings
	source     *choice.Recorder
	testFailed func() bool // the run has failed the test itself
	skipped    func() bool // something has called t.Skip
	purpose    purpose
	left       *bubble.LeftBehind // goroutines that did not end with the run; nil if there are none
	wants      bool               // it ended because it asked for a run that was not there
	defaults   bool               // it asked for the default run
	ignored    []string           // functions whose goroutines may be left behind
	carried    any                // a panic from outside the run, to be raised again there
}

// purpose is what a run is made for.
type purpose int

const (
	toJudge   purpose = iota
	toCompare         // undisturbed: other runs are compared with it
	toRedraw          // undisturbed and with other random values: it shows which values are random
	toBegin           // the default run: it shows what programs look for
)

// faultCount is a fault's count as a campaign keeps it.
func faultCount(c inject.Count) result.FaultCount {
	out := result.FaultCount{Fault: c.Fault, Opportunities: c.Opportunities, Injected: c.Injected,
		Observed: c.Observed}
	for _, n := range c.Classes {
		out.Classes = append(out.Classes, result.ClassCount{Verb: n.Verb, Kind: n.Kind, Opportunities: n.Opportunities,
			Injected: n.Injected})
	}
	return out
}

// addStrikes adds a fault's counts by call site.
func addStrikes(to *run.Sites, c inject.Count) {
	columns := map[string]string{}
	for _, n := range c.Sites {
		column, ok := columns[n.When]
		if !ok {
			column = strings.TrimSpace(c.Class + " " + n.When)
			columns[n.When] = column
		}
		to.Strike(n.Source, n.Verb, n.Kind, n.Sub,
			story.Strike{Fault: column, Opportunities: n.Opportunities, Injected: n.Injected})
	}
}

// tearDown ends all processes and takes the result from the world.
func (a *attempt) tearDown() {
	w := a.world
	w.sched.SetFair(true)
	w.cancel()
	bubble.End(func() { w.procs.Teardown(w.sched.Wait) })
	if w.real != nil {
		a.settings.Monitor.UnderWay.Store(false) // the server takes its time to remove what was made
		w.real.close()
	}
	w.over = true
	a.wants, a.ignored = w.wants, w.programs.ignored
	a.Outcomes, a.Unobserved, a.Ignored = w.window.outcomes, w.procs.Unobserved(), w.builtins.ignoredObjects()
	a.Processes, a.Callers, a.ByTimer = len(w.procs.Processes()), w.wire.Callers, w.wire.ByTimer
	a.Rights = w.rights.unusedRights()
	a.Steps, a.Virtual = w.sched.Steps(), w.sched.Now()
	if w.failure != nil {
		a.Ending = *w.failure
	}
	w.window.sites.Read(w.history.Events)
	for _, c := range w.faults.declared.Counts() {
		a.Faults = append(a.Faults, faultCount(c))
		addStrikes(&w.window.sites, c)
	}
	a.Sites = w.window.sites.Counts()
	for _, waits := range w.faults.declared.Waits() {
		a.Waits = append(a.Waits, run.Waits(waits))
	}
	a.Sometimes, a.Properties = w.judge.probes(), w.judge.properties()
	a.Objects, a.Required = w.userObjects(), w.required
	for _, e := range w.judge.passed {
		a.Passed = append(a.Passed, *e)
	}
}

// endedInside is the message of a run whose scenario did not return.
const endedInside = "the scenario's goroutine was ended from inside (t.FailNow or runtime.Goexit); " +
	"state what must hold with w.Always or w.Eventually"

// skippedInside is the message of a run whose scenario called t.Skip.
const skippedInside = "sim: the scenario called t.Skip, which ends its run and not the test; " +
	"call t.Skip before sim.Check, or return from the scenario"

// endInside takes in how the scenario ended: by a panic, or without one.
func (a *attempt) endInside(panicked any, returned bool) {
	w := a.world
	switch v := panicked.(type) {
	case nil:
		switch {
		case returned || w.failure != nil:
		case a.skipped():
			w.failure = &result.Ending{Kind: result.Misuse, Message: skippedInside}
		default:
			w.failure = &result.Ending{Kind: result.Panic, Message: endedInside}
		}
	case stopRun:
	case run.Stopped:
		a.carried = v.Value
	default:
		if a.settings.Leaves != nil && a.settings.Leaves(v) {
			a.carried = v
			break
		}
		stack := string(debug.Stack())
		w.failure = &result.Ending{Kind: result.Panic, Site: process.CallerIn(stack, stack), Message: fmt.Sprint(v),
			Stack: process.SincePanic(stack)}
		if p := w.judge.current; p != nil {
			w.failure.Message = fmt.Sprintf("the property %q panicked: %v at %s", p.sentence, v, w.failure.Site)
			w.failure.Site = p.site
		}
	}
	if w.failure != nil && w.failure.Step == 0 { // a panic's
		w.failure.Step, w.failure.At = w.sched.Steps(), w.sched.Now()
	}
}

// failedInside is the message of a run that has failed the test and went on.
const failedInside = "the test was failed from inside the run, by t.Error or t.Fail; state what must hold with " +
	"w.Always or w.Eventually instead, which can be shrunk and replayed"

// endOutside takes in what only the end of the bubble tells: its error, and whether the run has
// failed the test itself.
func (a *attempt) endOutside(err error, testFailed bool) {
	stuck := underWay.Swap(nil)
	if left := (*bubble.LeftBehind)(nil); errors.As(err, &left) {
		if err = left.Except(a.ignored); err != nil && stuck == nil {
			a.left, err = left, nil // it may be that only the first run of a process leaves them
		}
	}
	e := &a.Ending
	if stuck != nil && err != nil { // the scenario never went on
		*e = result.Ending{}
		if r := stuck.reported.Load(); r != nil {
			*e = *r
		}
	}
	failed := result.Ending{Step: a.Steps, At: a.Virtual}
	switch {
	case e.Message == endedInside && testFailed:
		e.Kind = result.TestFailed // t.Fatal has said its line, and would say it again in each run for shrinking
		return
	case e.Failed():
		return
	case errors.Is(err, bubble.ErrFailed):
		failed.Kind, failed.Message = result.TestFailed, whyFailed(shell.Races())
	case err != nil:
		failed.Kind, failed.Message = result.Leak, err.Error()
	case testFailed:
		failed.Kind, failed.Message = result.TestFailed, failedInside
	default:
		return
	}
	*e = failed
}

// whyFailed says in words who may have failed a test from inside a run: package testing does not.
func whyFailed(races bool) string {
	ended := "t.Fatal or t.FailNow in a reconciler; state what must hold with w.Always or w.Eventually instead, " +
		"which can be shrunk and replayed"
	if !races {
		return bubble.ErrFailed.Error() + ", by " + ended
	}
	return bubble.ErrFailed.Error() + ": the race detector found a data race, and its report (WARNING: DATA RACE) " +
		"stands above\nLook where its two stacks begin. If both do in modules that are not yours, as the paths " +
		"tell, the race is in them and not in your code: controller-runtime v0.25 has one, in engageStopProcedure, " +
		"if a lease is lost while a manager that was asked to stop waits for runnables that never return. A process " +
		"reports a race once, so the run is not shrunk. Where no report stands above, it was " + ended + "."
}
