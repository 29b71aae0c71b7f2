package fault

import (
	"fmt"
	"time"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/models/apiserver"
	"github.com/wavetank/wavetank/sim/internal/inject"
	"github.com/wavetank/wavetank/sim/internal/process"
	"github.com/wavetank/wavetank/sim/internal/wire"
)

// This file lets a cache lag for longer than a program waits for it. A program that waits 10 s for
// its own write to appear behaves alike under all lags of less than 10 s, whatever maximum the
// scenario names.

// A wait counts if it lasts for shortestWait at least. A lag that outlasts waits ends maxLag after
// the change, and afterWait after a timer for which the program waits.
const (
	shortestWait = time.Second
	afterWait    = time.Second
	maxLag       = 3 * time.Minute
)

// lagging is an event whose lag was injected.
type lagging struct {
	revision int64
	until    time.Duration // to which the lag was extended; 0 if it was not
}

// extended is how much longer an event lags that outlasts a wait. It reports false if the event is
// another one.
func (s *staleCache) extended(stream *wire.Stream, frame apiserver.Frame) (time.Duration, bool) {
	l, ok := s.lags[stream]
	if !ok || l.revision != frame.Revision || l.until == 0 {
		delete(s.lags, stream)
		return 0, false
	}
	if s.env.Ended() {
		return 0, true
	}
	return max(0, l.until-s.env.Now()), true
}

// Fate implements [inject.FateDecider]: a lag is over. If the program still waits for its own write
// to appear, the lag may be extended.
func (s *staleCache) Fate(stream *wire.Stream, frame apiserver.Frame) wire.Fate {
	l, lags := s.lags[stream]
	if !lags || l.revision != frame.Revision || s.env.Ended() {
		return wire.Arrives
	}
	w := s.wait(stream, frame)
	if w.over {
		s.waits.Outlasted++
	}
	if w.until == 0 || w.until > w.since+maxLag {
		return wire.Arrives
	}
	ref := history.Ref{Kind: stream.Kind, Namespace: frame.Namespace, Name: frame.Name}
	where := atEvent(stream, frame, ref)
	where.Who = "past a wait of " + where.Who
	if s.scope.hard || s.injected(where, 2, 4, 2) == 0 {
		s.waits.Cut++
		s.waits.Longest = max(s.waits.Longest, s.env.Now()-w.since)
		return wire.Arrives
	}
	if l.until == 0 {
		s.env.Note(history.Event{
			Kind: history.Fault, Process: stream.Port.Process, Incarnation: stream.Port.Incarnation, Reconcile: w.of,
			Injection: s.injection(fmt.Sprintf("outlasts the wait for its %s", ref)),
		})
	}
	l.until = w.until
	s.lags[stream] = l
	return wire.Waits
}

// wait is what a program does about a change of its own that its cache does not have.
type wait struct {
	since time.Duration // the change
	of    history.Reconcile
	until time.Duration // past which the lag outlasts the wait, as far as is known; 0 if nothing waits
	over  bool          // a wait has ended, and the lag has not
}

// wait looks at the reconcile that has made the change of a watch event. It waits while it runs and
// sends nothing, and while its key has a timer of RequeueAfter. How long it will continue in the
// first case is not known, so the lag is doubled.
func (s *staleCache) wait(stream *wire.Stream, frame apiserver.Frame) (w wait) {
	if stream.Call.Cluster != "" {
		return wait{}
	}
	events := s.env.History().Events
	at := committedBy(events, frame.Revision)
	if at < 0 || events[at].Reconcile.None() || events[at].Process != stream.Port.Process ||
		events[at].Incarnation != stream.Port.Incarnation {
		return wait{}
	}
	now := s.env.Now()
	w.since, w.of = events[at].At, events[at].Reconcile
	last, running := &events[at], true
	for i := at + 1; i < len(events); i++ {
		e := &events[i]
		if e.Process != stream.Port.Process || e.Incarnation != stream.Port.Incarnation || e.Reconcile.Key != w.of.Key {
			continue
		}
		if e.Kind == history.Dequeue && e.Cause.Kind == history.CauseRequeueAfter && e.Wait >= shortestWait {
			w.over = true
		}
		if e.Reconcile != w.of || !running {
			continue
		}
		w.over = w.over || last.Kind == history.Reply && e.At-last.At >= shortestWait
		last, running = e, e.Kind != history.Done
	}
	if running && last.Kind == history.Reply && now-last.At >= shortestWait {
		w.until = now + (now - w.since)
	} else if due := s.timer(stream.Port.Process, w.of.Key); due > 0 {
		w.until = due + afterWait
	}
	return w
}

// committedBy is the index of the event that committed a revision; -1 if it is not known.
func committedBy(events []history.Event, revision int64) int {
	for i := len(events) - 1; i >= 0 && events[i].Server >= revision; i-- {
		for _, c := range events[i].Changes {
			if c.Ref.Cluster == "" && c.Revision == revision {
				return i
			}
		}
	}
	return -1
}

// timer is when the timer of RequeueAfter of a key is due; 0 if there is none.
func (s *staleCache) timer(of string, key history.Key) (due time.Duration) {
	for _, c := range s.env.Controllers() {
		if c.Life.Port.Process != of || c.Name != key.Controller {
			continue
		}
		c.EachTimer(func(t process.Timer) bool {
			if t.What == history.CauseRequeueAfter && t.Delay >= shortestWait && t.Item.Namespace == key.Namespace &&
				t.Item.Name == key.Name {
				due = t.Due
			}
			return due == 0
		})
	}
	return due
}

// Waits implements [inject.Waiter].
func (s *staleCache) Waits() inject.Waits {
	s.waits.Fault = s.count.Fault
	return s.waits
}

// End implements [inject.Ender].
func (s *staleCache) End() { clear(s.lags) }
