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
	"time"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/reports"
	"github.com/wavetank/wavetank/sim/internal/choice"
	"github.com/wavetank/wavetank/sim/internal/run"
	"github.com/wavetank/wavetank/sim/result"
	"github.com/wavetank/wavetank/story"
)

const (
	continuations = 20 // of each prefix
	most          = 15 // of them that violate the property once it is decided
	jump          = 10 // more of them violate it after a step that decides than before it
	maxNeeded     = 3  // choices of which it is measured what happens without them
)

// Subject is a shrunk run that violates a property.
type Subject struct {
	// Run makes one run, and Monitor shows its history while it is under way.
	Run      func(choice.Source) *run.Result
	Monitor  *run.Monitor
	Ending   result.Ending
	Sequence choice.Sequence
	Choices  []story.Choice // the sequence as the story has it
	// Over reports whether the time for runs is used up.
	Over func() bool
}

// Sentences explain the violation, one for each cause. There are none if the run is not repeated by
// its choices, or if there was no time to measure anything.
func (s *Subject) Sentences() []string {
	m := &measured{Subject: s}
	if !m.observe() {
		return nil
	}
	out := reports.Decided(m.history, s.Choices)
	for _, say := range []func() string{m.decided, m.needed} {
		if text := say(); text != "" {
			out = append(out, text)
		}
	}
	return out
}

// measured is what is known of a run.
type measured struct {
	*Subject
	history *history.History
	answers []choice.Answer
	events  []int // how many events the history had before each answer
}

// observe makes the run once more. It reports false if it does not fail in the same way.
func (m *measured) observe() bool {
	player := choice.Play(m.Sequence)
	res := m.Run(choice.Func(func(p choice.Point) int {
		m.events = append(m.events, m.Monitor.Latest.Load().History.Len())
		return player.Choose(p)
	}))
	m.history, m.answers = res.History, res.Log
	return res.Ending.Same(m.Ending) && len(m.answers) == len(m.events)
}

// violations counts the continuations that violate the property after some answers. It reports
// false if the time is up.
func (m *measured) violations(answers []choice.Answer) (n int, ok bool) {
	drawn := choice.Play(m.Sequence.Drawn())
	for i := range continuations {
		if m.Over() {
			return 0, false
		}
		res := m.Run(choice.Continue(answers, choice.Fair(uint64(i), drawn)))
		if res.Ending.Same(m.Ending) {
			n++
		}
	}
	return n, true
}

// decided names the step from which on most continuations violate the property. It finds that step
// by bisection.
func (m *measured) decided() string {
	first, ok := m.violations(nil)
	if !ok {
		return ""
	}
	if first >= most {
		return fmt.Sprintf("No step decides: %d of %d runs with other schedules and no fault violate the property, "+
			"too.", first, continuations)
	}
	low, before, high, after := 0, first, len(m.answers), continuations
	for high-low > 1 {
		middle := (low + high) / 2
		n, ok := m.violations(m.answers[:middle])
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
	return fmt.Sprintf("It was decided at %s: after that, %d of %d continuations without further faults violate the "+
		"property; before it, %d of %d do.%s", m.step(high-1), after, continuations, before, continuations,
		m.swallowed(high-1))
}

// after is the first line of the history after an answer. It reports false if there is none.
func (m *measured) after(answer int) (history.Line, bool) {
	for _, l := range m.history.Lines() {
		if l.Event >= m.events[answer] {
			return l, true
		}
	}
	return history.Line{}, false
}

// step is the time after an answer, with who did what then.
func (m *measured) step(answer int) string {
	l, ok := m.after(answer)
	if !ok {
		return "the end of the run"
	}
	e := &m.history.Events[l.Event]
	what, _, _ := strings.Cut(strings.TrimSpace(l.Text), ";")
	return fmt.Sprintf("%s (%s %s)", history.Clock(e.At.Truncate(time.Millisecond)), e.Actor(), what)
}

// swallowed says that the reconcile of the step after an answer ended without an error although a
// request of it failed from then on; "" if it did not.
func (m *measured) swallowed(answer int) string {
	step, ok := m.after(answer)
	if !ok || m.history.Events[step.Event].Reconcile.None() {
		return ""
	}
	of := m.history.Events[step.Event].ReconcileID()
	refused := ""
	for _, l := range m.history.Lines() {
		e := &m.history.Events[l.Event]
		switch {
		case l.Event < step.Event || e.ReconcileID() != of:
		case e.Kind == history.Request && e.Code >= 400:
			refused = strings.TrimSpace(l.Text)
		case e.Kind == history.Done && e.Outcome.OK() && refused != "":
			return fmt.Sprintf(" Its reconcile ended without an error, though a request failed: %s.", refused)
		case e.Kind == history.Done:
			return ""
		}
	}
	return ""
}

// needed says how many continuations violate the property without each fault, or without each other
// choice if there is no fault.
func (m *measured) needed() string {
	var entries choice.Sequence
	for _, kind := range []func(choice.Kind) bool{choice.Kind.Disturbs, choice.Kind.Schedules} {
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
		times[inWords(e)]++
	}
	for _, e := range entries {
		at := slices.IndexFunc(m.answers, func(a choice.Answer) bool { return a.ID() == e.ID })
		if at < 0 {
			continue
		}
		without := slices.Clone(m.answers[:at+1])
		without[at].Value = 0
		n, ok := m.violations(without)
		if !ok {
			break
		}
		what := inWords(e)
		if times[what] > 1 {
			what += fmt.Sprintf(" (call %d of its kind)", e.Nth+1)
		}
		out = append(out, fmt.Sprintf("Without %s, %d of %d continuations violate it.", what, n, continuations))
	}
	return strings.Join(out, " ")
}

// inWords is a choice that is not the default.
func inWords(e choice.Entry) string {
	at := strings.TrimSpace(e.Who + " " + e.Verb + " " + e.What)
	switch e.Kind {
	case choice.Next:
		return "the other order of actions"
	case choice.Request, choice.Reply, choice.Step:
		return fmt.Sprintf("the delay of %s %s", e.Kind, at)
	}
	return fmt.Sprintf("%q", e.Of+": "+at)
}
