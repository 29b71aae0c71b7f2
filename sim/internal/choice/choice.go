// Package choice is the only place where chance comes from. Every decision of a run is a choice: a
// label, a number of alternatives, and the index of the one that is taken. One choice source
// answers all choices of a run. Seeded, recorded, guided, fuzzed and rapid-driven runs differ in
// their source only.
//
// Index 0 is the default choice: the oldest action, no delay, no fault. So a choice sequence holds
// the other choices only, and shrinking removes them.
//
// It knows nothing of clusters or time.
package choice

import (
	"strings"
	"sync"

	"github.com/wavetank/wavetank/internal/story"
)

// Actor is whose action something is.
type Actor struct {
	Process string // with its incarnation, or a built-in controller; empty for none
	Name    string // a worker at its key, an informer, …
}

// String is the process and the name.
func (a Actor) String() string { return a.Process + " " + a.Name }

// Point is one choice to be made.
type Point struct {
	story.Label     // what is decided
	Nth         int // how many times this label was asked before, in this run
	N           int // how many alternatives there are; the answer is 0 … N-1
	// Actors are whose action each alternative is, where the choice is which action is next. Where
	// the choice is how long something takes, they have one entry: whose it is. Names last for a
	// run.
	Actors []Actor
	// Odds are for a random source, which leaves the default once in Odds. At 0 or 1 all
	// alternatives are equally likely.
	Odds int
}

// ID names the point within its run.
func (p Point) ID() story.ID { return story.ID{Label: p.Label, Nth: p.Nth} }

// group is what choices have in common that strategies and shrinking treat alike: the kind, and for
// disturbances whose they are.
type group struct {
	kind story.Kind
	of   string
}

func groupOf(l story.Label) group {
	if l.Kind.Disturbs() {
		return group{l.Kind, l.Of}
	}
	return group{kind: l.Kind}
}

// group is the group of the choice to be made.
func (p Point) group() group { return groupOf(p.Label) }

// Source is a choice source: it answers choices. An answer outside 0 … N-1 is taken as the nearest
// allowed one.
type Source interface {
	Choose(Point) int
}

// Answer is a choice that was made.
type Answer struct {
	Point
	Value int
}

// Recorder asks a choice source for each choice of a run and records the answers.
type Recorder struct {
	source Source
	asked  map[story.Label]*counted
	log    []Answer
	mute   bool
	brief  bool
	others []other // in place of the log, when brief

	mu sync.Mutex // held while log or others grow: a watchdog reads the sequence from outside the run
}

// counted is a label and how many choices had it.
type counted struct {
	label story.Label
	n     int
}

// other is an answer that was not the default.
type other struct {
	*counted
	nth, value int32
}

// Difference is the index of the first question in which two runs differ; -1 if there is none. Runs
// that do the same may still have asked different questions, for example about a request that was
// withdrawn. Then a source that draws an answer for each question leads them apart.
func Difference(a, b []Answer) int {
	for i := range max(len(a), len(b)) {
		if i >= len(a) || i >= len(b) || a[i].ID() != b[i].ID() || a[i].N != b[i].N {
			return i
		}
	}
	return -1
}

// New returns a recorder of the choices of one run.
func New(s Source) *Recorder { return &Recorder{source: s, asked: map[story.Label]*counted{}} }

// Choose makes a choice of n alternatives. With one alternative there is no choice, and nothing is
// recorded.
func (r *Recorder) Choose(label story.Label, n int) int { return r.ask(Point{Label: label, N: n}) }

// Rarely makes a choice for which a random source leaves the default once in odds.
func (r *Recorder) Rarely(label story.Label, n, odds int) int {
	return r.ask(Point{Label: label, N: n, Odds: odds})
}

// Pace chooses how long something takes that an actor does, with odds as for [Recorder.Rarely].
func (r *Recorder) Pace(label story.Label, actor Actor, n, odds int) int {
	return r.ask(Point{Label: label, N: n, Odds: odds, Actors: []Actor{actor}})
}

// Mute takes the default for every further choice, without asking: scheduling is fair and no fault
// is injected.
func (r *Recorder) Mute(on bool) { r.mute = on }

// Pick chooses whose action is next.
func (r *Recorder) Pick(actors []Actor) int {
	return r.ask(Point{Label: story.Label{Kind: story.Next}, N: len(actors), Actors: actors})
}

// ask asks the choice source, and records the answer under its label and the number of questions
// with that label so far. What has one alternative is not asked.
func (r *Recorder) ask(p Point) int {
	if p.N <= 1 || r.mute {
		return 0
	}
	l := r.asked[p.Label]
	if l == nil {
		l = &counted{label: p.Label}
		for _, part := range []*string{&l.label.Of, &l.label.Who, &l.label.What} {
			*part = strings.ReplaceAll(*part, "\n", `\n`) // a story has a line for each choice
		}
		r.asked[p.Label] = l
	}
	p.Label, p.Nth = l.label, l.n // one string for all answers
	l.n++
	v := min(max(r.source.Choose(p), 0), p.N-1)
	r.mu.Lock() // for Sequence, which another goroutine may call
	defer r.mu.Unlock()
	if r.brief {
		if v != 0 {
			r.others = append(r.others, other{l, int32(p.Nth), int32(v)})
		}
		return v
	}
	p.Actors = nil // they would keep what they hold of the run alive
	r.log = append(r.log, Answer{p, v})
	return v
}

// OnlySequence keeps no log but only the choice sequence, for runs that are too long for a log.
func (r *Recorder) OnlySequence() { r.brief = true }

// Log is every answer so far, in order.
func (r *Recorder) Log() []Answer { return r.log }

// Sequence is the choice sequence so far. It may be called on any goroutine.
func (r *Recorder) Sequence() Sequence {
	r.mu.Lock()
	defer r.mu.Unlock()
	var t Sequence
	for _, b := range r.others {
		t = append(t, story.Choice{ID: story.ID{Label: b.label, Nth: int(b.nth)}, Value: int(b.value)})
	}
	for _, a := range r.log {
		if a.Value != 0 {
			t = append(t, story.Choice{ID: a.ID(), Value: a.Value})
		}
	}
	return t
}
