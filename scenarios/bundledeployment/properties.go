// This file exists for the properties that ask how the operator goes about a deployment that cannot
// be installed: whether it settles into one attempt for each period of back-off, and whether its
// status says why.

package bundledeployment

import (
	"fmt"
	"time"

	"github.com/wavetank/wavetank/history"
)

const (
	// periods are how many in a row must be as they should.
	periods = 5
	// mostRecords is how many release records may be kept.
	mostRecords = 10
	// firstSleep and longestSleep are those of the work queue's default rate limiter; in between
	// they double.
	firstSleep, longestSleep = 5 * time.Millisecond, 1000 * time.Second
)

// sleep is how long a deployment sleeps after so many failures.
func sleep(failures int) time.Duration {
	d := firstSleep
	for ; failures > 1 && d < longestSleep; failures-- {
		d *= 2
	}
	return min(d, longestSleep)
}

// enough is after how many failures the sleep is longer than the clean-up takes.
func (b *Books) enough() int {
	n := 1
	for sleep(n) <= b.Terminates {
		n++
	}
	return n
}

// calm is where a deployment has settled, as its place among the hands: the first attempt since the
// last change from outside that a timer began, after so many failures that the sleep before it had
// to be longer than the clean-up, and was. -1 if there was none yet. That is the dossier's
// definition for whoever keeps time, the work queue or the operator itself.
func (b *Books) calm(a *account) int {
	failures := 0
	var before *hand // with the attempt before
	for i, hand := range a.hands {
		if hand.attempts == 0 {
			continue
		}
		if hand.timer && sleep(failures) > b.Terminates && hand.at-before.done > b.Terminates {
			return i
		}
		failures, before = failures+hand.attempts, hand
	}
	return -1
}

// restless says that a deployment does not come to rest: it has had the failures after which it
// should sleep longer than the clean-up takes, and five more attempts, none of them after such a
// sleep.
func (b *Books) restless(a *account) error {
	if n := a.tried(len(a.hands)); n >= b.enough()+periods {
		return fmt.Errorf("%s: %d attempts since the last change from outside, the latest at %s, and never a sleep longer than the clean-up takes, %v, which was due after %d",
			a.name, n, history.Clock(a.last.at), b.Terminates, b.enough())
	}
	return nil
}

// tried is how many attempts were made in the first so many hands.
func (a *account) tried(hands int) (n int) {
	for _, hand := range a.hands[:hands] {
		n += hand.attempts
	}
	return n
}

// period is the time from one timer to the next.
type period struct {
	from, to *hand
	attempts int
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
	}
	return out
}

// judge asks a question of the settled part of one deployment.
func (b *Books) judge(h *history.History, name string, holds func(*account, int) error) error {
	b.read(h)
	a := b.of(name)
	calm := b.calm(a)
	if calm < 0 {
		if err := b.restless(a); err != nil || !b.Over {
			return err
		}
		return fmt.Errorf("%s: %d attempts in all, and never a sleep longer than the clean-up takes, %v", name, a.tried(len(a.hands)), b.Terminates)
	}
	if err := holds(a, calm); err != nil {
		return err
	}
	if n := len(settledPeriods(a, calm)); b.Over && n < periods {
		return fmt.Errorf("%s: it has settled at %s, and after %d periods it has stopped trying", name, history.Clock(a.hands[calm].at), n)
	}
	return nil
}

// Settles (S0-L1): once it sleeps longer than the clean-up takes, there is one attempt for each
// period of back-off.
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

// BackoffGrows (S0-L2): each attempt counts one failure. From the begin of an attempt to that of
// the next one passes at least the sleep after so many failures, and the sleep itself is not more
// than twice what passed the time before. What an attempt takes, as long as requests are or a
// clean-up, lies between the two measures, so neither needs a margin.
func (b *Books) BackoffGrows(name string) func(*history.History) error {
	return func(h *history.History) error {
		return b.judge(h, name, func(a *account, calm int) error {
			failures := a.tried(calm)
			var was *hand
			var gap time.Duration
			for _, hand := range a.hands[calm:] {
				if hand.attempts == 0 {
					continue
				}
				if was != nil {
					now, slept := hand.at-was.at, hand.at-was.done
					if now < sleep(failures) || gap > 0 && slept > 2*gap {
						return fmt.Errorf("%s: the attempt at %s came %v after the one before, %d failures, and that %v after its own; one failure doubles it, from %v to %v",
							name, history.Clock(hand.at), now, failures, gap, firstSleep, longestSleep)
					}
					gap = now
				}
				failures, was = failures+hand.attempts, hand
			}
			return nil
		})
	}
}

// Actionable (S0-A1): for 95 % of the time since it has settled, over five periods or more, the
// status names the cause.
func (b *Books) Actionable(name string) func(*history.History) error {
	return func(h *history.History) error {
		b.read(h)
		a := b.of(name)
		from, long := b.judged(a)
		switch {
		case !long && b.Over:
			return fmt.Errorf("%s: it has never settled for %d periods, so nothing can be said of its status", name, periods)
		case !long:
			return nil
		}
		if told := a.told(from, h.Now()); told < (h.Now()-from)*95/100 {
			return fmt.Errorf("%s: of the %v since %s the status named the cause for %v", name, h.Now()-from, history.Clock(from), told)
		}
		return nil
	}
}

// judged is from when on a deployment is judged, and whether that is long ago. One that does not
// come to rest is judged from when it should have, once it has made as many attempts as there are
// periods.
func (b *Books) judged(a *account) (from history.Time, long bool) {
	if calm := b.calm(a); calm >= 0 {
		return a.hands[calm].at, len(settledPeriods(a, calm)) >= periods
	}
	if b.restless(a) == nil {
		return 0, false
	}
	for i, hand := range a.hands {
		if a.tried(i+1) >= b.enough() {
			return hand.at, true
		}
	}
	return 0, false
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

// Quiet (S0-A2): once it has settled, the status is not written any more. The attempt with which it
// settles may still write: the one before it met what was left of its own clean-up, and the status
// says that until there is better news.
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

// NoOverlap (S0-S1): no attempt begins while something is still there that the clean-up of the one
// before has deleted.
func (b *Books) NoOverlap(name string) func(*history.History) error {
	return func(h *history.History) error {
		b.read(h)
		return b.of(name).overlap
	}
}

// NoOrphans (S1-S6, which the full cure takes over): what carries the deployment's name is what is
// wanted of it, so many objects.
func (b *Books) NoOrphans(name string, wanted int) func(*history.History) error {
	return func(h *history.History) error {
		b.read(h)
		a := b.of(name)
		if n := len(a.holds); a.says().installed() && n != wanted {
			return fmt.Errorf("%s is installed with %d objects, and %d carry its name, %s among them", name, wanted, n, first(a.holds))
		}
		return nil
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
