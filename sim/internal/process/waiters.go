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
func (l *Incarnation) observed() []*queue {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.queues
}

// block registers the waiter of an action and parks the action.
func (l *Incarnation) block(a *sched.Action, granted chan bool, ofKey bool) {
	l.mu.Lock()
	if l.released || ofKey && l.ending.Load() { // under the mutex, or it could miss the end of dequeues
		l.mu.Unlock()
		granted <- false
		return
	}
	l.waiters = append(l.waiters, waiter{a, granted, ofKey})
	l.mu.Unlock()
	if l.Port.Dead() {
		return // stays parked until the run ends
	}
	l.world.Sched.Park(a)
}

// unblock forgets a waiter that goes on.
func (l *Incarnation) unblock(a *sched.Action) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i, h := range l.waiters {
		if h.action == a {
			l.waiters = append(l.waiters[:i], l.waiters[i+1:]...)
			return
		}
	}
}
