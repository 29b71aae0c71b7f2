// Package property holds properties that any controller can be asked for. Each constructor returns
// a function for [sim.World.Always] or [sim.World.Eventually], and its documentation says which:
//
//	w.Always("no key is reconciled in a loop", property.NoHotLoop(100, 10*time.Second))
//	w.Eventually("deleted objects go away", property.NoStuckFinalizer(30*time.Second))
//
// In a run with a window ([sim.Window]), a property that looks back further than the window panics
// and the message states it.
//
// Properties read the history of the run and nothing else, so the code under test needs no
// annotation. A violation is reported as one sentence that names objects, virtual times and
// versions. A property reads each event once, however often it is judged, and keeps no state from
// one run to the next.
//
// A property of a scenario's own is a function of the history, or made by [New].
//
// Every run is judged by the default properties: "settles" (judged by Settle itself), "no hot loop"
// (NoHotLoop(100, 10*time.Second)), "no panic" (NoPanic()), "cache untouched" (CacheUntouched()),
// "no stuck finalizer" (NoStuckFinalizer(0) at each Settle) and "apply is stable" (ApplyIsStable(),
// if a scenario calls [sim.World.ApplyAgain]). [sim.World.Without] switches them off by name.
//
// # Words
//
//   - Change: a committed change of an object other than Leases and Events.
//   - Disturbance: a change by a user, a built-in controller or any other writer that is not
//     under test; an injected fault; the end of faults; the start or end of an incarnation; an
//     answer of an outside host that differs from its last answer to the same request. Most
//     bounds count from the last disturbance, because no controller can be expected to finish
//     sooner.
//   - Key: one object of one controller, as its work queue knows it, in one incarnation of its
//     process.
//
// If a [history.Ref] selects objects, its empty fields match anything.
//
// [sim.World.ApplyAgain]: https://pkg.go.dev/github.com/wavetank/wavetank/sim#World.ApplyAgain
// [sim.World.Always]: https://pkg.go.dev/github.com/wavetank/wavetank/sim#World.Always
// [sim.Window]: https://pkg.go.dev/github.com/wavetank/wavetank/sim#Window
// [sim.World.Without]: https://pkg.go.dev/github.com/wavetank/wavetank/sim#World.Without
// [sim.World.Eventually]: https://pkg.go.dev/github.com/wavetank/wavetank/sim#World.Eventually
package property

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/internal/kept"
)

// Property is what must hold in a run. It returns nil, or an error that says in one sentence what
// was observed of which object. [sim.World.Always] calls it after every step, and
// [sim.World.Eventually] when the world has settled. A function of this type is a property, too;
// one that looks at events rather than at objects is best made by [New].
type Property func(*history.History) error

// New makes a property that is asked about each event once, however often the run is judged. begin
// is called for each run and returns what judges its events, with a state of its own. The first
// error stays: such a property is one for [sim.World.Always].
func New(begin func() func(h *history.History, e *history.Event) error) Property {
	return perRun(func() judge { return judge{event: begin()} })
}

// The names of the default properties, for [sim.World.Without] and auto.Without.
const (
	DefaultSettles             = "settles"
	DefaultNoHotLoop           = "no hot loop"
	DefaultNoPanic             = "no panic"
	DefaultNoStuckFinalizer    = "no stuck finalizer"
	DefaultNoMissingPermission = "no missing permission"
	DefaultCacheUntouched      = "cache untouched"
	DefaultApplyIsStable       = "apply is stable"
)

// judge is what a property does in one run. Either function may be nil.
type judge struct {
	event func(h *history.History, e *history.Event) error // is called once for each event; what it finds stays found
	// is called at each judgement, when all events have been read
	now func(h *history.History) error
}

// perRun makes a property of judges: begin is called for each run, and each event is read once.
func perRun(begin func() judge) Property {
	var (
		run    *history.History
		j      judge
		read   int
		broken error
	)
	return func(h *history.History) error {
		if h != run {
			run, j, read, broken = h, begin(), 0, nil
		}
		for j.event != nil && broken == nil && read < h.Len() {
			broken = j.event(h, &h.Since(read)[0])
			read++
		}
		if broken == nil && j.now != nil {
			return j.now(h)
		}
		return broken
	}
}

// breaks is asked with every rule that decides about a property and what it found. Tests turn one
// rule after the other round, to see that each matters.
var breaks = func(rule string, found bool) bool { return found }

// changes reports whether the event committed a change to an object other than Leases and Events.
func changes(e *history.Event) bool {
	return slices.ContainsFunc(e.Changes, func(c history.Change) bool { return !c.Ref.Chatter() })
}

// disturbs reports whether the event is a disturbance inside the cluster.
func disturbs(e *history.Event) bool {
	switch e.Kind {
	case history.Fault, history.Heal, history.Start, history.Stop, history.Crash, history.Upgrade:
		return true
	case history.Request:
		return e.Incarnation == 0 && changes(e)
	}
	return false
}

// what is the event in words, with its time.
func what(e *history.Event) string {
	s := e.Actor()
	switch e.Kind {
	case history.Request:
		s += " " + e.Verb + " " + e.Ref.String() + e.Host + e.Path
		if e.Sub != "" {
			s += "/" + e.Sub
		}
		if e.Revision != 0 {
			s += fmt.Sprintf(" (rv %d)", e.Revision)
		}
	default:
		s += " " + string(e.Kind)
		if e.Remark() != "" {
			s += ": " + e.Remark()
		}
	}
	return strings.TrimSpace(s) + " at " + history.Clock(e.At)
}

// selects reports whether the pattern matches the object: empty fields match anything.
func selects(pattern, ref history.Ref) bool {
	return (pattern.Cluster == "" || pattern.Cluster == ref.Cluster) &&
		(pattern.Group == "" || pattern.Group == ref.Group) && (pattern.Kind == "" || pattern.Kind == ref.Kind) &&
		(pattern.Namespace == "" || pattern.Namespace == ref.Namespace) &&
		(pattern.Name == "" || pattern.Name == ref.Name)
}

// anyOf reports whether one of the patterns matches; no pattern matches all objects but Leases and
// Events.
func anyOf(patterns []history.Ref, ref history.Ref) bool {
	if len(patterns) == 0 {
		return !ref.Chatter()
	}
	return slices.ContainsFunc(patterns, func(p history.Ref) bool { return selects(p, ref) })
}

// metadata is what properties want to know of an object.
type metadata struct {
	DeletionTimestamp string   `json:"deletionTimestamp"`
	Finalizers        []string `json:"finalizers"`
	OwnerReferences   []owner  `json:"ownerReferences"`
	GenerateName      string   `json:"generateName"`
	ResourceVersion   string   `json:"resourceVersion"`
}

type owner struct {
	Kind       string `json:"kind"`
	Name       string `json:"name"`
	UID        string `json:"uid"`
	Controller bool   `json:"controller"`
}

// metadataOf reads an object's metadata if it contains one of the fields at all: most objects do
// not, and reading without decoding is cheap.
func metadataOf(object []byte, fields ...string) (m metadata) {
	for _, f := range fields {
		if bytes.Contains(object, []byte(`"`+f+`"`)) {
			return wholeMetadata(object)
		}
	}
	return m
}

var wholeMetadata = kept.Of(func(object []byte) metadata {
	var m metadata
	if json.Unmarshal(kept.Member(object, "metadata"), &m) != nil {
		return metadata{}
	}
	return m
})

// sorted are the keys of a map by object, in order.
func sorted[V any](m map[history.Ref]V) []history.Ref {
	return slices.SortedFunc(maps.Keys(m), history.Ref.Compare)
}

// overdue says by how much more than bound has passed since the later of two times.
func overdue(h *history.History, since, disturbed history.Time, bound time.Duration) bool {
	return h.Now()-max(since, disturbed) > bound
}
