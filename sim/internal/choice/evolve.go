package choice

import "math/rand/v2"

// This file holds the strategy that learns: choice sequences that showed something new are changed
// a little and tried again.

// Evolve keeps choice sequences that showed something new and makes new ones by changing them.
type Evolve struct {
	r      *rand.Rand
	corpus []Sequence
	seen   map[uint64]bool
}

// NewEvolve returns a search guided by features of histories.
func NewEvolve(seed uint64) *Evolve {
	return &Evolve{r: rand.New(rand.NewPCG(seed, 4)), seen: map[uint64]bool{}}
}

// Features is the number of different features seen.
func (e *Evolve) Features() int { return len(e.seen) }

// Learn takes in a run of any strategy. It keeps the sequence of a run that showed a feature for
// the first time.
func (e *Evolve) Learn(t Sequence, features []uint64) {
	fresh := false
	for _, f := range features {
		if !e.seen[f] {
			e.seen[f] = true
			fresh = true
		}
	}
	if fresh && len(t) > 0 {
		e.corpus = append(e.corpus, t)
	}
}

// Source returns a source that replays a changed member of the corpus. A change is one of these: a
// choice is left out, has another value, or is made once more at its next occurrence, or the tail
// of another member follows. On average there are one or two new disturbances at points that are
// not in the sequence.
func (e *Evolve) Source() Source {
	if len(e.corpus) == 0 {
		return &Random{e.r}
	}
	play := Play(e.change(e.pick()))
	budget, odds := e.r.IntN(3), [2]int{4 + e.r.IntN(30), 10 + e.r.IntN(90)}
	return Func(func(p Point) int {
		if v := play.Choose(p); v > 0 {
			return v
		}
		rarity := odds[0]
		switch {
		case p.Kind == Arm || p.Kind.Draws():
			return 0
		case p.Kind.Schedules():
			rarity = odds[1]
		}
		if budget == 0 || e.r.IntN(rarity) != 0 {
			return 0
		}
		budget--
		return 1 + e.r.IntN(p.N-1)
	})
}

// pick takes a member of the corpus. Younger ones know more: half of the time it is one of the last
// eight.
func (e *Evolve) pick() Sequence {
	if n := len(e.corpus); n > 8 && e.r.IntN(2) == 0 {
		return e.corpus[n-1-e.r.IntN(8)]
	}
	return e.corpus[e.r.IntN(len(e.corpus))]
}

func (e *Evolve) change(t Sequence) Sequence {
	var changed Sequence
	for _, entry := range t {
		if entry.Kind.Disturbs() || entry.Kind.Schedules() {
			switch e.r.IntN(12) {
			case 0:
				continue
			case 1:
				entry.Value = 1 + e.r.IntN(entry.Value+2)
			case 2:
				changed = append(changed, entry.next(1))
			}
		}
		changed = append(changed, entry)
	}
	if e.r.IntN(4) == 0 {
		if other := e.pick(); len(other) > 0 {
			changed = append(changed, other[e.r.IntN(len(other)):]...)
		}
	}
	return changed
}
