package process

import (
	"github.com/wavetank/wavetank/sim/internal/sched"
)

// block registers the waiter of an action and parks the action.
func (i *Incarnation) block(a *sched.Action, granted chan bool, ofKey bool) {
	i.mu.Lock()
	if i.released || ofKey && i.ending.Load() { // under the mutex, or it could miss the end of dequeues
		i.mu.Unlock()
		granted <- false
		return
	}
	i.waiters = append(i.waiters, waiter{a, granted, ofKey})
	i.mu.Unlock()
	if i.Port.Dead() {
		return // stays parked until the run ends
	}
	i.world.Sched.Park(a)
}

// unblock forgets a waiter that goes on.
func (i *Incarnation) unblock(a *sched.Action) {
	i.mu.Lock()
	defer i.mu.Unlock()
	for at, h := range i.waiters {
		if h.action == a {
			i.waiters = append(i.waiters[:at], i.waiters[at+1:]...)
			return
		}
	}
}

// blockUntil blocks a goroutine of the incarnation until the next quiet moment. It returns false
// when the run is over.
func (i *Incarnation) blockUntil(quiet chan bool) bool {
	i.mu.Lock()
	a := &sched.Action{}
	released := i.released
	if !released {
		i.waiters = append(i.waiters, waiter{a, quiet, false})
	}
	i.mu.Unlock()
	if released {
		return false
	}
	i.world.Sched.Wake()
	again := <-quiet
	i.unblock(a)
	return again
}
