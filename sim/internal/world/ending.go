package world

import (
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"sync/atomic"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/sim/internal/bubble"
	"github.com/wavetank/wavetank/sim/internal/process"
	"github.com/wavetank/wavetank/sim/internal/run"
	"github.com/wavetank/wavetank/sim/internal/shell"
	"github.com/wavetank/wavetank/sim/result"
)

// ending is how a run ends. The code that detects a failure reports it in the way of its
// goroutine:
//
//   - The scenario's goroutine, which is also the scheduling goroutine, calls [World.fail].
//   - A goroutine of the code under test calls [World.failSoon] or [World.failLater].
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
func (w *World) fail(e *result.Ending) {
	if w.failure == nil {
		e.Step, e.At = w.sched.Steps(), w.sched.Now()
		w.failure = e
		w.note(history.Event{Kind: history.Violation, Note: e.Sentence(), Read: w.judge.read, About: e.About})
	}
	panic(stopRun{})
}

// failLater ends the calling goroutine of the code under test, and the run at its next quiet
// moment.
func (w *World) failLater(e *result.Ending) {
	w.failSoon(e)
	runtime.Goexit()
}

// failSoon ends the run at its next quiet moment. Any goroutine may call it.
func (w *World) failSoon(e *result.Ending) {
	w.reported.CompareAndSwap(nil, e)
	w.sched.Note("verdict "+e.Site+" "+e.Message, func() {
		if w.asserted == nil {
			w.asserted = e
		}
	})
}

// failIfAsserted ends the run if a goroutine of the code under test has reported a failure.
func (w *World) failIfAsserted() {
	if w.asserted != nil && w.failure == nil {
		w.fail(w.asserted)
	}
}

// failIfReported ends the run if a goroutine of the code under test has reported a failure, or if a
// program has ended in a way from which no world can go on.
func (w *World) failIfReported() {
	w.failIfAsserted()
	if w.exit != nil {
		w.fail(w.exit)
	}
}

// misuse ends the run because the scenario asks for something that cannot be.
func (w *World) misuse(format string, args ...any) { w.fail(misuse(format, args...)) }

func misuse(format string, args ...any) *result.Ending {
	return &result.Ending{Kind: result.Misuse, Message: "sim: " + fmt.Sprintf(format, args...)}
}

// current is the world of the run that is under way.
var current atomic.Pointer[World]

// Fail ends the run that is under way because an assertion failed at site (file:line), and does not
// return. It is the fail handler of assertion libraries while a campaign runs: the failure becomes
// that of the run, with a story. Any goroutine may call it. On a goroutine of the code under test
// it ends the goroutine, as t.FailNow does, and the run ends at its next quiet moment. Without a
// run it returns false.
func Fail(site, message string) bool {
	w := current.Load()
	if w == nil {
		return false
	}
	e := &result.Ending{Kind: result.Expectation, Site: site, Message: run.Repeatable(message)}
	if run.OnScenario() {
		w.fail(e)
	}
	w.failLater(e)
	return true
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
			Stack: stack}
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
	stuck := current.Swap(nil)
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
