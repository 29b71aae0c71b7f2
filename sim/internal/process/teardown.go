package process

import "slices"

// Teardown ends every incarnation and lets all goroutines of the run finish. wait must wait for
// quiet.
func (s *Supervisor) Teardown(wait func()) {
	for _, l := range s.incarnations {
		l.Port.Die()
	}
	wait()
	for _, l := range s.incarnations {
		l.release(wait)
	}
	s.Wire.Release(wait)
	for _, l := range s.incarnations {
		l.closeQueues(wait)
	}
}

// Reap lets the goroutines of dead incarnations end before the run does, and forgets those
// incarnations. wait must wait for quiet. These goroutines may draw random numbers while they end,
// so the generators are seeded again.
func (s *Supervisor) Reap(wait func()) {
	over := func(l *Incarnation) bool { return l.Port.Dead() }
	if !slices.ContainsFunc(s.incarnations, over) {
		return
	}
	for _, l := range s.incarnations {
		if over(l) {
			l.release(wait)
			s.Wire.Dismiss(l.Port, wait)
			l.closeQueues(wait)
		}
	}
	s.incarnations = slices.DeleteFunc(s.incarnations, over)
	reseed(uint64(s.Sched.Now()))
}

// release lets the blocked goroutines of a dead incarnation go on, one at a time, to their end.
// Then it ends the waits for caches that have not synced.
func (i *Incarnation) release(wait func()) {
	i.cancel()
	wait()
	i.mu.Lock()
	i.released = true
	waiters, informers := i.waiters, i.informers
	i.waiters = nil
	i.mu.Unlock()
	i.closeQueues(wait)
	for i.nextTurn() {
		wait()
		i.closeQueues(wait)
	}
	for _, h := range waiters {
		select {
		case h.granted <- false:
			wait()
		default:
		}
	}
	for _, at := range informers {
		at.end()
	}
	wait()
	i.closeQueues(wait)
}

// closeQueues shuts those queues down that wait for a quiet moment to do so.
func (i *Incarnation) closeQueues(wait func()) {
	for slices.ContainsFunc(i.observed(), (*queue).close) {
		wait()
	}
}
