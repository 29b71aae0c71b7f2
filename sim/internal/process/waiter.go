package process

import (
	"github.com/wavetank/wavetank/sim/internal/sched"
)

type handout struct {
	action  *sched.Action
	granted chan bool
	ofKey   bool // and not of the end of something
}

// observed are the queues of the life's controllers so far.
func (l *Life) observed() []*queue {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.queues
}

// parkHandout registers a hand-out and parks it at the gate.
func (l *Life) parkHandout(a *sched.Action, granted chan bool, ofKey bool) {
	l.mu.Lock()
	if l.released || ofKey && l.ending.Load() { // under the mutex, or it could miss the end of the life's hand-outs
		l.mu.Unlock()
		granted <- false
		return
	}
	l.handouts = append(l.handouts, handout{a, granted, ofKey})
	l.mu.Unlock()
	if l.Port.Dead() {
		return // stays parked until the run ends
	}
	l.world.Sched.Park(a)
}

// unparkHandout forgets a hand-out that was granted.
func (l *Life) unparkHandout(a *sched.Action) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i, h := range l.handouts {
		if h.action == a {
			l.handouts = append(l.handouts[:i], l.handouts[i+1:]...)
			return
		}
	}
}
