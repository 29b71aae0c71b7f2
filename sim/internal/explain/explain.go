// Package explain measures why a run violates its property. It continues prefixes of the run with
// random fair schedules and no further faults. The share of continuations that violate the property
// shows where the violation became inevitable, and which fault or delay it needs.
//
// It says nothing that it has not measured.
package explain

import (
	"fmt"
	"slices"
	"strings"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/internal/story"
	"github.com/wavetank/wavetank/sim/internal/choice"
	"github.com/wavetank/wavetank/sim/internal/run"
	"github.com/wavetank/wavetank/sim/result"
)

const (
	continuations = 20 // of each prefix
	most          = 15 // of them that violate the property once it is decided
	jump          = 10 // more of them violate it after a step that decides than before it
	maxNeeded     = 6  // choices of which it is measured what happens without them
	repetitions   = 3  // of the run, which must be alike
	maxShares     = 16 // prefixes that are continued
	minRise       = 6  // more of them violate it after a step at which the share rises
	maxRises      = 3  // such steps that are named
	maxReads      = 3  // stale reads that are made fresh, one at a time, to measure what happens
)

// Subject is a shrunk run that violates a property.
type Subject struct {
	// Run makes one run, and Monitor shows its history while it is under way.
	Run      func(choice.Source) *run.Result
	Monitor  *run.Monitor
	Ending   result.Ending
	Sequence choice.Sequence
	Line     string // of the program that decided, as file:line; "" if it is not known
	// Freshly makes one run in which a cache is brought up to date; nil if that cannot be done.
	Freshly func(*run.Fresh, choice.Source) *run.Result
	// Over reports whether the time for runs is used up.
	Over func() bool
}

// Measure explains the violation in sentences, one for each cause, and returns how many
// continuations violate the property. If the run is not repeated by its choices, the only sentence
// says so.
func (s *Subject) Measure() (sentences []string, shares []story.Share) {
	m := &measured{Subject: s, shares: map[int]int{}}
	if why := m.observe(); why != "" {
		return []string{"Not measured: " + why + "."}, nil
	}
	for _, say := range []func() string{m.decides, m.needs, m.fresh, m.swapped} {
		if text := say(); text != "" {
			sentences = append(sentences, text)
		}
	}
	if len(sentences) == 0 && m.Over() {
		sentences = []string{"Not measured: the time was used up; -sim.explain=1m allows more."}
	}
	m.prefixes()
	if text := m.rises(); text != "" {
		sentences = slices.Insert(sentences, min(1, len(sentences)), text)
	}
	return sentences, m.curve()
}

// measured owns how many continuations of a run violate its property.
type measured struct {
	*Subject
	observed
	shares  map[int]int // violating continuations, by the number of answers that they repeat
	decided int         // number of the answer from which on most violate the property; 0 if none decides
	risen   []int       // numbers of the other answers at which the share rises
}

// observed is the run as it was recorded. It owns the words for what happened at an answer.
type observed struct {
	history *history.History
	answers []choice.Answer
	events  []int            // how many events the history had before each answer
	actors  [][]choice.Actor // of the alternatives of each answer
}

// observe makes the run a few times more. It says why nothing can be measured, or "".
func (m *measured) observe() string {
	for i := range repetitions {
		player := choice.Play(m.Sequence)
		m.events, m.actors = nil, nil
		res := m.Run(choice.Func(func(p choice.Point) int {
			m.events = append(m.events, m.Monitor.Latest.Load().History.Len())
			m.actors = append(m.actors, slices.Clone(p.Actors))
			return player.Choose(p)
		}))
		if !res.Ending.Same(m.Ending) {
			return "the same choices violate the property in one run and not in another, so it depends on chance " +
				"or on something outside the run"
		}
		if i > 0 {
			if at, how := history.Divergence(m.history, res.History); at >= 0 {
				return "the same choices lead to different runs: " + how
			}
		}
		m.history, m.answers = res.History, res.Log
	}
	if len(m.answers) != len(m.events) {
		return "the record of the run is incomplete"
	}
	return ""
}

// violations counts the runs that violate the property, of which each has a fair schedule of its
// own. It reports false if the time is up.
func (m *measured) violations(first int, run func(fair choice.Source) *run.Result) (n int, ok bool) {
	drawn := choice.Play(m.Sequence.Drawn())
	for i := range continuations {
		if m.Over() {
			return 0, false
		}
		if run(choice.Fair(uint64(first+i), drawn)).Ending.Same(m.Ending) {
			n++
		}
	}
	return n, true
}

// with is a fair schedule with the faults of a player and no others.
func with(kept *choice.Player, fair choice.Source) choice.Source {
	return choice.Func(func(p choice.Point) int {
		if p.Kind == story.Arm || p.Kind.Disturbs() {
			return kept.Choose(p)
		}
		return fair.Choose(p)
	})
}

// continued continues some answers with fair schedules and the faults of a player.
func (m *measured) continued(first int, answers []choice.Answer, kept *choice.Player) (n int, ok bool) {
	return m.violations(first, func(fair choice.Source) *run.Result {
		return m.Run(choice.Continue(answers, with(kept, fair)))
	})
}

// share counts the continuations that violate the property after the first answers of the run.
func (m *measured) share(answers int) (n int, ok bool) {
	if n, ok = m.shares[answers]; ok {
		return n, true
	}
	if n, ok = m.continued(0, m.answers[:answers], choice.Play(nil)); ok {
		m.shares[answers] = n
	}
	return n, ok
}

// decides names the step from which on most continuations violate the property. It finds that step
// by bisection.
func (m *measured) decides() string {
	before, ok := m.share(0)
	if !ok {
		return ""
	}
	if before >= most {
		said := fmt.Sprintf("No step decides, and no fault is needed: %d of %d runs with other schedules and no fault "+
			"violate the property, too.", before, continuations)
		if m.Line != "" {
			said += fmt.Sprintf(" What would have to be different is what the program does at %s.", m.Line)
		}
		return said
	}
	low, high, after := 0, len(m.answers), continuations
	for high-low > 1 {
		middle := (low + high) / 2
		n, ok := m.share(middle)
		switch {
		case !ok:
			return ""
		case n >= most:
			high, after = middle, n
		default:
			low, before = middle, n
		}
	}
	if high == len(m.answers) || after-before < jump {
		return fmt.Sprintf("No single step decides: before %s, %d of %d continuations without further faults violate "+
			"the property.", m.step(high-1), before, continuations)
	}
	m.decided = high
	return fmt.Sprintf("It was decided at %s: after that, %d of %d continuations without further faults violate the "+
		"property; before it, %d of %d do.", m.step(high-1), after, continuations, before, continuations)
}

// needs says how many continuations violate the property without each fault, or without each other
// choice if there is no fault.
func (m *measured) needs() string {
	var entries choice.Sequence
	for _, kind := range []func(story.Kind) bool{story.Kind.Disturbs, story.Kind.Schedules} {
		for _, e := range m.Sequence {
			if kind(e.Kind) {
				entries = append(entries, e)
			}
		}
		if len(entries) > 0 {
			break
		}
	}
	if len(entries) > maxNeeded {
		return ""
	}
	var out []string
	times := map[string]int{}
	for _, e := range entries {
		times[without(e)]++
	}
	for _, e := range entries {
		at := slices.IndexFunc(m.answers, func(a choice.Answer) bool { return a.ID() == e.ID })
		if at < 0 {
			continue
		}
		n, left, ok := m.instead(at, 0)
		if !ok {
			break
		}
		what := without(e)
		if injected, ok := m.injected(at, e); ok {
			what = injected
		} else if e.Kind == story.Next {
			what = m.order(at, 0)
		} else if sent, ok := m.sent(at); ok {
			what = sent
		} else if times[what] > 1 {
			what += fmt.Sprintf(" (call %d of its kind)", e.Nth+1)
		}
		out = append(out, fmt.Sprintf("%s, %d of %d continuations violate it%s.", what, n, continuations, left))
	}
	return strings.Join(out, " ")
}

// instead counts the continuations that violate the property if an answer is another one. They keep
// the other faults of the run, and left says how many later ones none of them comes to.
func (m *measured) instead(at, value int) (n int, left string, ok bool) {
	answers := slices.Clone(m.answers[:at+1])
	answers[at].Value = value
	kept := m.faultsAfter(at + 1)
	n, ok = m.continued(0, answers, kept)
	return n, unused(kept), ok
}

// faultsAfter has the faults of the run after its first answers.
func (m *measured) faultsAfter(answers int) *choice.Player {
	var later choice.Sequence
	for _, a := range m.answers[answers:] {
		for _, e := range m.Sequence {
			if e.ID == a.ID() && e.Kind.Disturbs() {
				later = append(later, e)
			}
		}
	}
	return choice.Play(later)
}

// unused states how many faults no continuation has reached.
func unused(kept *choice.Player) string {
	switch missing := len(kept.Unused()); {
	case missing == 1:
		return ", and a later fault is injected in none of them"
	case missing > 1:
		return fmt.Sprintf(", and %d later faults are injected in none of them", missing)
	}
	return ""
}

// injected is the condition that a fault was not injected, in the words of its line in the history.
// It reports false if the choice has none.
func (o *observed) injected(at int, e story.Choice) (string, bool) {
	to := len(o.history.Events)
	if at+1 < len(o.events) {
		to = min(to, o.events[at+1])
	}
	for _, f := range o.history.Events[min(o.events[at], to):to] {
		if f.Kind == history.Fault && f.Injection.Fault() == e.Of {
			return fmt.Sprintf("Without %q (%s, %s)", f.Injection.String(), f.Actor(), history.Moment(f.At)), true
		}
	}
	return "", false
}

// without is a condition: that a choice is the default one.
func without(e story.Choice) string {
	at := strings.TrimSpace(e.Who + " " + e.Verb + " " + e.What)
	switch e.Kind {
	case story.Request, story.Reply, story.Step:
		return fmt.Sprintf("Without the delay of %s %s", e.Kind, at)
	case story.Upgrade:
		return fmt.Sprintf("With the upgrade of %s at once", e.What)
	case story.Handler:
		return fmt.Sprintf("Without the pause of %s in an event handler that has added %s", e.Who, e.What)
	}
	if class, _, _ := strings.Cut(e.Of, "("); class == "StaleCache" && slices.Contains(watched, e.Verb) &&
		!strings.Contains(e.Who, " ") {
		return fmt.Sprintf("With the event %s %s delivered to %s in time (without %s)", e.Verb, e.What, e.Who, e.Of)
	}
	return fmt.Sprintf("Without %q", e.Of+": "+at)
}

// watched are the types of watch events.
var watched = []string{"ADDED", "MODIFIED", "DELETED"}

// swapped says how many continuations violate the property if the other of two actions is first, in
// case that an order decides which the run did not need to choose.
func (m *measured) swapped() string {
	at := m.decided - 1
	if at < 0 || m.answers[at].Kind != story.Next || m.answers[at].N < 2 || m.answers[at].Value > 0 {
		return ""
	}
	n, left, ok := m.instead(at, 1)
	if !ok {
		return ""
	}
	return fmt.Sprintf("%s, %d of %d continuations violate it%s.", m.order(at, 1), n, continuations, left)
}

// order is the condition that an answer takes another action first.
func (o *observed) order(at, value int) string {
	return fmt.Sprintf("With %s before %s at %s", o.actors[at][value], o.actors[at][o.answers[at].Value], o.step(at))
}
