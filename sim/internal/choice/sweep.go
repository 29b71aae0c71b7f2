package choice

import "math/rand/v2"

// This file holds the strategy that has a plan. It tries every single disturbance, and several at
// once where experience says that they belong together.

// Sweep makes choice sequences from one undisturbed run. Its singles are every fault at every point
// where it can be injected, then every delay and every other order. Its pairs are several
// disturbances at once.
type Sweep struct {
	armed   Sequence // switches every declared fault on
	seed    uint64
	singles []Entry
	faults  []Entry // the strongest fault at each point, in the order of the run
	orders  []Entry
	multi   []Sequence
}

// Armed is the sequence of the undisturbed run, in which every declared fault is on and none is
// injected. log is that of the run with the default choices.
func Armed(log []Answer) Sequence {
	var t Sequence
	for _, a := range log {
		if a.Kind == Arm {
			t = append(t, Entry{a.ID(), a.N - 1})
		}
	}
	return t
}

// NewSweep plans the sweep from the log of the armed run.
func NewSweep(seed uint64, armed Sequence, log []Answer) *Sweep {
	s := &Sweep{armed: armed, seed: seed}
	var coarse, fine [2][]Entry
	for _, a := range log {
		which := 0
		switch {
		case a.Kind.Disturbs():
			s.faults = append(s.faults, Entry{a.ID(), a.N - 1})
		case a.Kind.Schedules():
			which = 1
			s.orders = append(s.orders, Entry{a.ID(), a.N - 1})
		default:
			continue
		}
		for i, v := range levels(a.N) {
			if i < 2 {
				coarse[which] = append(coarse[which], Entry{a.ID(), v})
			} else {
				fine[which] = append(fine[which], Entry{a.ID(), v})
			}
		}
	}
	for _, part := range [][]Entry{coarse[0], coarse[1], fine[0], fine[1]} {
		s.singles = append(s.singles, part...)
	}
	s.plan()
	return s
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

// next is the same disturbance at a later occurrence of its point.
func (e Entry) next(n int) Entry {
	e.Nth += n
	return e
}

// plan makes the sequences of several disturbances that are tried before random ones. First come
// faults that are injected again as soon as the request is repeated, at a point that the
// undisturbed run may not have. Then come faults that are injected wherever possible for a while,
// and at last delays that happen again.
func (s *Sweep) plan() {
	var again []Sequence
	for _, o := range s.orders {
		if o.Kind != Next {
			again = append(again, Sequence{o, o.next(1)})
		}
	}
	of := map[group][]Entry{}
	var groups []group
	for _, f := range s.faults {
		s.multi = append(s.multi, Sequence{f, f.next(1)}, Sequence{f, f.next(1), f.next(2)})
		g := f.group()
		if of[g] == nil {
			groups = append(groups, g)
		}
		of[g] = append(of[g], f)
	}
	for _, n := range []int{3, 6, 2, 4} {
		for _, g := range groups {
			for i := 0; i+n <= len(of[g]); i++ {
				s.multi = append(s.multi, append(Sequence(nil), of[g][i:i+n]...))
			}
		}
	}
	r := rand.New(rand.NewPCG(s.seed, 3))
	for _, part := range [][]Sequence{s.multi, again} {
		r.Shuffle(len(part), func(i, j int) { part[i], part[j] = part[j], part[i] })
	}
	s.multi = append(s.multi, again...)
}

// Singles is the number of single disturbances.
func (s *Sweep) Singles() int { return len(s.singles) }

// At is sequence k of the sweep; any process can make it without the others. pair says that the
// singles are used up.
func (s *Sweep) At(k int) (t Sequence, pair bool) {
	if k < len(s.singles) {
		return s.sequence(s.singles[k]), false
	}
	return s.Pair(k - len(s.singles)), true
}

// Pair is sequence k of those with several disturbances; any process can make it without the
// others. Those of the plan come first, in random order. Then come two faults, or a fault and a
// delay, or two delays, most often near each other.
func (s *Sweep) Pair(k int) Sequence {
	if k < len(s.multi) {
		return s.sequence(s.multi[k]...)
	}
	r := rand.New(rand.NewPCG(s.seed, uint64(k)))
	first, second := s.faults, s.faults
	if r.IntN(2) == 0 {
		second = s.orders
	}
	if r.IntN(4) == 0 || len(first) == 0 {
		first = s.orders
	}
	if len(second) == 0 {
		second = s.orders
	}
	if len(first) == 0 {
		return s.armed
	}
	i := r.IntN(len(first))
	j := i*len(second)/len(first) + 1 + r.IntN(1+r.IntN(len(second)))
	a, b := first[i], second[j%len(second)]
	for _, e := range []*Entry{&a, &b} {
		if r.IntN(2) == 0 {
			e.Value = 1 + r.IntN(e.Value)
		}
	}
	return s.sequence(a, b)
}

func (s *Sweep) sequence(disturbances ...Entry) Sequence {
	return append(append(Sequence(nil), s.armed...), disturbances...)
}
