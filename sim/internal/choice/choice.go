// Package choice is the one source of chance: every decision of a run is a question "which of n?" with a label, asked
// here and answered by one oracle. Seeded, recorded, swept, fuzzed and rapid-driven runs differ only in the oracle.
//
// 0 is always the dull answer (oldest action, no fault, no delay), so a tape need only remember the answers that were
// not dull, and shrinking is the removal of those.
//
// It knows nothing of clusters or time.
package choice

import "strconv"

func itoa(n int) string { return strconv.Itoa(n) }

// Point is one question.
type Point struct {
	Label string // what is decided, for example "lag pipelines Pipeline"
	Nth   int    // how many times this label was asked before, in this run
	N     int    // answers are 0 … N-1
	// Actors says, for the question which action is next, whose action each answer stands for, and for the question how long
	// something takes, in one entry, whose it is. The first word of an actor is its program. Names last for a run.
	Actors []string
	Odds   int // a random oracle leaves 0 once in Odds; 0 or 1 means that all answers are alike to it
}

// ID names the point within its run: label and occurrence. It survives unrelated changes of the code under test better
// than a position would.
func (p Point) ID() string { return p.Label + " #" + strconv.Itoa(p.Nth+1) }

// Oracle answers questions. An answer outside 0 … N-1 is taken as the nearest allowed one.
type Oracle interface {
	Choose(Point) int
}

// Answer is a question and what was answered.
type Answer struct {
	Point
	Value int
}

// Source asks an oracle and records what it answered.
type Source struct {
	oracle Oracle
	asked  map[string]int
	log    []Answer
	mute   bool
}

// New returns a source of choices for one run.
func New(o Oracle) *Source { return &Source{oracle: o, asked: map[string]int{}} }

// Choose asks which of n. Questions with one answer are not asked at all.
func (s *Source) Choose(label string, n int) int { return s.put(Point{Label: label, N: n}) }

// Rarely asks which of n where a random oracle should leave 0 only once in odds.
func (s *Source) Rarely(label string, n, odds int) int {
	return s.put(Point{Label: label, N: n, Odds: odds})
}

// Pace asks, as [Source.Rarely] does, how long something takes that an actor does.
func (s *Source) Pace(label, actor string, n, odds int) int {
	return s.put(Point{Label: label, N: n, Odds: odds, Actors: []string{actor}})
}

// Mute makes every further answer the dull one, without asking: scheduling is fair and nothing strikes.
func (s *Source) Mute(on bool) { s.mute = on }

// Pick asks whose action is next.
func (s *Source) Pick(label string, actors []string) int {
	return s.put(Point{Label: label, N: len(actors), Actors: actors})
}

func (s *Source) put(p Point) int {
	if p.N <= 1 || s.mute {
		return 0
	}
	label, n := p.Label, p.N
	p.Nth = s.asked[label]
	s.asked[label]++
	v := min(max(s.oracle.Choose(p), 0), n-1)
	p.Actors = nil
	s.log = append(s.log, Answer{p, v})
	return v
}

// Log is every answer so far, in order.
func (s *Source) Log() []Answer { return s.log }

// Tape is the answers that were not dull.
func (s *Source) Tape() Tape {
	var t Tape
	for _, a := range s.log {
		if a.Value != 0 {
			t = append(t, Entry{ID: a.ID(), Value: a.Value})
		}
	}
	return t
}
