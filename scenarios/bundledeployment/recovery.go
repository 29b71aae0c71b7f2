// This file exists for the properties that ask what becomes of a deployment when its cause is
// removed, when the operator dies, and when others fail beside it.

package bundledeployment

import (
	"fmt"
	"strings"
	"time"

	"github.com/wavetank/wavetank/history"
)

// Recovers (S0-L3): so long after the last change from outside the deployment is installed. The
// time in which it is in hand, which is as long as requests and clean-ups take, counts only as far
// as it is more than busy.
func (b *Books) Recovers(name string, within, busy time.Duration) func(*history.History) error {
	return func(h *history.History) error {
		b.read(h)
		a := b.of(name)
		s, since := a.says(), h.Now()-b.Since
		if late := since > within && a.idle(b.Since, h.Now()) > within || since > within+busy; b.Since > 0 && late && !s.installed() {
			return fmt.Errorf("%s: %v after the cause was removed its status says %s: %s", name, since, s.reason, oneLine(s.message))
		}
		return nil
	}
}

// idle is for how long nobody had a deployment in hand.
func (a *account) idle(from, to history.Time) time.Duration {
	d := to - from
	for _, hand := range append([]*hand{a.under}, a.hands...) {
		if hand == nil {
			continue
		}
		end := hand.done
		if end == 0 {
			end = to
		}
		if begin := max(hand.at, from); end > begin {
			d -= end - begin
		}
	}
	return d
}

// NoWedge (S0-W1): three periods after a crash the deployment is installed, or its status has named
// the cause. Periods are sleeps that are longer than a clean-up takes, so that nothing but the
// operator is in its own way.
func (b *Books) NoWedge(name string) func(*history.History) error {
	return func(h *history.History) error {
		b.read(h)
		a := b.of(name)
		timers := 0
		for _, hand := range a.hands {
			if hand.ends.installed() || hand.ends.names() {
				return nil
			}
			if hand.timer && hand.wait > b.Terminates && hand.done > 0 {
				timers++
			}
		}
		if timers <= 3 {
			return nil
		}
		s := a.says()
		return fmt.Errorf("%s: since the crash at %s it has slept and tried %d times, and its status only says %s: %s", name,
			history.Clock(a.begun), timers, s.reason, oneLine(s.message))
	}
}

// Prompt (S0-F1): whenever there is something to do for a deployment, a worker begins with it soon,
// whatever becomes of the others. The way of an event to the operator is not part of that.
func (b *Books) Prompt(name string, within time.Duration) func(*history.History) error {
	return func(h *history.History) error {
		b.read(h)
		for _, hand := range b.of(name).hands {
			if late := hand.at - hand.ready; late > within {
				return fmt.Errorf("%s was due at %s, and it was %v until a worker had time for it", name, history.Clock(hand.ready), late)
			}
		}
		return nil
	}
}

// OneOwner (S0-T1): an object that two deployments want does not change hands, at most one of them
// is installed, and the status of each says that it is, or that the object is the other's. One that
// cannot be installed anyway may name that cause instead.
func (b *Books) OneOwner(name, other string) func(*history.History) error {
	return func(h *history.History) error {
		b.read(h)
		one, two := b.of(name), b.of(other)
		both := map[string]history.Ref{}
		for uid, ref := range one.held {
			if _, shared := two.held[uid]; shared {
				both[uid] = ref
			}
		}
		if len(both) > 0 {
			return fmt.Errorf("%s has belonged to %s and to %s", first(both), one.name, two.name)
		}
		if one.says().installed() && two.says().installed() {
			return fmt.Errorf("%s and %s both say that they are installed", one.name, two.name)
		}
		for _, a := range []*account{one, two} {
			if s := a.says(); s.installed() || s.names() || s.another() {
				continue
			}
			return fmt.Errorf("%s: the status says neither that it is installed, nor the cause, nor that its objects are another's, but %s: %s", a.name,
				a.says().reason, oneLine(a.says().message))
		}
		return nil
	}
}

// another says whether a status says that an object is another's: in Helm's words, or in the API
// server's (ValidateOwnerReferences).
func (s said) another() bool {
	return strings.Contains(s.message, "cannot be imported into the current release") ||
		strings.Contains(s.message, "Only one reference can have Controller set to true")
}

// Fenced (S1-S8, which the full cure takes over): of two processes only one goes on with what was
// begun.
func (b *Books) Fenced(h *history.History) error {
	b.read(h)
	return b.fence.Broken()
}

// OneHand (S0-T1): a deployment is in one worker's hands at a time.
func (b *Books) OneHand(names ...string) func(*history.History) error {
	return func(h *history.History) error {
		b.read(h)
		for _, name := range names {
			if err := b.of(name).crowded; err != nil {
				return err
			}
		}
		return nil
	}
}

// HandsOff holds while no attempt has begun since the last change from outside.
func (b *Books) HandsOff(name string) func(*history.History) error {
	return func(h *history.History) error {
		b.read(h)
		for _, hand := range b.of(name).hands {
			if hand.attempts > 0 {
				return fmt.Errorf("%s is somebody else's since %s, and at %s an attempt began", name, history.Clock(b.Since), history.Clock(hand.at))
			}
		}
		return nil
	}
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// Installed holds when the deployments' status says that they are installed.
func (b *Books) Installed(names ...string) func(*history.History) error {
	return func(h *history.History) error {
		b.read(h)
		for _, name := range names {
			if s := b.of(name).says(); !s.installed() {
				return fmt.Errorf("%s: %s: %s", name, s.reason, oneLine(s.message))
			}
		}
		return nil
	}
}
