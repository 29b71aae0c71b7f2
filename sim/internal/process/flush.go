package process

import (
	"slices"
)

// Flush is called at each quiet moment. First it lets those go on, one by one, who have waited for
// a cache. Then informers' handlers get their notifications in order, and handlers that wait after
// an addition continue. When there are none it passes the held adds to the queues, process by
// process and controller by controller. It reports whether any goroutine can go on.
func (s *Supervisor) Flush() (woke bool) {
	dead := func(l *Incarnation) bool { return l.Port.Dead() }
	s.alive = slices.DeleteFunc(append(s.alive[:0], s.incarnations...), dead)
	alive := s.alive
	if slices.ContainsFunc(alive, (*Incarnation).nextTurn) {
		return true
	}
	for _, l := range alive {
		l.mu.Lock()
		informers := l.informers
		l.mu.Unlock()
		for _, i := range informers {
			woke = i.onQuiet() || woke
		}
	}
	for _, l := range alive {
		woke = l.continueHandlers() || woke
	}
	if woke {
		return true
	}
	for _, l := range alive {
		for _, q := range l.observed() {
			woke = q.flush() || woke
		}
	}
	return woke
}
