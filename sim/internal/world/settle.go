package world

import (
	"fmt"
	"slices"
	"time"

	shipped "github.com/wavetank/wavetank/sim/property"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/sim/internal/run"
	"github.com/wavetank/wavetank/sim/result"
)

// The fault phase ends at quiescence, or after so much time or so many steps.
const (
	faultPhaseTime  = 3 * time.Minute
	faultPhaseSteps = 2000
)

// settler runs the world until nothing is left to do.
type settler struct {
	*core
	faults     *faults
	quiescence *quiescence
	setups     failedSetups
	real       *real // nil if the run is simulated
	maxSteps   int   // of the run
	inspected  int   // the step at which caches were inspected last
}

// Settle runs the world until nothing is left to do, then judges every Eventually property.
func (s *settler) Settle() {
	s.panicIfInStep("w.Settle")
	s.faultPhase()
	s.beginRecovery()
	s.settleAndJudge()
	s.endRecovery()
}

// settleAndJudge waits for quiescence, when faults have ended, and judges.
func (s *settler) settleAndJudge() {
	quiescent := s.waitForQuiescence()
	s.inspectCaches()
	if quiescent {
		s.note(history.Event{Kind: history.Settled})
	}
	s.judgeAll(result.Always)
	s.judgeAll(result.Eventually)
	s.judgeAll(result.Sometimes)
}

// faultPhase runs the world while choices decide and faults are injected.
func (s *settler) faultPhase() {
	s.phase(func() bool { s.untilCalm(); return false })
}

// untilCalm runs the world until the fault phase is over.
func (s *settler) untilCalm() {
	until := s.sched.Now() + faultPhaseTime
	steps := s.sched.Steps() + faultPhaseSteps
	for s.sched.Steps() < steps && s.sched.Now() < until {
		s.sched.Quiesce()
		s.failIfReported()
		s.quiescence.read()
		quietAt := s.quiescence.quietAt()
		if s.quiescence.calm() && len(s.quiescence.dequeuesBefore(until)) == 0 && s.sched.Now() >= quietAt {
			return
		}
		if quietAt > s.sched.Now() {
			s.sched.Step(min(until, quietAt))
		} else {
			s.sched.Step(until)
		}
		if s.sched.Steps() > s.maxSteps {
			return // recovery decides
		}
	}
}

// beginRecovery ends all faults and makes scheduling fair.
func (s *settler) beginRecovery() {
	s.faults.recovering = true
	s.quiescence.recovers()
	s.sched.SetFair(true)
	s.faults.endFaults()
}

// endRecovery lets faults be injected again.
func (s *settler) endRecovery() {
	s.procs.Settled()
	s.faults.recovering = false
	s.sched.SetFair(false)
}

// phase runs a stretch in which the scenario waits. A run at a real API server makes the steps that
// the script has in it.
func (s *settler) phase(simulated func() (quiescent bool)) bool { return s.stretch(simulated, false) }

// sleeping is phase for a stretch that ends after a time.
func (s *settler) sleeping(simulated func() bool) { s.stretch(simulated, true) }

func (s *settler) stretch(simulated func() bool, sleeps bool) bool {
	if s.real != nil && s.real.free() == nil {
		return s.real.phase()
	}
	began := s.sched.Now()
	quiescent := simulated()
	if script := s.settings.Record; script != nil {
		script.Phases = append(script.Phases, run.Phase{Steps: len(script.Steps), At: s.sched.Now(),
			Took: s.sched.Now() - began, Sleeps: sleeps, Quiescent: quiescent})
	}
	return quiescent
}

// waitForQuiescence reports whether the world became quiescent. It need not when the default
// property "settles" is off.
func (s *settler) waitForQuiescence() bool { return s.phase(s.untilQuiescent) }

func (s *settler) untilQuiescent() bool {
	q := s.quiescence
	required := !slices.Contains(s.judge.without, shipped.DefaultSettles)
	begun := s.sched.Now()
	s.procs.LongestWait() // what was put off before does not count
	limit := begun + 3*max(longestBackOff, q.longestTimer())
	maxSteps := s.maxSteps
	for {
		s.sched.Quiesce()
		s.failIfReported()
		q.read()
		ok, again := q.reached()
		if ok {
			return true
		}
		limit = max(limit, begun+3*max(s.procs.LongestWait(), q.builtins.longestStep()))
		limit = q.extended(limit, begun)
		if s.sched.Steps() > maxSteps && maxSteps == s.maxSteps && q.backsOff() {
			maxSteps *= 2 // it can be what the world waits for
		}
		switch tooLong := s.sched.Steps() > maxSteps; {
		case !required && (tooLong || s.sched.Now() >= limit):
			s.awaitQuietMoment()
			if tooLong { // what follows may take as many steps again
				s.maxSteps = s.sched.Steps() + s.maxSteps
			}
			return false
		case tooLong:
			s.failUnsettled(fmt.Sprintf("after %d steps (-sim.max-steps)", maxSteps))
		}
		if again <= s.sched.Now() {
			again = limit
		}
		if !s.sched.Step(min(limit, again)) && s.sched.Now() >= limit && required {
			if ok, _ := q.reached(); ok {
				return true
			}
			s.failUnsettled(fmt.Sprintf("within %v, three times the longest wait", limit-begun))
		}
	}
}

// awaitQuietMoment lets what is under way end before a world that has not settled is judged. It
// waits for a quiet second, after a minute for any moment at which nothing is under way, and for
// two minutes at most.
func (s *settler) awaitQuietMoment() {
	q := s.quiescence
	calmBy, maxSteps := s.sched.Now()+idlePeriod, s.sched.Steps()+faultPhaseSteps
	for s.sched.Now() < calmBy+idlePeriod && s.sched.Steps() < maxSteps {
		s.sched.Quiesce()
		s.failIfReported()
		q.read()
		until := calmBy + idlePeriod
		if q.calm() {
			if s.sched.Now() >= min(q.quietAt(), calmBy) {
				return
			}
			until = min(q.quietAt(), calmBy)
		}
		s.sched.Step(until)
	}
}

// failIfTooLong gives up on a run that takes too many steps before it is asked to settle.
func (s *settler) failIfTooLong(call string) {
	if limit := s.maxSteps; s.sched.Steps() > limit {
		s.fail(&result.Ending{Kind: result.Settles, Property: worldSettles, Message: fmt.Sprintf(
			"the run has taken %d steps and is still in %s, before it is asked to settle; if it is meant to be that "+
				"long, allow more by sim.MaxSteps or -sim.max-steps", limit, call)})
	}
}

// drive runs the world until a request of the scenario's has been answered.
func (s *settler) drive(replied func() bool) {
	const call = "w.Apply, w.Remove or w.Client()"
	s.panicIfInStep(call)
	s.phase(func() bool {
		for !replied() {
			s.sched.Quiesce()
			s.failIfReported()
			s.sched.Step(s.sched.Now() + time.Hour)
			s.failIfTooLong(call)
		}
		return false
	})
}

// Sleep lets virtual time pass, under faults.
func (s *settler) Sleep(d time.Duration) {
	s.panicIfInStep("w.Sleep")
	if d < 0 {
		s.misuse("w.Sleep(%v): time does not go back", d)
	}
	s.sleeping(func() bool {
		until := s.sched.Now() + d
		for s.sched.Step(until) {
			s.failIfTooLong("w.Sleep")
		}
		return false
	})
}

// inspectCaches adds to the history which cached objects were changed in place.
func (s *settler) inspectCaches() {
	s.sched.Quiesce()
	if s.inspected != s.sched.Steps() { // or nothing has been done since
		s.inspected = s.sched.Steps()
		s.procs.Inspect()
		s.sched.Quiesce()
	}
}

// failUnsettled ends the run because the world did not settle.
func (s *settler) failUnsettled(limit string) {
	s.fail(&result.Ending{Kind: result.Settles, Property: worldSettles,
		Message: s.quiescence.unsettled(limit, s.setups)})
}
