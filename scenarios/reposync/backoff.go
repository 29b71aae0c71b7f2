// This file holds the properties about back-off: how often who is refused, because the namespace
// goes, tries again.

package reposync

import (
	"fmt"
	"slices"
	"time"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/history/view"
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

// times is how often something was refused.
func (p *backOff) times(ref history.Ref) (n int) {
	for _, other := range p.refused {
		if other == ref {
			n++
		}
	}
	return n
}

func sameKey(a, b *view.Reconcile) bool { return a.Process == b.Process && a.ID.Key == b.ID.Key }

// backOffs are the periods of a reconcile's key in its process, the last of which has not ended.
func (r *Record) backOffs(of *view.Reconcile) (out []backOff) {
	for _, reconcile := range r.view.Reconciles() {
		if !sameKey(of, reconcile) {
			continue
		}
		if reconcile.Timed || len(out) == 0 {
			out = append(out, backOff{from: reconcile.Began})
		}
		last := &out[len(out)-1]
		last.refused = append(last.refused, refusals(reconcile)...)
	}
	return out
}

// counts judges that there is at most one more refusal in a period than faults (S3-S6 while faults
// are injected). A fault counts in each period in which it may have an effect.
func (r *Record) counts(e *history.Event, by *view.Reconcile) {
	all := r.backOffs(by)
	p, faults := &all[len(all)-1], 0
	for _, at := range r.injected {
		if at >= p.from-lag {
			faults++
		}
	}
	if n := p.times(e.Ref); n > 1+faults {
		r.Breaks(restrained, "%s wanted to create %s %d times since the timer at %s, and %d faults were injected",
			e.Actor(), e.Ref, n, history.Clock(p.from), faults)
	}
}

// settles (S3-S6 when faults have ended): who is refused tries once in each period of back-off, for
// five periods. It is judged at the end. Who is refused nothing has nothing to settle.
func (r *Record) settles(*history.History) error {
	var judged []*view.Reconcile
	for _, by := range r.view.Reconciles() {
		known := func(other *view.Reconcile) bool { return sameKey(by, other) }
		if !r.over || len(refusals(by)) == 0 || slices.ContainsFunc(judged, known) {
			continue
		}
		judged = append(judged, by)
		all, measured := r.backOffs(by), 0
		for i, p := range all[:len(all)-1] {
			if p.from < r.measured {
				continue
			}
			measured++
			often := func(a, b history.Ref) int { return p.times(a) - p.times(b) }
			ref := slices.MaxFunc(append(p.refused, history.Ref{}), often)
			if n := p.times(ref); n != 1 {
				return fmt.Errorf("%s wanted to create %s %d times between the timers at %s and %s", by.Process, ref, n,
					history.Clock(p.from), history.Clock(all[i+1].from))
			}
		}
		if measured < periods {
			return fmt.Errorf("%s: %d periods of back-off since %s, not %d", by.Process, measured,
				history.Clock(r.measured), periods)
		}
	}
	return nil
}
