// This file holds what is asked of an upgrade that is refused for good: whether it settles into one
// attempt for each period of back-off, in spite of faults and after them.

package clusterextension

import (
	"fmt"
	"time"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/history/view"
)

const (
	// periods are how many in a row must be as they should. They are judged from the first one on
	// that a delay longer than noticeable begins.
	periods, noticeable = 5, time.Second
	// longestSleep is that of the work queue, longestRestart that of the kubelet. A delay that was
	// injected lasts no longer than lag.
	longestSleep, longestRestart, lag = 1000 * time.Second, 5 * time.Minute, time.Minute
)

// period is the time from one timer of the back-off to the next.
type period struct {
	from, to history.Time
	attempts int
}

// has reports whether something happened in it, or so shortly before that it still has an effect.
func (p *period) has(at history.Time) bool { return at >= p.from-lag && at <= p.to }

// periodsFrom are those that have begun since a time. The last of them may still go on.
func (b *Record) periodsFrom(from, now history.Time) (out []*period) {
	for _, r := range b.view.Reconciles() {
		if r.Began < from {
			continue
		}
		if r.BackOff && (len(out) > 0 || r.Wait > noticeable) {
			if len(out) > 0 {
				out[len(out)-1].to = r.Began
			}
			out = append(out, &period{from: r.Began, to: now})
		}
		if len(out) > 0 {
			out[len(out)-1].attempts += count(r.Calls, func(c *view.Call) bool {
				ref := c.Request.Ref // of the object that is refused
				return c.Request.Verb == "create" && ref.Kind == "Deployment" && ref.Namespace == cause
			})
		}
	}
	return out
}

// count is how many of some things are what they should be.
func count[T any](all []T, is func(T) bool) (n int) {
	for _, thing := range all {
		if is(thing) {
			n++
		}
	}
	return n
}

// further is how many attempts got further than those before in a period: they gave an object a
// version for the first time, which may take effect long after the attempt. What they changed may
// wake the operator.
func (b *Record) further(p *period) int {
	by := map[history.ReconcileID]bool{}
	for _, o := range b.all.All() {
		had := map[string]bool{"": true}
		for _, s := range o.States {
			if !had[s.Value.version()] && p.has(s.At) {
				by[history.ReconcileID{Actor: s.By, Reconcile: s.Reconcile}] = true
			}
			had[s.Value.version()] = true
		}
	}
	return len(by)
}

// restrained: while faults last, a period has at most one attempt, one for each fault, and one for
// each attempt that got further than those before.
func (b *Record) restrained(h *history.History) error {
	if b.refusedFrom == 0 || b.measuredFrom > 0 {
		return nil
	}
	for _, p := range b.periodsFrom(b.refusedFrom, h.Now()) {
		n := count(b.injected, p.has)
		if p.attempts <= 1+n {
			continue
		}
		if more := b.further(p); p.attempts > 1+n+more {
			return fmt.Errorf("%d attempts from the timer at %s to %s, %d faults, and %d attempts that got further",
				p.attempts, history.Clock(p.from), history.Clock(p.to), n, more)
		}
	}
	return nil
}

// settles: when faults have ended there are five periods or more, of one attempt each, and one for
// each attempt that got further.
func (b *Record) settles(h *history.History) error {
	if b.measuredFrom == 0 {
		return nil
	}
	all := b.periodsFrom(b.measuredFrom, h.Now())
	complete := all[:max(len(all)-1, 0)]
	for _, p := range complete {
		if p.attempts < 1 || p.attempts > 1 && p.attempts > 1+b.further(p) {
			return fmt.Errorf("%d attempts between the timers at %s and %s", p.attempts, history.Clock(p.from),
				history.Clock(p.to))
		}
	}
	if b.over && len(complete) < periods {
		return fmt.Errorf("there were %d periods of back-off since %s; the status says %s", len(complete),
			history.Clock(b.measuredFrom), b.status)
	}
	return nil
}
