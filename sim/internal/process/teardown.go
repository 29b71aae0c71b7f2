package process

import "slices"

// Teardown ends every life and lets all goroutines of the run finish. wait must wait for quiet.
func (w *World) Teardown(wait func()) {
	for _, l := range w.lives {
		l.Port.Die()
	}
	wait()
	for _, l := range w.lives {
		l.release(wait)
	}
	w.Wire.Release(wait)
}

// Reap lets the goroutines of lives that are over end before the run does, and forgets those lives. wait must wait for quiet.
// What these goroutines do on their way out concerns nobody but the dice, which are set again.
func (w *World) Reap(wait func()) {
	over := func(l *Life) bool { return l.Port.Dead() }
	if !slices.ContainsFunc(w.lives, over) {
		return
	}
	for _, l := range w.lives {
		if over(l) {
			l.release(wait)
			w.Wire.Dismiss(l.Port, wait)
		}
	}
	w.lives = slices.DeleteFunc(w.lives, over)
	reseed(uint64(w.Sched.Now()))
}

// release lets the goroutines of a dead life that wait for a key go on, one at a time, to their end. Then it ends the waits for
// caches that have not synced.
func (l *Life) release(wait func()) {
	l.cancel()
	wait()
	l.mu.Lock()
	l.released = true
	handouts, informers := l.handouts, l.informers
	l.handouts = nil
	l.mu.Unlock()
	for l.nextTurn() {
		wait()
	}
	for _, h := range handouts {
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
}
