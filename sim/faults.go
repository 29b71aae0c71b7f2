package sim

import (
	"fmt"
	"slices"
	"strings"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/models/apiserver"
	"github.com/wavetank/wavetank/sim/internal/wire"
)

// Fault is something that a controller may experience. A scenario declares faults with [World.Inject]; where and when
// they are injected is decided by choices.
type Fault interface {
	// String is the fault as it was declared.
	String() string
	core() *fault
	// fresh is the fault as it was declared, for one run: a fault value may be shared by all runs of a scenario.
	fresh() Fault
}

// Scope narrows a fault to a part of the world.
type Scope func(*scope)

type scope struct {
	process, kind, verb, name string
	atOnce                    bool
}

// In narrows a fault to one process.
func In(process string) Scope { return func(s *scope) { s.process = process } }

// OfKind narrows a fault to one Kubernetes kind, for example "Pipeline".
func OfKind(kind string) Scope { return func(s *scope) { s.kind = kind } }

// OnVerb narrows a fault to requests with one Kubernetes verb (for example "patch") or, outside the cluster, one HTTP method.
func OnVerb(verb string) Scope { return func(s *scope) { s.verb = verb } }

// Named narrows a fault to one object, written "namespace/name" or "name".
func Named(name string) Scope { return func(s *scope) { s.name = name } }

// AtOnce lets a process that [Crash] kills for the first time start again at once, as the kubelet does with a container that
// has not failed before; after that it waits for 10 s, 20 s and so on.
func AtOnce() Scope { return func(s *scope) { s.atOnce = true } }

// scopeWords are before what narrows a fault: its process, kind, verb and name, and AtOnce.
var scopeWords = [...]string{" in ", " of ", " on ", " named ", " at once"}

// String follows the name of a fault.
func (s *scope) String() (out string) {
	for i, value := range []string{s.process, s.kind, s.verb, s.name} {
		if value != "" {
			out += scopeWords[i] + value
		}
	}
	if s.atOnce {
		out += scopeWords[len(scopeWords)-1]
	}
	return out
}

func (s *scope) covers(process, kind, verb string, ref history.Ref) bool {
	name := strings.TrimPrefix(ref.Namespace+"/"+ref.Name, "/")
	return (s.process == "" || s.process == process) && (s.kind == "" || s.kind == kind) &&
		(s.verb == "" || verb == "" || s.verb == verb) && (s.name == "" || s.name == name)
}

// reaches says whether a request is in the part of the world that the fault was narrowed to.
func (s *scope) reaches(c *wire.Call) bool {
	ref := c.Ref()
	if s.name != "" {
		ref = c.Object()
	}
	return s.covers(c.Port.Process, c.Kind, c.Verb(), ref)
}

// fault is what all faults have in common: a name, a scope, how eager it is in this run, and counts.
type fault struct {
	name  string
	scope scope
	// eager is chosen once per run: 0 off, 1 rare, 2 often. So every run has its own mixture of faults, and shrinking
	// drops a whole fault by one choice.
	eager int
	count FaultCount
	unmet int    // injections of this run whose effect has not been observed
	unfit string // the scope that it was given and does not take
}

func newFault(name string, scopes []Scope) fault {
	f := fault{name: name}
	for _, s := range scopes {
		s(&f.scope)
	}
	return f
}

// newOwned is newFault for a fault of one process.
func newOwned(name, process string, scopes []Scope, also ...string) fault {
	f := newFault(name, scopes).taking(append([]string{"OfKind", "OnVerb", "Named"}, also...)...)
	f.count.Fault = f.String()
	f.scope.process = process
	return f
}

// taking says which scopes mean something to a fault: another one would make it strike everywhere, or nowhere.
func (f fault) taking(scopes ...string) fault {
	for _, s := range []struct {
		name  string
		given bool
	}{{"In", f.scope.process != ""}, {"OfKind", f.scope.kind != ""}, {"OnVerb", f.scope.verb != ""}, {"Named", f.scope.name != ""}, {"AtOnce", f.scope.atOnce}} {
		if s.given && !slices.Contains(scopes, s.name) {
			f.unfit = fmt.Sprintf("by sim.%s; it takes sim.%s", s.name, strings.Join(scopes, ", sim."))
		}
	}
	return f
}

func (f *fault) core() *fault { return f }

// The places where faults strike. A fault implements those that it needs.
type (
	// arriver is asked as a request is about to take effect.
	arriver interface {
		arrive(w *World, c *wire.Call) wire.Ruling
	}
	// lander is asked as it has taken effect and its reply is about to leave.
	lander interface {
		land(w *World, c *wire.Call) wire.Ruling
	}
	// ender is asked as a watch event is about to arrive.
	ender interface {
		fate(w *World, s *wire.Stream, f apiserver.Frame) wire.Fate
	}
	// healer is told when faults are healed.
	healer interface{ heal(w *World) }
)

// hits asks whether the fault strikes a request, and notes it if so.
func (f *fault) hits(w *World, c *wire.Call, when string, n, rare, often int) int {
	if c.Idle() || c.Verb() == "watch" || !f.scope.reaches(c) {
		return 0
	}
	where := c.Port.Process + " " + c.String()
	if when != "" {
		where = when + " " + where
	}
	return f.strikes(w, where, n, rare, often)
}

// mark writes down that the fault was injected at a request.
func (f *fault) mark(w *World, c *wire.Call, what string) {
	w.note(history.Event{Kind: history.Fault, Process: c.Port.Process, Life: c.Port.Incarnation, Reconcile: c.Reconcile, Note: f.name + ": " + what + " " + c.Description()})
}

// seen notes that one injection has had its effect.
func (f *fault) seen() {
	if f.unmet > 0 {
		f.unmet--
		f.count.Observed++
	}
}

// seenLatest notes that something met a fault that lasts: it counts once for the latest injection, and those before have passed.
func (f *fault) seenLatest() {
	f.unmet = min(f.unmet, 1)
	f.seen()
}

func (f *fault) String() string {
	return f.name + f.scope.String()
}

// FaultCount says what became of a declared fault, over all runs of a campaign.
type FaultCount struct {
	Fault string
	// Opportunities counts the points of the runs at which the fault could have been injected: a request that it may
	// fail, an event that it may delay. What is outside its scope is none.
	Opportunities int
	// Injected counts those of the opportunities at which choices did inject it.
	Injected int
	// Observed counts those of the injections whose effect was observed before the run ended: a request got the injected
	// answer, a reconcile began with the stale cache, the next incarnation reconciled after a crash. However many
	// requests one injection fails, it counts once; so Observed is at most Injected.
	Observed int
}

// strikes asks whether the fault strikes at a point, and how (0 is not at all). rare and often are the odds, one in so
// many, of the two degrees of eagerness.
func (f *fault) strikes(w *World, where string, n, rare, often int) int {
	if w.healed {
		return 0
	}
	f.count.Opportunities++
	if f.eager == 0 {
		return 0
	}
	odds := rare
	if f.eager == 2 {
		odds = often
	}
	v := w.choices.Rarely(f.name+" "+where, n, odds)
	if v > 0 {
		f.count.Injected++
		f.unmet++
	}
	return v
}

// idle says, in a sentence, that a fault was never injected in a campaign and why that may be; "" if it did, or if there is too
// little evidence.
func (c FaultCount) idle(runs int) string {
	switch {
	case c.Injected > 0, c.Opportunities > 0 && c.Opportunities < enoughOpportunities && runs < enoughRuns:
		return ""
	case c.Opportunities == 0:
		return fmt.Sprintf("fault %s had no opportunity in %d runs: look at its scope, or do not declare it", c.Fault, runs)
	}
	return fmt.Sprintf("fault %s was never injected in %d runs, at %d opportunities: make more runs", c.Fault, runs, c.Opportunities)
}
