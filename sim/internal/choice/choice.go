// Package choice is the one source of chance: every decision of a run is a question "which of n?" with a label, asked
// here and answered by one oracle. Seeded, recorded, swept, fuzzed and rapid-driven runs differ only in the oracle.
//
// 0 is always the dull answer (oldest action, no fault, no delay), so a tape need only remember the answers that were
// not dull, and shrinking is the removal of those.
//
// It knows nothing of clusters or time.
package choice

import (
	"strconv"
	"strings"
	"sync"
)

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
	asked  map[string]*label
	log    []Answer
	mute   bool
	brief  bool
	bent   []bent // in place of the log, when brief

	mu sync.Mutex // held while log or bent grows: a watchdog reads the tape from outside the run
}

// label is a label and how often it was asked.
type label struct {
	text string
	n    int
}

// bent is an answer that was not dull.
type bent struct {
	*label
	nth, value int32
}

// New returns a source of choices for one run.
func New(o Oracle) *Source { return &Source{oracle: o, asked: map[string]*label{}} }

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
	l := s.asked[p.Label]
	if l == nil {
		l = &label{text: strings.ReplaceAll(p.Label, "\n", `\n`)} // a story has a line for each
		s.asked[p.Label] = l
	}
	p.Label, p.Nth = l.text, l.n // one string for all answers
	l.n++
	v := min(max(s.oracle.Choose(p), 0), p.N-1)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.brief {
		if v != 0 {
			s.bent = append(s.bent, bent{l, int32(p.Nth), int32(v)})
		}
		return v
	}
	p.Actors = nil
	s.log = append(s.log, Answer{p, v})
	return v
}

// OnlyTape keeps the answers that are not dull and no others: for runs that are too long for a log.
func (s *Source) OnlyTape() { s.brief = true }

// Log is every answer so far, in order.
func (s *Source) Log() []Answer { return s.log }

// Tape is the answers so far that were not dull. It may be called on any goroutine.
func (s *Source) Tape() Tape {
	s.mu.Lock()
	defer s.mu.Unlock()
	var t Tape
	for _, b := range s.bent {
		t = append(t, Entry{ID: Point{Label: b.text, Nth: int(b.nth)}.ID(), Value: int(b.value)})
	}
	for _, a := range s.log {
		if a.Value != 0 {
			t = append(t, Entry{ID: a.ID(), Value: a.Value})
		}
	}
	return t
}
