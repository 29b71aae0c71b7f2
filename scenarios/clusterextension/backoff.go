// This file holds what is asked of an upgrade that is refused for good: whether it settles into one
// attempt for each period of back-off, in spite of faults and after them.

package clusterextension

import (
	"fmt"
	"time"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/history/view"
	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/fault"
)

const (
	// periods are how many in a row must be as they should. They are judged from the first one on
	// that a delay longer than noticeable begins.
	periods, noticeable = 5, time.Second
	// longestSleep is that of the work queue, longestRestart that of the kubelet. A delay that was
	// injected lasts no longer than lag.
	longestSleep, longestRestart, lag = 1000 * time.Second, 5 * time.Minute, time.Minute
)

// RefusedForGood has the server refuse version 2 while faults are injected, and when they have
// ended.
func RefusedForGood(sentences ...string) Workload {
	return func(t Setting, faults ...fault.Fault) func(*sim.World) {
		return func(w *sim.World) {
			s := deployed(w, t)
			w.Inject(faults...)
			s.asks(sentences...)
			s.Offers(refused)
			s.refusedFrom = w.History().Now()
			s.Sleep(20 * time.Minute)
			s.EndFaults()
			s.Sleep(longestRestart)
			s.measuredFrom = w.History().Now()
			s.Sleep(7 * longestSleep)
			s.over = true
		}
	}
}

// period is the time from one timer of the back-off to the next.
type period struct {
	from     history.Time
	attempts int
}

// periodsFrom are those that have begun since a time.
func (b *Record) periodsFrom(from history.Time) (out []period) {
	for _, r := range b.reconciles {
		if r.Began >= from && r.BackOff && (len(out) > 0 || r.Wait > noticeable) {
			out = append(out, period{from: r.Began})
		}
		if n := len(out); n > 0 {
			out[n-1].attempts += tries(r)
		}
	}
	return out
}

// tries is how often a reconcile has asked for the object that is refused.
func tries(r *view.Reconcile) (n int) {
	for _, c := range r.Calls {
		if c.Request.Verb == "create" && c.Request.Ref.Kind == "Deployment" && c.Request.Ref.Namespace == cause {
			n++
		}
	}
	return n
}

// faults is how many were injected in a time, or so shortly before that they still have an effect.
func (b *Record) faults(from, to history.Time) (n int) {
	for _, at := range b.injected {
		if at >= from-lag && at <= to {
			n++
		}
	}
	return n
}

type (
	// reached is an object with a version that it has had.
	reached struct {
		object  history.Ref
		version string
	}
	// further is a write that gave an object a version for the first time, and whose it was. It may
	// take effect long after the attempt.
	further struct {
		at history.Time
		by history.ReconcileID
	}
)

// gotFurther takes in a write of a version.
func (b *Record) gotFurther(e *history.Event, object history.Ref, version string) {
	if now := (reached{object, version}); !b.reached[now] {
		b.reached[now] = true
		b.further = append(b.further, further{e.At, e.ReconcileID()})
	}
}

// woken is how many attempts got further in a time, or so shortly before that what they changed may
// still wake the operator.
func (b *Record) woken(from, to history.Time) int {
	by := map[history.ReconcileID]bool{}
	for _, f := range b.further {
		if f.at >= from-lag && f.at <= to {
			by[f.by] = true
		}
	}
	return len(by)
}

// Restrained: while faults last, a period has at most one attempt, one for each fault, and one for
// each attempt that got further than those before.
func (b *Record) Restrained(h *history.History) error {
	b.read(h)
	if b.refusedFrom == 0 || b.measuredFrom > 0 {
		return nil
	}
	all := b.periodsFrom(b.refusedFrom)
	for i, p := range all {
		to := h.Now()
		if i+1 < len(all) {
			to = all[i+1].from
		}
		if n, more := b.faults(p.from, to), b.woken(p.from, to); p.attempts > 1+n+more {
			return fmt.Errorf("%d attempts from the timer at %s to %s, %d faults, and %d attempts that got further",
				p.attempts, history.Clock(p.from), history.Clock(to), n, more)
		}
	}
	return nil
}

// Settles: when faults have ended there are five periods or more, of one attempt each, and one for
// each attempt that got further.
func (b *Record) Settles(h *history.History) error {
	b.read(h)
	if b.measuredFrom == 0 {
		return nil
	}
	all := b.periodsFrom(b.measuredFrom)
	complete := all[:max(len(all)-1, 0)]
	for i, p := range complete {
		if p.attempts < 1 || p.attempts > 1+b.woken(p.from, all[i+1].from) {
			return fmt.Errorf("%d attempts between the timers at %s and %s", p.attempts, history.Clock(p.from),
				history.Clock(all[i+1].from))
		}
	}
	if b.over && len(complete) < periods {
		return fmt.Errorf("there were %d periods of back-off since %s; the status says %s", len(complete),
			history.Clock(b.measuredFrom), b.status)
	}
	return nil
}

// wakingAndInterrupting lets events come late and keys be queued again, and interrupts it in all
// ways.
func wakingAndInterrupting() []fault.Fault {
	return []fault.Fault{fault.StaleCache(30 * time.Second), fault.RacingRequeue(), fault.Crash(Operator),
		fault.Restart(Operator), fault.LostReply(fault.In(Operator))}
}

// backoff are the cases about an upgrade that is refused for good.
func backoff() []column {
	of := func(name, sentence string, fail ...variant) column {
		return column{Name: name, Workload: refusedForGood, Faults: wakingAndInterrupting, Property: sentence,
			Fail: fail, Skip: except("V0", "V6")}
	}
	return []column{
		of("refused for good, bounded attempts under faults", restrained),
		of("refused for good, it settles after faults", settles, "V0"),
	}
}

var refusedForGood = scene(Setting{}, RefusedForGood)
