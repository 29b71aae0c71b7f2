package sim

import (
	"fmt"
	"strings"
	"time"

	"github.com/wavetank/wavetank/models/apiserver"
	"github.com/wavetank/wavetank/sim/history"
	"github.com/wavetank/wavetank/sim/internal/wire"
)

// Fault is something that a controller may experience. A scenario declares faults with [World.Inject]; where and when
// they strike is decided by choices.
type Fault interface {
	// String is the fault as it was declared.
	String() string
	core() *fault
}

// Scope narrows a fault to a part of the world.
type Scope func(*scope)

type scope struct{ process, kind, verb, name string }

// In narrows a fault to one process.
func In(process string) Scope { return func(s *scope) { s.process = process } }

// OfKind narrows a fault to one Kubernetes kind, for example "Pipeline".
func OfKind(kind string) Scope { return func(s *scope) { s.kind = kind } }

// OnVerb narrows a fault to requests with one Kubernetes verb (for example "patch") or, outside the cluster, one HTTP method.
func OnVerb(verb string) Scope { return func(s *scope) { s.verb = verb } }

// Named narrows a fault to one object, written "namespace/name" or "name".
func Named(name string) Scope { return func(s *scope) { s.name = name } }

func (s *scope) String() string {
	var parts []string
	for _, p := range []struct{ what, value string }{{"in ", s.process}, {"of ", s.kind}, {"on ", s.verb}, {"named ", s.name}} {
		if p.value != "" {
			parts = append(parts, p.what+p.value)
		}
	}
	return strings.Join(parts, " ")
}

func (s *scope) covers(process, kind, verb string, ref history.Ref) bool {
	name := strings.TrimPrefix(ref.Namespace+"/"+ref.Name, "/")
	return (s.process == "" || s.process == process) && (s.kind == "" || s.kind == kind) &&
		(s.verb == "" || verb == "" || s.verb == verb) && (s.name == "" || s.name == name)
}

// fault is what all faults have in common: a name, a scope, how eager it is in this run, and counts.
type fault struct {
	name  string
	scope scope
	// eager is chosen once per run: 0 off, 1 rare, 2 often. So every run has its own mixture of faults, and shrinking
	// drops a whole fault by one choice.
	eager int
	count FaultCount
}

func newFault(name string, scopes []Scope) fault {
	f := fault{name: name}
	for _, s := range scopes {
		s(&f.scope)
	}
	return f
}

func (f *fault) core() *fault { return f }

func (f *fault) String() string {
	if s := f.scope.String(); s != "" {
		return f.name + " " + s
	}
	return f.name
}

// FaultCount says what became of a declared fault, over all runs of a campaign.
type FaultCount struct {
	Fault string
	// Could counts the points at which it could have struck, Struck those at which it did, and Observed the times that
	// the controller was seen to live through it: a reconcile that began with a stale cache, a life after a crash.
	Could, Struck, Observed int
}

// strikes asks whether the fault strikes at a point, and how (0 is not at all). rare and often are the odds, one in so
// many, of the two degrees of eagerness.
func (f *fault) strikes(w *World, where string, n, rare, often int) int {
	f.count.Could++
	if f.eager == 0 || w.healed {
		return 0
	}
	odds := rare
	if f.eager == 2 {
		odds = often
	}
	v := w.choices.Rarely(f.name+" "+where, n, odds)
	if v > 0 {
		f.count.Struck++
	}
	return v
}

// StaleCache makes watch events trail the server by up to d, for each process and kind on its own, so that kinds may
// arrive in another order than they were written. Without it a watch event arrives before the reply to the write that
// caused it.
func StaleCache(d time.Duration, scopes ...Scope) Fault {
	return &staleCache{newFault(fmt.Sprintf("StaleCache(%v)", d), scopes), d}
}

type staleCache struct {
	fault
	max time.Duration
}

// lagLevels are the steps of lag, as shares of the longest.
var lagLevels = []int64{0, 1024, 256, 64, 16, 4, 2, 1}

func (s *staleCache) lag(w *World, st *wire.Stream, f apiserver.Frame) time.Duration {
	ref := history.Ref{Kind: st.Kind, Namespace: f.Namespace, Name: f.Name}
	if !s.scope.covers(st.Port.Process, st.Kind, "", ref) {
		return 0
	}
	v := s.strikes(w, st.Port.Process+" "+f.Type+" "+ref.String(), len(lagLevels), 8, 2)
	if v == 0 {
		return 0
	}
	return s.max / time.Duration(lagLevels[v])
}

// Crash kills the process, as SIGKILL would, before or after any of its writes takes effect. The kubelet starts it
// again after its back-off of 10 s to 5 min.
func Crash(process string, scopes ...Scope) Fault {
	f := newFault("Crash("+process+")", scopes)
	f.scope.process = process
	return &crash{f}
}

type crash struct{ fault }

func (c *crash) String() string { return c.name }

func (c *crash) kills(w *World, call *wire.Call, when string) bool {
	if !call.Writes() || call.Idle() || !c.scope.covers(call.Port.Process, call.Kind, call.Verb(), call.Ref()) {
		return false
	}
	if c.strikes(w, when+" "+call.String(), 2, 24, 6) == 0 {
		return false
	}
	w.note(history.Event{Kind: history.Fault, Process: call.Port.Process, Life: call.Port.Life, Reconcile: call.Reconcile,
		Note: fmt.Sprintf("%s %s %s", c, when, call)})
	return true
}

// RacingRequeue hands keys to reconcilers once more than their events would: at once, while the key is still being
// reconciled, or up to a minute later, as a resync, a duplicate event or a leftover timer does.
func RacingRequeue(scopes ...Scope) Fault {
	return &racingRequeue{newFault("RacingRequeue", scopes)}
}

type racingRequeue struct{ fault }

var requeueLevels = []time.Duration{0, 0, time.Millisecond, 5 * time.Millisecond, 100 * time.Millisecond, time.Second, 10 * time.Second, time.Minute}
