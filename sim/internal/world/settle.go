package world

import (
	"fmt"
	"slices"
	"time"

	"github.com/wavetank/wavetank/history"
	shipped "github.com/wavetank/wavetank/sim/property"
	"github.com/wavetank/wavetank/sim/result"
)

// The fault phase ends at quiescence, or after so much time or so many steps.
const (
	faultPhaseTime  = 3 * time.Minute
	faultPhaseSteps = 2000
)

// Settle runs the world until nothing is left to do, then judges every Eventually property.
func (w *World) Settle() {
	w.panicIfInStep("w.Settle")
	w.faultPhase()
	w.beginRecovery()
	w.settleAndJudge()
	w.endRecovery()
}

// settleAndJudge waits for quiescence, when faults have ended, and judges.
func (w *World) settleAndJudge() {
	quiescent := w.waitForQuiescence()
	w.inspectCaches()
	if quiescent {
		w.note(history.Event{Kind: history.Settled})
	}
	w.judgeAll(result.Always)
	w.judgeAll(result.Eventually)
	w.judgeAll(result.Sometimes)
}

// faultPhase runs the world while choices decide and faults are injected.
func (w *World) faultPhase() {
	w.phase(func() bool { w.untilCalm(); return false })
}

// untilCalm runs the world until the fault phase is over.
func (w *World) untilCalm() {
	until := w.sched.Now() + faultPhaseTime
	steps := w.sched.Steps() + faultPhaseSteps
	for w.sched.Steps() < steps && w.sched.Now() < until {
		w.sched.Quiesce()
		w.failIfReported()
		w.quiescence.read()
		quietAt := w.quiescence.quietAt()
		if w.quiescence.calm() && len(w.quiescence.dequeuesBefore(until)) == 0 && w.sched.Now() >= quietAt {
			return
		}
		if quietAt > w.sched.Now() {
			w.sched.Step(min(until, quietAt))
		} else {
			w.sched.Step(until)
		}
		if w.sched.Steps() > w.settings.MaxSteps {
			return // recovery decides
		}
	}
}

// beginRecovery ends all faults and makes scheduling fair.
func (w *World) beginRecovery() {
	w.recovering = true
	w.quiescence.recovers()
	w.sched.SetFair(true)
	w.endFaults()
}

// endFaults takes back what lasts of the faults that were injected.
func (w *World) endFaults() {
	w.faults.End()
	w.sched.Hurry()
	if w.faults.Armed() {
		w.note(history.Event{Kind: history.Heal})
	}
}

// EndFaults ends all faults that were declared. Scheduling stays as it is.
func (w *World) EndFaults() {
	w.panicIfInStep("w.EndFaults")
	w.healed = true
	w.endFaults()
}

// faultsEnded reports whether no fault may be injected now.
func (w *World) faultsEnded() bool { return w.recovering || w.healed }

// endRecovery lets faults be injected again.
func (w *World) endRecovery() {
	w.procs.Settled()
	w.recovering = false
	w.sched.SetFair(false)
}

// waitForQuiescence reports whether the world became quiescent. It need not when the default
// property "settles" is off.
func (w *World) waitForQuiescence() bool { return w.phase(w.untilQuiescent) }

func (w *World) untilQuiescent() bool {
	q := &w.quiescence
	required := !slices.Contains(w.judge.without, shipped.DefaultSettles)
	begun := w.sched.Now()
	w.procs.LongestWait() // what was put off before does not count
	limit := begun + 3*max(longestBackOff, q.longestTimer())
	maxSteps := w.settings.MaxSteps
	for {
		w.sched.Quiesce()
		w.failIfReported()
		q.read()
		ok, again := q.reached()
		if ok {
			return true
		}
		limit = max(limit, begun+3*max(w.procs.LongestWait(), w.builtins.longestStep()))
		limit = q.extended(limit, begun)
		if w.sched.Steps() > maxSteps && maxSteps == w.settings.MaxSteps && q.backsOff() {
			maxSteps *= 2 // it can be what the world waits for
		}
		switch tooLong := w.sched.Steps() > maxSteps; {
		case !required && (tooLong || w.sched.Now() >= limit):
			w.awaitQuietMoment()
			if tooLong { // what follows may take as many steps again
				w.settings.MaxSteps = w.sched.Steps() + w.settings.MaxSteps
			}
			return false
		case tooLong:
			w.failUnsettled(fmt.Sprintf("after %d steps (-sim.max-steps)", maxSteps))
		}
		if again <= w.sched.Now() {
			again = limit
		}
		if !w.sched.Step(min(limit, again)) && w.sched.Now() >= limit && required {
			if ok, _ := q.reached(); ok {
				return true
			}
			w.failUnsettled(fmt.Sprintf("within %v, three times the longest wait", limit-begun))
		}
	}
}

// awaitQuietMoment lets what is under way end before a world that has not settled is judged. It
// waits for a quiet second, after a minute for any moment at which nothing is under way, and for
// two minutes at most.
func (w *World) awaitQuietMoment() {
	q := &w.quiescence
	calmBy, maxSteps := w.sched.Now()+idlePeriod, w.sched.Steps()+faultPhaseSteps
	for w.sched.Now() < calmBy+idlePeriod && w.sched.Steps() < maxSteps {
		w.sched.Quiesce()
		w.failIfReported()
		q.read()
		until := calmBy + idlePeriod
		if q.calm() {
			if w.sched.Now() >= min(q.quietAt(), calmBy) {
				return
			}
			until = min(q.quietAt(), calmBy)
		}
		w.sched.Step(until)
	}
}

// failIfTooLong gives up on a run that takes too many steps before it is asked to settle.
func (w *World) failIfTooLong(call string) {
	if limit := w.settings.MaxSteps; w.sched.Steps() > limit {
		w.fail(&result.Ending{Kind: result.Settles, Property: worldSettles, Message: fmt.Sprintf(
			"the run has taken %d steps and is still in %s, before it is asked to settle; if it is meant to be that "+
				"long, allow more by sim.MaxSteps or -sim.max-steps", limit, call)})
	}
}

// drive runs the world until a request of the scenario's has been answered.
func (w *World) drive(replied func() bool) {
	const call = "w.Apply, w.Remove or w.Client()"
	w.panicIfInStep(call)
	w.phase(func() bool {
		for !replied() {
			w.sched.Quiesce()
			w.failIfReported()
			w.sched.Step(w.sched.Now() + time.Hour)
			w.failIfTooLong(call)
		}
		return false
	})
}

// Sleep lets virtual time pass, under faults.
func (w *World) Sleep(d time.Duration) {
	w.panicIfInStep("w.Sleep")
	if d < 0 {
		w.misuse("w.Sleep(%v): time does not go back", d)
	}
	w.sleeping(func() bool {
		until := w.sched.Now() + d
		for w.sched.Step(until) {
			w.failIfTooLong("w.Sleep")
		}
		return false
	})
}

// inspectCaches adds to the history which cached objects were changed in place.
func (w *World) inspectCaches() {
	w.sched.Quiesce()
	if w.inspected != w.sched.Steps() { // or nobody has done anything since
		w.inspected = w.sched.Steps()
		w.procs.Inspect()
		w.sched.Quiesce()
	}
}
