package fault

import (
	"fmt"
	"slices"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/internal/story"
	"github.com/wavetank/wavetank/models/apiserver"
	"github.com/wavetank/wavetank/sim/internal/inject"
	"github.com/wavetank/wavetank/sim/internal/process"
	"github.com/wavetank/wavetank/sim/internal/wire"
)

// StaleCache makes watch events lag behind the server by up to d. Each process and kind has its own
// lag, so events of different kinds may arrive in another order than their changes were made.
// Without this fault, a watch event arrives before the reply to the write that caused it.
//
// A lag may exceed d in one case: the lag is about to end, and the reconcile that made the change
// still waits, or its key has a RequeueAfter timer. An operator that waits 10 s for its cache would
// never notice a lag of 8 s, so such a lag may be extended until the wait is over, by three minutes
// at most. [HardLimit] prevents this.
func StaleCache(d time.Duration, scopes ...CacheScope) Fault {
	return declare("StaleCache", d.String(), scopes, func(c core) inject.Fault {
		return &staleCache{core: c, lags: map[*wire.Stream]lagging{}}
	}).upTo(d)
}

type staleCache struct {
	core
	lags  map[*wire.Stream]lagging
	waits inject.Waits
}

// Lag implements [inject.Lagger].
func (s *staleCache) Lag(stream *wire.Stream, frame apiserver.Frame) time.Duration {
	if d, ok := s.extended(stream, frame); ok {
		return d
	}
	ref := history.Ref{Kind: stream.Kind, Namespace: frame.Namespace, Name: frame.Name}
	if !s.covers(stream.Port.Process, stream.Kind, "", ref) {
		return 0
	}
	v := s.injected(atEvent(stream, frame, ref), len(lags), 8, 2)
	if v == 0 {
		return 0
	}
	s.lags[stream] = lagging{revision: frame.Revision}
	// The event may have waited already for the one before it.
	return max(0, s.changedAt(stream, frame)+s.share(lags, v)-s.env.Now())
}

// atEvent is the point at which a watch event is about to arrive.
func atEvent(s *wire.Stream, frame apiserver.Frame, ref history.Ref) story.Label {
	return story.Label{Who: s.Port.Process, Verb: frame.Type, What: ref.String()}
}

// changedAt is when the change of a watch event was committed.
func (s *staleCache) changedAt(stream *wire.Stream, frame apiserver.Frame) history.Time {
	if stream.Call.Cluster == "" {
		return committedAt(s.env, frame.Revision)
	}
	for _, e := range slices.Backward(s.env.History().Events) {
		for _, c := range e.Changes {
			if c.Ref.Cluster == stream.Call.Cluster && c.Revision == frame.Revision {
				return e.At
			}
		}
	}
	return s.env.Now()
}

// Dequeued implements [inject.Dequeuer]: a reconcile begins that the cache has told what is no
// longer so.
func (s *staleCache) Dequeued(*process.Incarnation, string, reconcile.Request) {
	events := s.env.History().Events
	if len(events[len(events)-1].Seen) > 0 {
		s.latestObserved()
	}
}

// ender ends a watch when an event is about to arrive on it.
type ender struct {
	core
	ended map[string]bool // watches that were ended and have not been opened again, by incarnation and path
}

func newEnder(c core) ender { return ender{c, map[string]bool{}} }

func watchKey(c *wire.Call) string { return c.Port.Name() + " " + c.Cluster + c.Request.URL.Path }

// injectedOn asks whether the fault is injected when a watch event is about to arrive, and how.
func (e *ender) injectedOn(s *wire.Stream, frame apiserver.Frame, n int) int {
	ref := history.Ref{Group: s.Call.Info.Group, Kind: s.Kind, Namespace: frame.Namespace, Name: frame.Name}
	if !e.covers(s.Port.Process, s.Kind, "", ref) {
		return 0
	}
	return e.injected(atEvent(s, frame, ref), n, 24, 6)
}

// end records the end of a watch.
func (e *ender) end(s *wire.Stream, how string) {
	e.ended[watchKey(s.Call)] = true
	e.env.Note(history.Event{
		Kind: history.Fault, Process: s.Port.Process, Incarnation: s.Port.Incarnation,
		Injection: e.injection("the " + s.Kind + " watch " + how),
	})
}

// Arrive implements [inject.Arriver]: a watch is opened again.
func (e *ender) Arrive(c *wire.Call) wire.Ruling {
	if key := watchKey(c); c.Verb() == "watch" && e.ended[key] {
		delete(e.ended, key)
		e.observed()
	}
	return wire.Ruling{}
}

// DroppedWatch ends watches without an error, as when a connection breaks or a server restarts. The
// informer opens the watch again at the last revision that it has seen, so it misses nothing. Until
// then it receives no events.
func DroppedWatch(scopes ...Scope) Fault {
	return declare("DroppedWatch", "", scopes,
		func(c core) inject.Fault { return &endedWatch{newEnder(c), "breaks off", wire.Drops} })
}

// endedWatch ends a watch as soon as an event is about to arrive.
type endedWatch struct {
	ender
	how  string
	fate wire.Fate
}

// Fate implements [inject.FateDecider].
func (e *endedWatch) Fate(s *wire.Stream, frame apiserver.Frame) wire.Fate {
	if e.injectedOn(s, frame, 2) == 0 {
		return wire.Arrives
	}
	e.end(s, e.how)
	return e.fate
}

// Relist ends watches with 410 Gone. The informer lists again after a back-off of at least 0.8 s.
// It receives only the last state of each object that changed in between. An object that was
// deleted and created again arrives as an update.
func Relist(scopes ...Scope) Fault {
	return declare("Relist", "", scopes,
		func(c core) inject.Fault { return &endedWatch{newEnder(c), "ends with 410 Gone", wire.Expires} })
}

// Expired ends watches without an error, and answers 410 Gone when the informer opens them again,
// as a server does whose history has been compacted. The informer then lists again, as after a
// [Relist].
func Expired(scopes ...Scope) Fault {
	return declare("Expired", "", scopes, func(c core) inject.Fault {
		return &expired{endedWatch{newEnder(c), "breaks off and cannot be resumed", wire.Drops}}
	})
}

type expired struct{ endedWatch }

// Arrive hides that of ender: the effect is observed when the 410 has been answered.
func (e *expired) Arrive(*wire.Call) wire.Ruling { return wire.Ruling{} }

// Landed implements [inject.Lander].
func (e *expired) Landed(c *wire.Call) wire.Ruling {
	key := watchKey(c)
	if c.Verb() != "watch" || !e.ended[key] || c.Watched() == nil {
		return wire.Ruling{}
	}
	delete(e.ended, key)
	if e.env.Ended() || c.Request.URL.Query().Get("sendInitialEvents") != "" {
		return wire.Ruling{Seen: e.observed} // it lists again already: the watch had lasted less than a second
	}
	c.Watched().Expire()
	e.note(c, "410 Gone for")
	return wire.Ruling{Seen: e.observed}
}

// MissedStates makes several versions of an object arrive as one. A watch delivers nothing for up
// to d, then ends with 410 Gone, and the informer lists again. A controller that acts on a
// transition never sees it.
func MissedStates(d time.Duration, scopes ...Scope) Fault {
	return declare("MissedStates", d.String(), scopes, func(c core) inject.Fault {
		return &missedStates{newEnder(c), map[*wire.Stream]bool{}}
	}).upTo(d)
}

type missedStates struct {
	ender
	silent map[*wire.Stream]bool // watches that hear nothing until they end
}

// Lag implements [inject.Lagger].
func (m *missedStates) Lag(s *wire.Stream, frame apiserver.Frame) time.Duration {
	v := m.injectedOn(s, frame, len(lengths))
	if v == 0 {
		return 0
	}
	m.silent[s] = true
	return m.share(lengths, v)
}

// Fate implements [inject.FateDecider].
func (m *missedStates) Fate(s *wire.Stream, _ apiserver.Frame) wire.Fate {
	if !m.silent[s] {
		return wire.Arrives
	}
	delete(m.silent, s)
	how := "ends with 410 Gone"
	if n := s.Behind(); n > 1 {
		how += fmt.Sprintf(", %d changes behind", n)
	}
	m.end(s, how)
	return wire.Expires
}

// End implements [inject.Ender].
func (m *missedStates) End() { clear(m.silent) }
