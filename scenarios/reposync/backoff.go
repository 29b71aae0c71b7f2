// This file holds the properties about back-off: how often who is refused, because the namespace
// goes, tries again.

package reposync

import (
	"fmt"
	"slices"
	"time"

	"github.com/wavetank/wavetank/history"
)

const (
	// periods are how many in a row must be as they should.
	periods = 5
	// lag is how long an injected delay may last.
	lag = 10 * time.Second
)

// backOff is the time from one timer of a key to the next one.
type backOff struct {
	from    history.Time
	refused []history.Ref // what was to be created
}

// most is what was refused most often, and how often.
func (p backOff) most() (most history.Ref, n int) {
	for _, ref := range p.refused {
		if times := p.count(ref); times > n {
			most, n = ref, times
		}
	}
	return most, n
}

func (p backOff) count(ref history.Ref) (n int) {
	for _, other := range p.refused {
		if other == ref {
			n++
		}
	}
	return n
}

// worker is the work of a process on a key.
type worker struct {
	process string
	key     history.Key
	periods []backOff
}

func (r *Record) worker(e *history.Event) *worker {
	for _, w := range r.workers {
		if w.process == e.Process && w.key == e.Reconcile.Key {
			return w
		}
	}
	w := &worker{process: e.Process, key: e.Reconcile.Key}
	r.workers = append(r.workers, w)
	return w
}

// dequeued begins a period with each timer.
func (r *Record) dequeued(e *history.Event) {
	if w := r.worker(e); e.Cause.Timer() || len(w.periods) == 0 {
		w.periods = append(w.periods, backOff{from: e.At})
	}
}

// counts counts a creation that was refused, and judges that there is at most one more in a period
// than faults (S3-S6 while faults are injected). A fault counts in each period in which it may have
// an effect.
func (r *Record) counts(e *history.Event) {
	w := r.worker(e)
	if len(w.periods) == 0 {
		return
	}
	p, faults := &w.periods[len(w.periods)-1], 0
	p.refused = append(p.refused, e.Ref)
	for _, at := range r.injected {
		if at >= p.from-lag {
			faults++
		}
	}
	if n := p.count(e.Ref); n > 1+faults {
		r.breaks(restrained, "%s wanted to create %s %d times since the timer at %s, and %d faults were injected",
			e.Actor(), e.Ref, n, history.Clock(p.from), faults)
	}
}

// settles (S3-S6 when faults have ended): who is refused tries once in each period of back-off, for
// five periods. It is judged at the end. Who is refused nothing has nothing to settle.
func (r *Record) settles(*history.History) error {
	for _, w := range r.workers {
		if !r.over || !slices.ContainsFunc(w.periods, func(p backOff) bool { return len(p.refused) > 0 }) {
			continue
		}
		measured := 0
		for i, p := range w.periods[:len(w.periods)-1] {
			if p.from < r.measured {
				continue
			}
			measured++
			if ref, n := p.most(); n != 1 {
				return fmt.Errorf("%s wanted to create %s %d times between the timers at %s and %s", w.process, ref, n,
					history.Clock(p.from), history.Clock(w.periods[i+1].from))
			}
		}
		if measured < periods {
			return fmt.Errorf("%s: %d periods of back-off since %s, not %d", w.process, measured,
				history.Clock(r.measured), periods)
		}
	}
	return nil
}
