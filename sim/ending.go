package sim

import (
	"runtime"
	"strings"
	"sync/atomic"

	"github.com/wavetank/wavetank/history"
)

// ending is how a run ends. Each kind of goroutine reports it in its own way:
//
//   - The scenario's goroutine, which is also the scheduling goroutine, calls [World.fail].
//   - A goroutine of the code under test calls [World.failSoon] or [World.failLater].
//   - A process that has ended by itself sets pending, as the run cannot be unwound there.
type ending struct {
	// verdict is why the run has failed; nil if it has not.
	verdict *Verdict
	// over is set when the world has been torn down.
	over bool
	// pending is the verdict on a program that has ended.
	pending *Verdict
	// asserted is the verdict of an assertion that failed on a goroutine of the code under test.
	asserted *Verdict
	// reported is the first of those, at once: a scenario that waits for the goroutine, which has
	// ended, has no next quiet moment.
	reported atomic.Pointer[Verdict]
}

// stopRun unwinds the scenario once the verdict is known.
type stopRun struct{}

// GinkgoRecoverShouldIgnoreThisPanic keeps a deferred GinkgoRecover from taking the end of a run
// for a failed spec.
func (stopRun) GinkgoRecoverShouldIgnoreThisPanic() {}

// fail ends the run with a verdict. It must be called on the scenario's goroutine, and panics.
func (w *World) fail(v *Verdict) {
	if w.verdict == nil {
		v.Step = w.sched.Steps()
		v.At = w.sched.Now()
		w.verdict = v
		w.note(history.Event{Kind: history.Violation, Note: v.sentence()})
	}
	panic(stopRun{})
}

// failLater ends the calling goroutine of the code under test, and the run at its next quiet
// moment.
func (w *World) failLater(v *Verdict) {
	w.failSoon(v)
	runtime.Goexit()
}

// failSoon ends the run at its next quiet moment. Any goroutine may call it.
func (w *World) failSoon(v *Verdict) {
	w.reported.CompareAndSwap(nil, v)
	w.sched.Note("verdict "+v.Site+" "+v.Message, func() {
		if w.asserted == nil {
			w.asserted = v
		}
	})
}

// failIfAsserted ends the run if a goroutine of the code under test has reported a failure.
func (w *World) failIfAsserted() {
	if w.asserted != nil && w.verdict == nil {
		w.fail(w.asserted)
	}
}

// failIfReported ends the run if a goroutine of the code under test has reported a failure, or if a
// program has ended in a way from which no world can go on.
func (w *World) failIfReported() {
	w.failIfAsserted()
	if w.pending != nil {
		w.fail(w.pending)
	}
}

// onScenario says whether the caller is on the goroutine that the scenario was called on, which is
// also the scheduling goroutine: the only one that may end the run by a panic. The steps of
// built-in controllers have stacks of their own, on which the scheduling goroutine waits. It is
// asked at every use of the world, so it looks at the bottom of the stack first.
func onScenario() bool {
	var pcs [256]uintptr
	for skip := 2; ; skip += len(pcs) {
		n := runtime.Callers(skip, pcs[:])
		for i := n - 1; i >= 0; i-- {
			f := runtime.FuncForPC(pcs[i] - 1)
			if f == nil {
				continue
			}
			name := f.Name()
			if strings.HasSuffix(name, "/sim.(*result).live") || strings.HasSuffix(name, "/wire.(*step).perform") {
				return true
			}
		}
		if n < len(pcs) {
			return false
		}
	}
}
