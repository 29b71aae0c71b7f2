package choice

import (
	"math/rand/v2"
	"strconv"
	"strings"
)

// This file holds the search that has a plan: what one disturbance can do is tried for certain, and what several can do
// is tried where experience says that they belong together.

// Sweep makes tapes from one undisturbed run. Its singles are every fault at every point where it could strike, then
// every delay and every other order; its pairs are several disturbances at once.
type Sweep struct {
	armed   Tape // switches every declared fault on
	seed    uint64
	singles []Entry
	faults  []Entry // the strongest single of each point, in the order of the run
	orders  []Entry
	multi   []Tape
}

// Armed is the tape of the undisturbed run with every fault declared and none striking, from the log of the dull run.
func Armed(log []Answer) Tape {
	var t Tape
	for _, a := range log {
		if sortOf(a.Label) == arming {
			t = append(t, Entry{a.ID(), a.N - 1})
		}
	}
	return t
}

// NewSweep plans the sweep from the log of the armed run.
func NewSweep(seed uint64, armed Tape, log []Answer) *Sweep {
	s := &Sweep{armed: armed, seed: seed}
	var coarse, fine [2][]Entry
	for _, a := range log {
		which := 0
		switch sortOf(a.Label) {
		case strike:
			s.faults = append(s.faults, Entry{a.ID(), a.N - 1})
		case schedule:
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

// manyAnswers is how many answers a point may have for all of them to be tried.
const manyAnswers = 8

// levels are the answers worth trying at a point with n of them, the most telling first: the strongest, the weakest, and
// then all others if they are few, else the middle.
func levels(n int) []int {
	all := []int{n - 1}
	if n > 2 {
		all = append(all, 1)
	}
	if n > manyAnswers {
		return append(all, n/2)
	}
	for v := n - 2; v > 1; v-- {
		all = append(all, v)
	}
	return all
}

// next is the same disturbance at a later occurrence of its point.
func (e Entry) next(n int) Entry {
	if i := strings.LastIndex(e.ID, " #"); i >= 0 {
		if nth, err := strconv.Atoi(e.ID[i+2:]); err == nil {
			e.ID = e.ID[:i+2] + strconv.Itoa(nth+n)
		}
	}
	return e
}

// plan makes the tapes of several disturbances that are worth trying before chance has its turn: a fault that strikes
// again as soon as its victim tries again (that point may not even exist in the undisturbed run), and a fault that
// strikes wherever it can for a while. After those come delays that happen again.
func (s *Sweep) plan() {
	var again []Tape
	for _, o := range s.orders {
		if !strings.HasPrefix(o.ID, "next ") {
			again = append(again, Tape{o, o.next(1)})
		}
	}
	of := map[string][]Entry{}
	var words []string
	for _, f := range s.faults {
		s.multi = append(s.multi, Tape{f, f.next(1)}, Tape{f, f.next(1), f.next(2)})
		word, _, _ := strings.Cut(f.ID, " ")
		if of[word] == nil {
			words = append(words, word)
		}
		of[word] = append(of[word], f)
	}
	for _, n := range []int{3, 6, 2, 4} {
		for _, word := range words {
			for i := 0; i+n <= len(of[word]); i++ {
				s.multi = append(s.multi, append(Tape(nil), of[word][i:i+n]...))
			}
		}
	}
	r := rand.New(rand.NewPCG(s.seed, 3))
	for _, part := range [][]Tape{s.multi, again} {
		r.Shuffle(len(part), func(i, j int) { part[i], part[j] = part[j], part[i] })
	}
	s.multi = append(s.multi, again...)
}

// Singles is the number of single disturbances.
func (s *Sweep) Singles() int { return len(s.singles) }

// At is tape k of the sweep, whoever makes the others; pair says that the singles are used up.
func (s *Sweep) At(k int) (t Tape, pair bool) {
	if k < len(s.singles) {
		return s.play(s.singles[k]), false
	}
	return s.Pair(k - len(s.singles)), true
}

// Pair is tape k of those with several disturbances, whoever makes the others: first those of the plan, in random order,
// then two faults, or a fault and a delay, or two delays, near each other more often than not.
func (s *Sweep) Pair(k int) Tape {
	if k < len(s.multi) {
		return s.play(s.multi[k]...)
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
	return s.play(a, b)
}

func (s *Sweep) play(disturbances ...Entry) Tape {
	return append(append(Tape(nil), s.armed...), disturbances...)
}
