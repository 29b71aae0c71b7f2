package sim

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/wavetank/wavetank/history"
)

// The fault phase ends at quiescence, or after so much time or so many steps.
const (
	faultPhaseTime  = 3 * time.Minute
	faultPhaseSteps = 2000
)

// inSettle is the call that the world is in while it waits for quiescence.
const inSettle = "w.Settle"

// Settle runs the world until nothing is left to do, then judges every Eventually property.
//
//  1. Faults: until the world is at rest, but for at most three minutes of virtual time or 2,000
//     steps, faults are injected.
//  2. Recovery: injected faults end and scheduling becomes fair.
//  3. Quiescence: Settle waits until nothing is left to do, as defined below.
//
// Nothing is left to do when all of this is true:
//
//   - No request, reply, watch event or dequeue is pending, and no process is starting.
//   - Every delayed requeue (back-off or RequeueAfter) has fired once since the last change, and so
//     has every retry of a built-in controller.
//   - Every list or watch that failed or ended has been retried since the last change, or nobody
//     has done so for a minute.
//   - Nothing has happened for a second. Where keys poll, it is enough that for a minute nothing
//     has happened but reconciles that change nothing.
//   - Each program without a manager has been silent for 1,000 s, and so has each that works beside
//     its controllers.
//   - No object waits for its deletion while its key comes back and asks an outside service.
//
// A change is a write to an object other than a Lease or an Event, the end of faults, or the start
// of an incarnation. Where nothing has changed for 2,000 s, the last three conditions count as
// true.
//
// Settle cannot see timers that a program keeps to itself, nor those of an outside service; use
// [World.Sleep] to let them fire. The schedules of CronJobs do not come round once faults have
// ended, so they need Sleep, too.
//
// Settle fails the run, and lists what is pending, after three times the longest delay (at least
// 3,000 s) or after -sim.max-steps. For an operator that writes on a period by design,
// [World.Without] has it judge at that limit instead. Afterwards faults are injected again.
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
	w.judgeAll(always)
	w.judgeAll(eventually)
	w.judgeAll(sometimes)
}

// faultPhase runs the world while choices decide and faults are injected.
func (w *World) faultPhase() {
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
		w.failIfTooLong(inSettle)
	}
}

// beginRecovery ends all faults and makes scheduling fair.
func (w *World) beginRecovery() {
	w.healed = true
	w.quiescence.recovers()
	w.sched.SetFair(true)
	for _, f := range w.faults {
		if f, ok := f.(healer); ok {
			f.heal(w)
		}
	}
	w.sched.Hurry()
	if w.anyFault() {
		w.note(history.Event{Kind: history.Heal})
	}
}

// endRecovery lets faults be injected again.
func (w *World) endRecovery() {
	w.healed = false
	w.sched.SetFair(false)
}

func (w *World) anyFault() bool {
	for _, f := range w.faults {
		if f.core().eager > 0 {
			return true
		}
	}
	return false
}

// waitForQuiescence reports whether the world became quiescent. It need not when the default
// property "settles" is off.
func (w *World) waitForQuiescence() bool {
	q := &w.quiescence
	required := !slices.Contains(w.judge.without, settles)
	begun := w.sched.Now()
	w.procs.LongestWait() // what was put off before does not count
	limit := begun + 3*max(longestBackOff, q.longestTimer())
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
		if again <= w.sched.Now() {
			again = limit
		}
		if !w.sched.Step(min(limit, again)) && w.sched.Now() >= limit {
			if ok, _ := q.reached(); ok || !required {
				return ok
			}
			w.failUnsettled(fmt.Sprintf("within %v, three times the longest wait", limit-begun))
		}
		if w.sched.Steps() > w.settings.maxSteps && !required {
			return false
		}
		w.failIfTooLong(inSettle)
	}
}

// failIfTooLong gives up on a run that has taken too many steps.
func (w *World) failIfTooLong(call string) {
	switch limit := w.settings.maxSteps; {
	case w.sched.Steps() <= limit:
	case call == inSettle:
		w.failUnsettled(fmt.Sprintf("after %d steps (-sim.max-steps)", limit))
	default:
		w.fail(&Verdict{Temper: settles, Property: worldSettles, Message: fmt.Sprintf(
			"the run has taken %d steps and is still in %s, before it is asked to settle; if it is meant to be that "+
				"long, allow more by sim.MaxSteps or -sim.max-steps", limit, call)})
	}
}

// failUnsettled ends the run with a sentence about what is still pending.
func (w *World) failUnsettled(limit string) {
	msg := fmt.Sprintf("the world did not settle %s: pending are %s%s",
		limit, strings.Join(w.quiescence.pending(), "; "), w.quiescence.lastWrite())
	for _, p := range w.procs.Processes() {
		if why := w.programs.setupFailure(p); why != "" {
			msg += "; " + why
		}
	}
	for _, kind := range w.procs.Unserved() {
		msg += fmt.Sprintf("; the cluster does not serve %s, which was asked for: w.Install its definition before "+
			"w.Start", kind)
	}
	w.fail(&Verdict{Temper: settles, Property: worldSettles, Message: msg})
}

// drive runs the world until a request of the scenario's has been answered.
func (w *World) drive(replied func() bool) {
	const call = "w.Apply, w.Remove or w.Client()"
	w.panicIfInStep(call)
	for !replied() {
		w.sched.Quiesce()
		w.failIfReported()
		w.sched.Step(w.sched.Now() + time.Hour)
		w.failIfTooLong(call)
	}
}

// Sleep lets virtual time pass, under faults.
func (w *World) Sleep(d time.Duration) {
	w.panicIfInStep("w.Sleep")
	if d < 0 {
		w.misuse("w.Sleep(%v): time does not go back", d)
	}
	until := w.sched.Now() + d
	for w.sched.Step(until) {
		w.failIfTooLong("w.Sleep")
	}
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
