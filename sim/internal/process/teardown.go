package process

import "slices"

// Teardown ends every incarnation and lets all goroutines of the run finish. wait must wait for
// quiet.
func (w *Supervisor) Teardown(wait func()) {
	for _, l := range w.incarnations {
		l.Port.Die()
	}
	wait()
	for _, l := range w.incarnations {
		l.release(wait)
	}
	w.Wire.Release(wait)
	for _, l := range w.incarnations {
		l.closeQueues(wait)
	}
}

// Reap lets the goroutines of dead incarnations end before the run does, and forgets those
// incarnations. wait must wait for quiet. These goroutines may draw random numbers while they end,
// so the generators are seeded again.
func (w *Supervisor) Reap(wait func()) {
	over := func(l *Incarnation) bool { return l.Port.Dead() }
	if !slices.ContainsFunc(w.incarnations, over) {
		return
	}
	for _, l := range w.incarnations {
		if over(l) {
			l.release(wait)
			w.Wire.Dismiss(l.Port, wait)
			l.closeQueues(wait)
		}
	}
	w.incarnations = slices.DeleteFunc(w.incarnations, over)
	reseed(uint64(w.Sched.Now()))
}

// release lets the blocked goroutines of a dead incarnation go on, one at a time, to their end.
// Then it ends the waits for caches that have not synced.
func (l *Incarnation) release(wait func()) {
	l.cancel()
	wait()
	l.mu.Lock()
	l.released = true
	waiters, informers := l.waiters, l.informers
	l.waiters = nil
	l.mu.Unlock()
	l.closeQueues(wait)
	for l.nextTurn() {
		wait()
		l.closeQueues(wait)
	}
	for _, h := range waiters {
		select {
		case h.granted <- false:
			wait()
		default:
		}
	}
	for _, i := range informers {
		i.end()
	}
	wait()
	l.closeQueues(wait)
}

// closeQueues shuts those queues down that wait for a quiet moment to do so.
func (l *Incarnation) closeQueues(wait func()) {
	for slices.ContainsFunc(l.observed(), (*queue).close) {
		wait()
	}
}
