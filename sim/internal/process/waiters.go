package process

import (
	"github.com/wavetank/wavetank/sim/internal/sched"
)

// waiter is a goroutine of an incarnation that is blocked until its action happens.
type waiter struct {
	action  *sched.Action
	granted chan bool // gets false when the run is over
	ofKey   bool      // the action is the dequeue of a key
}

// observed are the queues of the incarnation's controllers so far.
func (i *Incarnation) observed() []*queue {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.queues
}

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
