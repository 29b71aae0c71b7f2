package choice

import (
	"slices"

	"github.com/wavetank/wavetank/internal/story"
)

// This file holds the strategy that has a plan: it tries every single disturbance.

// Sweep makes choice sequences from one undisturbed run: every fault at every point where it can be
// injected, and every delay and every other order, one in each sequence.
type Sweep struct {
	armed   Sequence // switches every declared fault on
	singles []story.Choice
}

// Armed is the sequence of the undisturbed run, in which every declared fault is on and none is
// injected. log is that of the run with the default choices.
func Armed(log []Answer) Sequence {
	var t Sequence
	for _, a := range log {
		if a.Kind == story.Arm {
			t = append(t, story.Choice{ID: a.ID(), Value: a.N - 1})
		}
	}
	return t
}

// NewSweep plans the sweep from the log of the armed run. The strongest and the weakest answers
// come first, those of faults before the others.
func NewSweep(armed Sequence, log []Answer) *Sweep {
	var coarse, fine [2][]story.Choice
	for _, a := range log {
		which := 0
		switch {
		case a.Kind.Disturbs():
		case a.Kind.Schedules():
			which = 1
		default:
			continue
		}
		for i, v := range levels(a.N) {
			if i < 2 {
				coarse[which] = append(coarse[which], story.Choice{ID: a.ID(), Value: v})
			} else {
				fine[which] = append(fine[which], story.Choice{ID: a.ID(), Value: v})
			}
		}
	}
	return &Sweep{armed, slices.Concat(coarse[0], coarse[1], fine[0], fine[1])}
}

// manyAlternatives is how many alternatives a point may have for all of them to be tried.
const manyAlternatives = 8

// levels are the answers to try at a point with n alternatives: the strongest, the weakest, and
// then all others if they are few, else the middle.
func levels(n int) []int {
	all := []int{n - 1}
	if n > 2 {
		all = append(all, 1)
	}
	if n > manyAlternatives {
		return append(all, n/2)
	}
	for v := n - 2; v > 1; v-- {
		all = append(all, v)
	}
	return all
}

// At is sequence k of the sweep; any process can make it without the others. It is false behind the
// last.
func (s *Sweep) At(k int) (Sequence, bool) {
	if k >= len(s.singles) {
		return nil, false
	}
	return append(append(Sequence(nil), s.armed...), s.singles[k]), true
}
