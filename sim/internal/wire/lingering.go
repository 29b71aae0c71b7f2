package wire

import (
	"slices"
	"sync"
)

// lingers reports whether a call of a dead incarnation waits until its goroutines may end. Every
// other one is refused.
//
//   - After an error the event recorder draws a random number, to know when to try again. Later
//     incarnations would get other random numbers from run to run.
//   - After an error a leader loses its lease. controller-runtime notes that without a mutex while
//     it stops, which is a data race. No real process has it, as a killed one notes nothing.
func lingers(c *Call) bool { return c.recorder() || c.Idle() && calledBy("LeaderElector).renew.") }

// lingering are the calls of dead incarnations that linger.
type lingering struct {
	mu        sync.Mutex
	all       []*Call
	dismissed map[*Port]bool // the goroutines of these dead incarnations may end
	over      bool           // the run has ended, and nothing lingers any more
}

// add reports whether the call lingers.
func (l *lingering) add(call *Call) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.over || l.dismissed[call.Port] {
		return false
	}
	l.all = append(l.all, call)
	return true
}

// release returns the calls of one port, or for nil all, which linger no more.
func (l *lingering) release(p *Port) (out []*Call) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.dismissed == nil {
		l.dismissed = map[*Port]bool{}
	}
	l.dismissed[p], l.over = true, l.over || p == nil
	l.all = slices.DeleteFunc(l.all, func(call *Call) bool {
		ends := p == nil || call.Port == p
		if ends {
			out = append(out, call)
		}
		return ends
	})
	return out
}
