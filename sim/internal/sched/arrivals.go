package sched

import (
	"sort"
	"sync"
	"sync/atomic"
)

// arrivals are what goroutines of the world may touch: the actions and notes that arrive in a
// phase, and the cause of what happens. Any goroutine may call its exported methods.
type arrivals struct {
	mu      sync.Mutex
	inbox   []*Action
	notes   []note
	current any
	slept   bool // time has passed since the last step
	wake    chan struct{}
}

type note struct {
	order string
	f     func()
}

// Park lets an action wait for its step.
func (a *arrivals) Park(action *Action) {
	a.mu.Lock()
	a.inbox = append(a.inbox, action)
	a.mu.Unlock()
	a.Wake()
}

// Wake ends the passing of time, because something has happened.
func (a *arrivals) Wake() {
	select {
	case a.wake <- struct{}{}:
	default:
	}
}

// Note lets f run on the scheduling goroutine at the next quiet moment, in canonical order with the
// other notes of the phase.
func (a *arrivals) Note(order string, f func()) {
	a.mu.Lock()
	a.notes = append(a.notes, note{order, f})
	a.mu.Unlock()
	a.Wake()
}

// Drop withdraws an action. It reports whether the action had not happened yet.
func (a *arrivals) Drop(action *Action) bool { return atomic.SwapUint32(&action.done, 1) == 0 }

// Current is what [Scheduler.SetCurrent] said of the last step, for the causes of what goroutines
// do because of it. It is nil when time has passed since.
func (a *arrivals) Current() any {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.current
}

// Slept reports whether time has passed since the last step, so that timers woke whatever runs now.
func (a *arrivals) Slept() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.slept
}

func (a *arrivals) setSlept(on bool) {
	a.mu.Lock()
	a.slept = on
	a.mu.Unlock()
}

// SetCurrent describes the step that is being performed.
func (a *arrivals) SetCurrent(what any) {
	a.mu.Lock()
	a.current = what
	a.mu.Unlock()
}

// take returns the actions of a phase in canonical order.
func (a *arrivals) take() []*Action {
	a.mu.Lock()
	in := a.inbox
	a.inbox = nil
	a.mu.Unlock()
	sort.SliceStable(in, func(i, j int) bool { return in[i].Order < in[j].Order })
	return in
}

// runNotes runs the notes of a phase.
func (a *arrivals) runNotes() {
	a.mu.Lock()
	notes := a.notes
	a.notes = nil
	a.mu.Unlock()
	sort.SliceStable(notes, func(i, j int) bool { return notes[i].order < notes[j].order })
	for _, n := range notes {
		n.f()
	}
}
