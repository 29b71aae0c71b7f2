package choice

import "github.com/wavetank/wavetank/internal/story"

// This file holds sources that search in other ways than a random walk: see docs/search.md.

// Swarm is a random walk whose odds are themselves random (Groce and others, ISSTA 2012). In each
// run some faults are off, some are rare and some are injected every other time, and the network is
// fast or slow. A bug that needs one fault several times is almost never found at odds that are
// always the same.
type Swarm struct {
	walk *Random
	odds map[group]int // 0 for never
}

// NewSwarm returns the source of a seed.
func NewSwarm(seed uint64) *Swarm { return &Swarm{NewRandom(seed), map[group]int{}} }

// In makes faults rarer in a long world, as [Random.In] does.
func (s *Swarm) In(b *Base) *Swarm {
	s.walk.In(b)
	return s
}

// swarmOdds are the odds that choices of one group get for a run.
var swarmOdds = []int{0, 0, 32, 12, 6, 3, 2}

// Choose implements [Source].
func (s *Swarm) Choose(p Point) int {
	switch {
	case p.Kind == story.Arm:
		return min(s.walk.r.IntN(3)*p.N, p.N-1) // on, two times of three
	case p.Kind.Draws():
		return s.walk.Choose(p)
	}
	odds, known := s.odds[p.group()]
	if !known {
		odds = swarmOdds[s.walk.r.IntN(len(swarmOdds))]
		s.odds[p.group()] = odds
	}
	if odds == 0 || s.walk.r.IntN(s.walk.odds(p, odds)) != 0 {
		return 0
	}
	return 1 + s.walk.r.IntN(p.N-1)
}

// Exhaustive makes all runs with at most a number of disturbances, each run once. A run that
// differs from an earlier one only in the order of independent actions is not extended: everything
// that follows from it is tried from there.
type Exhaustive struct {
	armed        Sequence
	bound        int
	queue        []Sequence
	seen         map[uint64]int // by trace: from which choice on the run was extended
	Runs, Pruned int
}

// NewExhaustive begins with the armed run itself.
func NewExhaustive(armed Sequence, bound int) *Exhaustive {
	return &Exhaustive{armed: armed, bound: bound, queue: []Sequence{nil}, seen: map[uint64]int{}}
}

// Next is the next sequence; false when all have been tried.
func (e *Exhaustive) Next() (Sequence, bool) {
	if len(e.queue) == 0 {
		return nil, false
	}
	e.Runs++
	return append(append(Sequence(nil), e.armed...), e.queue[0]...), true
}

// Done takes in the run of the sequence that Next has returned: its choices, and a fingerprint that
// is equal for runs from which the same follows.
func (e *Exhaustive) Done(log []Answer, trace uint64) {
	disturbed := e.queue[0]
	e.queue = e.queue[1:]
	// Extend only behind the last disturbance, so that each set of disturbances is tried once.
	at := 0
	if len(disturbed) > 0 {
		last := disturbed[len(disturbed)-1].ID
		for i, a := range log {
			if a.ID() == last {
				at = i + 1
			}
		}
	}
	if from, seen := e.seen[trace]; seen && from <= at {
		e.Pruned++
		return
	}
	e.seen[trace] = at
	for _, a := range log[at:] {
		if !a.Kind.Disturbs() && !a.Kind.Schedules() {
			continue
		}
		if len(disturbed) >= e.bound {
			return
		}
		for v := 1; v < a.N; v++ {
			e.queue = append(e.queue, append(append(Sequence(nil), disturbed...), story.Choice{ID: a.ID(), Value: v}))
		}
	}
}

// Left is the number of sequences that are still to be tried.
func (e *Exhaustive) Left() int { return len(e.queue) }
