package world

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/wavetank/wavetank/sim/internal/run"
	shipped "github.com/wavetank/wavetank/sim/property"

	"github.com/wavetank/wavetank/history"
)

// This file makes the message about a world that did not settle.

// unsettled is a sentence about what is still pending.
func (q *quiescence) unsettled(limit string, setups failedSetups) string {
	keys := q.failing()
	msg := fmt.Sprintf("the world did not settle %s: %s%spending are %s%s",
		limit, q.refused(), describe(keys), strings.Join(q.pending(), "; "), q.lastWrite(keys))
	for _, p := range q.procs.Processes() {
		if why := setups.of(p.Name, p.Incarnations()); why != "" {
			msg += "; " + why
		}
	}
	for _, kind := range q.procs.Unserved() {
		msg += fmt.Sprintf("; the cluster does not serve %s, which was asked for: w.Install its definition before "+
			"w.Start", kind)
	}
	return msg
}

// refused names the kinds that programs have asked for and never been given. Their caches do not
// sync, and the error with which a manager exits may name another kind.
func (q *quiescence) refused() (s string) {
	for _, r := range run.RefusedOf(q.history.Events) {
		if strings.HasPrefix(r.Request, "list ") && r.Failed == r.Made {
			can := "cannot"
			if r.Code == http.StatusForbidden {
				can = "may not"
			}
			s += fmt.Sprintf("%s %s %s (%d); ", r.Process, can, r.Request, r.Code)
		}
	}
	return s
}

// failingKey is a key whose reconciles have all failed since faults ended.
type failingKey struct {
	history.KeyID
	times int
	last  history.Outcome
	at    history.Time
}

// failing are the keys of which at least two reconciles, and all, have failed since faults ended.
// The key that made the last write comes first.
func (q *quiescence) failing() (out []failingKey) {
	keys := map[history.KeyID]*failingKey{}
	for i := range q.history.Events {
		e := &q.history.Events[i]
		if e.Kind != history.Done || e.Index <= q.activity.recovery.index {
			continue
		}
		k := keys[keyOf(e)]
		if k == nil {
			k = &failingKey{KeyID: keyOf(e)}
			keys[k.KeyID] = k
		}
		switch e.Outcome.Kind {
		case history.OutcomeFailure, history.OutcomePanic:
			if k.times >= 0 {
				k.times++
			}
			k.last, k.at = e.Outcome, e.At
		default:
			k.times = -1
		}
	}
	for _, k := range keys {
		if k.times > 1 {
			out = append(out, *k)
		}
	}
	writer := keyOf(&q.activity.wrote)
	slices.SortFunc(out, func(a, b failingKey) int {
		switch {
		case a.KeyID == writer:
			return -1
		case b.KeyID == writer:
			return 1
		}
		return strings.Compare(a.Actor+" "+a.Key.String(), b.Actor+" "+b.Key.String())
	})
	return out
}

// describe names the first of the failing keys, with its last error, and counts the others.
func describe(keys []failingKey) string {
	if len(keys) == 0 {
		return ""
	}
	k := keys[0]
	s := fmt.Sprintf("each of the %d reconciles of %s %s since faults ended failed, the last at %s with %q; ",
		k.times, k.Actor, k.Key, history.Clock(k.at), k.last.Text)
	if n := len(keys) - 1; n > 0 {
		s += fmt.Sprintf("so did those of %d more keys; ", n)
	}
	return s
}

// pending lists what is left to do.
func (q *quiescence) pending() (out []string) {
	for _, a := range q.sched.Pending() {
		if !a.Idle && len(out) < 4 {
			since, due := history.Clock(a.Since()), history.Clock(a.Due())
			out = append(out, fmt.Sprintf("%s (since %s, due %s)", a.What(), since, due))
		}
	}
	for _, s := range []string{q.procs.Starting(), q.procs.MissingWatch()} {
		if s != "" {
			out = append(out, s)
		}
	}
	for _, c := range q.procs.Controllers() {
		out = append(out, c.Busy()...)
	}
	out = append(out, q.dequeuesBefore(1<<62)...)
	if len(out) == 0 {
		out = append(out, "nothing that the harness can see; a program without a manager, "+
			"or goroutines next to its controllers, keeps writing or asking")
	}
	if len(out) > 8 {
		out = append(out[:8], fmt.Sprintf("and %d more", len(out)-8))
	}
	return out
}

// lastWrite is the last write in words, with how often its object has been written since faults
// ended; "" if nothing was written. A write that is repeated, but not by one of the failing keys,
// may be made on a period by design.
func (q *quiescence) lastWrite(failing []failingKey) string {
	last := &q.activity.wrote
	if q.activity.lastWrite < 0 {
		return ""
	}
	at := history.Clock(last.At)
	s := fmt.Sprintf("; the last write was %s %s by %s at %s", last.Verb, last.Ref, last.Actor(), at)
	n, before := 0, time.Duration(0)
	for _, e := range q.history.Events {
		for _, c := range e.Changes {
			if c.Ref == last.Ref && e.Process == last.Process && e.Index > q.activity.recovery.index {
				n++
				if e.Index < q.activity.lastWrite {
					before = e.At
				}
			}
		}
	}
	if n < 2 {
		return s
	}
	s += fmt.Sprintf(", as %d times since faults ended, %v after the one before", n, last.At-before)
	if slices.ContainsFunc(failing, func(k failingKey) bool { return k.KeyID == keyOf(last) }) {
		return s
	}
	return s + fmt.Sprintf(": if it is written on a period by design, say w.Without(%q); w.Settle then waits as long, "+
		"and judges without failing for that", shipped.DefaultSettles)
}
