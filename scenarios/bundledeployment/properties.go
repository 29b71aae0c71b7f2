// This file exists for the properties that ask how the operator goes about a deployment that cannot be installed: whether
// it settles into one attempt for each period of back-off, and whether its status says why.

package bundledeployment

import (
	"fmt"
	"time"

	"github.com/wavetank/wavetank/sim/history"
)

const (
	// periods are how many in a row must be as they should.
	periods = 5
	// mostUnrest is how many attempts a deployment may make without a sleep that is longer than its clean-up: the eighteenth
	// that doubles from 5 ms is longer than any clean-up that is tried here, and before that even the faulty variants make
	// at most three attempts to a sleep.
	mostUnrest = 60
	// mostRecords is how many release records may be kept.
	mostRecords = 10
	// busy is what an attempt may take, above the clean-up, while requests are slow.
	busy = 20 * time.Second
	// promptly is how soon a healthy deployment must be attempted while workers are free. The dossier asks for a second; here the
	// requests of one failing attempt alone may take longer.
	promptly = 15 * time.Second
	// longestSleep is the cap of the work queue's default rate limiter.
	longestSleep = 1000 * time.Second
)

// unrest is how long a deployment may go without such a sleep: whoever waits for a clean-up before each attempt needs the
// time of sixteen.
func (b *Books) unrest() time.Duration { return max(8*time.Minute, 16*b.Terminates) }

// calm is where a deployment has settled: the place in its hands of the first timer that was longer than the clean-up,
// after the last change from outside; -1 if there was none yet. A RequeueAfter that is asked for again whenever an event
// comes is as long as from the end of one attempt to the next.
func (b *Books) calm(a *account) int {
	var before *hand // with the attempt before
	idle := false    // a timer has come since that found nothing to do
	for i, hand := range a.hands {
		asked := hand.requeued && hand.attempts > 0 && before != nil && !idle && hand.at-before.done > b.Terminates
		switch {
		case hand.timer && hand.wait > b.Terminates || asked:
			return i
		case hand.attempts > 0:
			before, idle = hand, false
		case hand.timer:
			idle = true
		}
	}
	return -1
}

// restless says that a deployment does not come to rest.
func (b *Books) restless(h *history.History, a *account) error {
	n := 0
	for _, hand := range a.hands {
		n += hand.attempts
	}
	if n > mostUnrest || len(a.hands) > 0 && n > 2 && h.Now()-a.begun > b.unrest() {
		return fmt.Errorf("%s: %d attempts in %v since the last change from outside, and never a sleep longer than the clean-up takes, %v",
			a.name, n, (h.Now() - a.begun).Round(time.Second), b.Terminates)
	}
	return nil
}

// period is the time from one timer to the next.
type period struct {
	from, to *hand
	attempts int
	writes   int
}

// settledPeriods are the complete periods since the deployment has settled.
func settledPeriods(a *account, calm int) (out []period) {
	var now *period
	for _, hand := range a.hands[calm:] {
		if hand.timer {
			if now != nil {
				now.to = hand
				out = append(out, *now)
			}
			now = &period{from: hand}
		}
		now.attempts += hand.attempts
		if hand != a.hands[calm] { // the first one may still have to correct what the restless ones wrote
			now.writes += hand.writes
		}
	}
	return out
}

// judge asks a question of the settled part of one deployment.
func (b *Books) judge(h *history.History, name string, holds func(*account, int) error) error {
	b.read(h)
	a := b.of(name)
	calm := b.calm(a)
	if calm < 0 {
		return b.restless(h, a)
	}
	return holds(a, calm)
}

// Settles (S0-L1): once it sleeps longer than the clean-up takes, there is one attempt for each period of back-off.
func (b *Books) Settles(name string) func(*history.History) error {
	return func(h *history.History) error {
		return b.judge(h, name, func(a *account, calm int) error {
			for i, p := range settledPeriods(a, calm) {
				if p.attempts != 1 {
					return fmt.Errorf("%s: %d attempts between the timers at %s and %s, settled period %d",
						name, p.attempts, history.Clock(p.from.at), history.Clock(p.to.at), i+1)
				}
			}
			return nil
		})
	}
}

// BackoffGrows (S0-L2): each attempt counts one failure, so the time from one to the next doubles, up to the longest
// sleep, and never shrinks.
func (b *Books) BackoffGrows(name string) func(*history.History) error {
	return func(h *history.History) error {
		return b.judge(h, name, func(a *account, calm int) error {
			var was *hand
			var gap time.Duration
			for _, hand := range a.hands[calm:] {
				if hand.attempts == 0 {
					continue
				}
				if was != nil {
					now := hand.at - was.at
					if gap > 0 && (now < min(gap, longestSleep)-busy || now > 2*gap+busy) {
						return fmt.Errorf("%s: the attempt at %s came %v after the one before, and that %v after its own; one failure doubles it", name,
							history.Clock(hand.at), now, gap)
					}
					gap = now
				}
				was = hand
			}
			return nil
		})
	}
}

// Actionable (S0-A1): for 95 % of the time since it has settled, over five periods or a long while, the status names the
// cause.
func (b *Books) Actionable(name string) func(*history.History) error {
	return func(h *history.History) error {
		b.read(h)
		a := b.of(name)
		from, enough := b.begun(h, a)
		if !enough {
			return nil
		}
		if told := a.told(from, h.Now()); told < (h.Now()-from)*95/100 {
			return fmt.Errorf("%s: of the %v since %s the status named the cause for %v", name, h.Now()-from, history.Clock(from), told)
		}
		return nil
	}
}

// begun is from when on a deployment is judged, and whether enough has happened since. One that does not come to rest
// is judged from when it should have.
func (b *Books) begun(h *history.History, a *account) (from history.Time, enough bool) {
	if calm := b.calm(a); calm >= 0 {
		from = a.hands[calm].at
		return from, len(settledPeriods(a, calm)) >= periods || h.Now() > from+b.unrest()
	}
	from = a.begun + b.unrest()
	return from, a.begun > 0 && len(a.hands) > 2 && h.Now() > from+b.unrest()
}

// told is for how long the status named the cause.
func (a *account) told(from, to history.Time) (d time.Duration) {
	for i, s := range a.said {
		end := to
		if i+1 < len(a.said) {
			end = a.said[i+1].at
		}
		if begin := max(s.at, from); s.names() && end > begin {
			d += end - begin
		}
	}
	return d
}

// Quiet (S0-A2): once it has settled, the status is not written any more.
func (b *Books) Quiet(name string) func(*history.History) error {
	return func(h *history.History) error {
		return b.judge(h, name, func(a *account, calm int) error {
			n := 0
			for _, hand := range a.hands[calm+1:] {
				if n += hand.writes; n > 0 {
					return fmt.Errorf("%s: at %s its status was written, although it had settled at %s and nothing was new", name,
						history.Clock(hand.at), history.Clock(a.hands[calm].at))
				}
			}
			return nil
		})
	}
}

// NoOverlap (S0-S1): no attempt begins while something is still there that the clean-up of the one before has deleted.
func (b *Books) NoOverlap(name string) func(*history.History) error {
	return func(h *history.History) error {
		b.read(h)
		return b.of(name).overlap
	}
}

// KeepsOld (S0-S2): what a deployment has installed outlives a failing upgrade.
func (b *Books) KeepsOld(name string) func(*history.History) error {
	return func(h *history.History) error {
		b.read(h)
		if lost := b.of(name).lost; len(lost) > 0 {
			return fmt.Errorf("%s was installed, and its %s is gone", name, lost[0])
		}
		return nil
	}
}

// BoundedRecords (S0-R1): no more than ten release records are kept.
func (b *Books) BoundedRecords(name string) func(*history.History) error {
	return func(h *history.History) error {
		b.read(h)
		if a := b.of(name); a.most > mostRecords {
			return fmt.Errorf("%s has %d release records", name, a.most)
		}
		return nil
	}
}
