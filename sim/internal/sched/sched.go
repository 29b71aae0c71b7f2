// Package sched is the scheduler and the clock of a world: it decides which action happens next and
// moves virtual time.
//
// Everything that can happen is an [Action] that waits here: that a request takes effect, its
// reply, a watch event, the dequeue of a key, a restart. The scheduler performs one action, which
// is a step, and waits until every goroutine of the bubble is durably blocked. The time between two
// such quiet moments is a phase. Actions that arrive in one phase get a canonical order before
// anything is decided about them. So it does not matter in which order goroutines happened to run.
//
// It knows nothing of Kubernetes. All methods must be called on the scheduling goroutine unless
// they, or the type that has them, say otherwise.
package sched

import (
	"sort"
	"sync/atomic"
	"testing/synctest"
	"time"

	"github.com/wavetank/wavetank/sim/internal/choice"
)

// Action is something that waits to happen.
type Action struct {
	// Order is the canonical order among actions that arrive in one phase. Equal actions keep their
	// order of arrival, so they must be interchangeable.
	Order string
	// Actor is whose action it is: a worker at its key, an informer, a built-in controller, …
	Actor choice.Actor
	// What is the action in words. It is called only for a message about what is pending.
	What func() string
	// Detail distinguishes it from other actions with the same words; nil if it has no detail.
	Detail func() string
	// Delay is asked for when the action is admitted, in canonical order. Nil means due at once. It
	// may drop the action.
	Delay func() time.Duration
	// Own is the part of the delay that was not injected. It stays when faults end: see
	// [Scheduler.Hurry].
	Own time.Duration
	// Do performs the action, on the scheduling goroutine.
	Do func()
	// Idle marks actions that always come again, such as lease renewals and watch time-outs. A
	// quiescent world still has them.
	Idle bool
	// Chatter marks actions about leases and Kubernetes Events, which are not the subject of a
	// controller's work.
	Chatter bool
	// Seasonal marks actions that come again by themselves and begin something new each time, such
	// as the schedule of a CronJob. They wait while scheduling is fair.
	Seasonal bool

	since time.Duration // when it was admitted
	due   time.Duration
	seq   uint64
	done  uint32 // 1 if it was performed or dropped; atomic, as goroutines of the world may drop it
}

// Happened reports whether the action was performed or dropped.
func (a *Action) Happened() bool { return atomic.LoadUint32(&a.done) == 1 }

// Since is the virtual time since which the action has been waiting.
func (a *Action) Since() time.Duration { return a.since }

// Due is the virtual time at which the action may happen.
func (a *Action) Due() time.Duration { return a.due }

// Scheduler holds the actions of one run.
type Scheduler struct {
	arrivals
	Choices *choice.Recorder
	// Wait waits until every goroutine is blocked. It is synctest.Wait, which only a bubble has.
	Wait func()
	// Told, if set, is called with every action before it is performed.
	Told func(*Action)
	// Before, when set, is called before an action that was chosen is performed, and may perform
	// others.
	Before func()

	start time.Time
	set   atomic.Pointer[time.Duration] // see SetNow; nil if time passes by itself
	now   time.Duration                 // at the last quiet moment
	steps int
	fair  bool

	pending    []*Action
	seq        uint64
	quiet      bool
	performing bool // an action is being performed
	observer   Observer
}

// Observer is the world that a scheduler serves. Its methods are called on the scheduling
// goroutine.
type Observer interface {
	// Quiet is called each time every goroutine is blocked, after the notes. It reports whether it
	// has made goroutines runnable again.
	Quiet() (woke bool)
	// Stepped is called after every step, when every goroutine is blocked again.
	Stepped()
	// Held returns the time until which an action may not happen, even if it is due; 0 if it may.
	Held(*Action) time.Duration
}

// New returns a scheduler. It must be called inside the bubble.
func New(c *choice.Recorder, o Observer) *Scheduler {
	return &Scheduler{
		arrivals: arrivals{wake: make(chan struct{}, 1)},
		Choices:  c, Wait: synctest.Wait, observer: o, start: time.Now(),
	}
}

// Now is virtual time since the start of the run. Any goroutine may call it.
func (s *Scheduler) Now() time.Duration {
	if t := s.set.Load(); t != nil {
		return *t
	}
	return time.Since(s.start)
}

// At is the virtual time of an instant. Any goroutine may call it.
func (s *Scheduler) At(t time.Time) time.Duration { return t.Sub(s.start) }

// Steps is the number of steps so far.
func (s *Scheduler) Steps() int { return s.steps }

// SetFair makes scheduling fair: the oldest action is always next, and no choice is made.
func (s *Scheduler) SetFair(on bool) {
	s.fair = on
	s.Choices.Mute(on)
}

// Performing reports whether an action is being performed.
func (s *Scheduler) Performing() bool { return s.performing }

// Disturb says that something other than a step may have made goroutines runnable. The next step
// then waits first until all are blocked.
func (s *Scheduler) Disturb() { s.quiet = false }

// Quiesce waits until every goroutine is blocked and takes in what has arrived. It performs
// nothing.
func (s *Scheduler) Quiesce() {
	for woke := true; woke; {
		s.Wait()
		s.runNotes()
		woke = s.observer.Quiet()
	}
	s.now = s.Now()
	s.admit()
	s.quiet = true
}

func (s *Scheduler) admit() {
	live := s.pending[:0]
	for _, a := range s.pending {
		if !a.Happened() {
			live = append(live, a)
		}
	}
	clear(s.pending[len(live):])
	s.pending = live
	for _, a := range s.take() {
		if a.Happened() {
			continue
		}
		a.since, a.due = s.now, s.now
		if a.Delay != nil {
			a.due += a.Delay()
			if a.Happened() {
				continue
			}
		}
		a.seq = s.seq
		s.seq++
		s.pending = append(s.pending, a)
	}
}

// Step performs one action. If none is due, time passes first, but not beyond until; Step reports
// false when that has come. It also returns when a goroutine has called [Scheduler.Wake], so that
// its caller can look at the new situation.
func (s *Scheduler) Step(until time.Duration) bool {
	for {
		if !s.quiet {
			s.Quiesce()
		}
		due, next := s.due()
		if len(due) > 0 {
			s.perform(due)
			return true
		}
		if next < 0 || next > until {
			next = until
		}
		if s.now >= until {
			return false
		}
		if s.sleep(next - s.now) {
			return true
		}
	}
}

// due returns the actions that are due, oldest first, and the due time of the next one (-1 when
// there is none).
func (s *Scheduler) due() (due []*Action, next time.Duration) {
	next = -1
	for _, a := range s.pending {
		if s.fair && a.Seasonal {
			continue
		}
		when := max(a.due, s.observer.Held(a))
		if when <= s.now {
			due = append(due, a)
		} else if next < 0 || when < next {
			next = when
		}
	}
	sort.SliceStable(due, func(i, j int) bool {
		if due[i].due != due[j].due {
			return due[i].due < due[j].due
		}
		return due[i].seq < due[j].seq
	})
	return due, next
}

// perform performs one of the actions that are due, and waits until every goroutine is blocked.
func (s *Scheduler) perform(due []*Action) {
	i := 0
	if !s.fair && len(due) > 1 {
		i = s.Choices.Pick(actors(due))
	}
	if s.Before != nil {
		s.Before()
	}
	if !due[i].Happened() {
		s.Perform(due[i])
	}
}

// actors are whose actions these are.
func actors(due []*Action) []choice.Actor {
	out := make([]choice.Actor, len(due))
	for i, a := range due {
		out[i] = a.Actor
	}
	return out
}

// sleep lets virtual time pass, d at most. It reports whether a goroutine has woken the scheduler
// before.
func (s *Scheduler) sleep(d time.Duration) (woken bool) {
	s.SetCurrent(nil)
	s.setSlept(true)
	s.quiet = false
	select {
	case <-s.wake: // of this phase, which was taken in
	default:
	}
	t := time.NewTimer(d)
	select {
	case <-t.C:
	case <-s.wake:
		t.Stop()
		woken = true
	}
	s.Quiesce() // goroutines whose timers fire at the same instant have their turn
	select {
	case <-s.wake:
		woken = true
	default:
	}
	return woken
}

// Pending returns the actions that have been admitted and have not happened, oldest first.
func (s *Scheduler) Pending() []*Action {
	out := make([]*Action, 0, len(s.pending))
	for _, a := range s.pending {
		if !a.Happened() {
			out = append(out, a)
		}
	}
	sort.SliceStable(out, func(i, j int) bool { return out[i].due < out[j].due })
	return out
}

// Idle reports whether all pending actions are idle.
func (s *Scheduler) Idle() bool {
	for _, a := range s.pending {
		if !a.Idle && !a.Happened() {
			return false
		}
	}
	return true
}

// Hurry takes injected delays away: pending actions become due when their own delay is over. Idle
// ones keep theirs.
func (s *Scheduler) Hurry() {
	for _, a := range s.pending {
		if !a.Happened() && !a.Idle {
			a.due = min(a.due, max(s.now, a.since+a.Own))
		}
	}
}
