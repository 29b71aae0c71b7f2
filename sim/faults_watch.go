package sim

import (
	"fmt"
	"time"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/models/apiserver"
	"github.com/wavetank/wavetank/sim/internal/wire"
)

// watchFault ends a watch as an event is about to arrive on it.
type watchFault struct {
	fault
	// ended are the watches that the fault ended and that have not been opened again, by life and path.
	ended map[string]bool
}

func newWatchFault(name string, scopes []Scope) watchFault {
	return watchFault{newFault(name, scopes), map[string]bool{}}
}

func watchKey(c *wire.Call) string { return c.Port.Name() + " " + c.Cluster + c.Request.URL.Path }

// asks asks whether the fault strikes as a frame is about to arrive, and how.
func (f *watchFault) asks(w *World, s *wire.Stream, frame apiserver.Frame, n int) int {
	ref := history.Ref{Group: s.Call.Info.Group, Kind: s.Kind, Namespace: frame.Namespace, Name: frame.Name}
	if !f.scope.covers(s.Port.Process, s.Kind, "", ref) {
		return 0
	}
	return f.strikes(w, s.Port.Process+" "+frame.Type+" "+ref.String(), n, 24, 6)
}

// end marks the end of a watch.
func (f *watchFault) end(w *World, s *wire.Stream, how string) {
	f.ended[watchKey(s.Call)] = true
	w.note(history.Event{Kind: history.Fault, Process: s.Port.Process, Life: s.Port.Incarnation, Note: f.name + ": the " + s.Kind + " watch " + how})
}

// arrive takes note of a watch that is opened again.
func (f *watchFault) arrive(_ *World, c *wire.Call) wire.Ruling {
	if key := watchKey(c); c.Verb() == "watch" && f.ended[key] {
		delete(f.ended, key)
		f.seen()
	}
	return wire.Ruling{}
}

// DroppedWatch ends watches without a word, as a broken connection or a server that restarts does. The informer opens the
// watch again from the last revision that it has seen, and misses nothing; until then it hears nothing.
func DroppedWatch(scopes ...Scope) Fault {
	return &droppedWatch{newWatchFault("DroppedWatch", scopes)}
}

type droppedWatch struct{ watchFault }

func (f *droppedWatch) fresh() Fault { return &droppedWatch{watchFault{f.fault, map[string]bool{}}} }

func (f *droppedWatch) fate(w *World, s *wire.Stream, frame apiserver.Frame) wire.Fate {
	if f.asks(w, s, frame, 2) == 0 {
		return wire.Arrives
	}
	f.end(w, s, "breaks off")
	return wire.Drops
}

// Relist ends watches with 410 Gone: the informer waits for its back-off of 0.8 s and more, and lists anew. What changed
// meanwhile arrives as the last state only; an object that was deleted and made again arrives as an update.
func Relist(scopes ...Scope) Fault { return &relist{newWatchFault("Relist", scopes)} }

type relist struct{ watchFault }

func (f *relist) fresh() Fault { return &relist{watchFault{f.fault, map[string]bool{}}} }

func (f *relist) fate(w *World, s *wire.Stream, frame apiserver.Frame) wire.Fate {
	if f.asks(w, s, frame, 2) == 0 {
		return wire.Arrives
	}
	f.end(w, s, "ends with 410 Gone")
	return wire.Expires
}

// Expired ends watches without a word, and answers 410 Gone when the informer wants to go on from the last revision that
// it has seen, as a server does whose history has been compacted. The informer then does what it does after a [Relist].
func Expired(scopes ...Scope) Fault { return &expired{newWatchFault("Expired", scopes)} }

type expired struct{ watchFault }

func (f *expired) fresh() Fault { return &expired{watchFault{f.fault, map[string]bool{}}} }

func (f *expired) fate(w *World, s *wire.Stream, frame apiserver.Frame) wire.Fate {
	if f.asks(w, s, frame, 2) == 0 {
		return wire.Arrives
	}
	f.end(w, s, "breaks off and cannot be resumed")
	return wire.Drops
}

// arrive hides that of watchFault: the fault is seen when the 410 has been answered.
func (f *expired) arrive(*World, *wire.Call) wire.Ruling { return wire.Ruling{} }

func (f *expired) land(w *World, c *wire.Call) wire.Ruling {
	key := watchKey(c)
	if c.Verb() != "watch" || !f.ended[key] || c.Response.Watch == nil {
		return wire.Ruling{}
	}
	delete(f.ended, key)
	if w.healed || c.Request.URL.Query().Get("sendInitialEvents") != "" {
		return wire.Ruling{Seen: f.seen} // it lists anew already: the watch had lasted less than a second
	}
	c.Response.Watch.Expire()
	f.mark(w, c, "410 Gone for")
	return wire.Ruling{Seen: f.seen}
}

// MissedStates lets several versions of an object arrive as one: a watch hears nothing for up to d, ends with 410 Gone,
// and the informer lists anew. A controller that acts on a transition never sees it.
func MissedStates(d time.Duration, scopes ...Scope) Fault {
	return &missedStates{newWatchFault(fmt.Sprintf("MissedStates(%v)", d), scopes), d, map[*wire.Stream]bool{}}
}

type missedStates struct {
	watchFault
	max    time.Duration
	doomed map[*wire.Stream]bool // watches that hear nothing
}

func (f *missedStates) fresh() Fault {
	return &missedStates{watchFault{f.fault, map[string]bool{}}, f.max, map[*wire.Stream]bool{}}
}

func (f *missedStates) lag(w *World, s *wire.Stream, frame apiserver.Frame) time.Duration {
	v := f.asks(w, s, frame, len(windowLevels))
	if v == 0 {
		return 0
	}
	f.doomed[s] = true
	return f.max / time.Duration(windowLevels[v])
}

func (f *missedStates) fate(w *World, s *wire.Stream, _ apiserver.Frame) wire.Fate {
	if !f.doomed[s] {
		return wire.Arrives
	}
	delete(f.doomed, s)
	if n := s.Behind(); n > 1 {
		f.end(w, s, fmt.Sprintf("ends with 410 Gone, %d changes behind", n))
	} else {
		f.end(w, s, "ends with 410 Gone")
	}
	return wire.Expires
}

func (f *missedStates) heal(*World) { clear(f.doomed) }
