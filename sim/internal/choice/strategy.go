package choice

import (
	"math/rand/v2"
	"strings"
)

// This file holds the oracles that search in other ways than a random walk. Each is good at bugs that the others find
// late: see docs/search.md.

// Sort of a point: what kind of decision its label names.
type sort int

const (
	schedule sort = iota // which due action is next, how long a leg takes
	arming               // whether a declared fault is on in this run
	strike               // whether, and how, a fault strikes here
	value                // drawn values, names, dice
)

func sortOf(label string) sort {
	word, _, _ := strings.Cut(label, " ")
	switch word {
	case "next", "request", "reply":
		return schedule
	case "fault":
		return arming
	case "dice", "names", "draw":
		return value
	}
	return strike
}

// PCT is probabilistic concurrency testing (Burckhardt and others, ASPLOS 2010): every actor has a random priority, the
// highest goes first, and at depth-1 random points the leader falls to the back. Latencies are dull, so that many actions are due
// together; faults strike as in a random walk.
type PCT struct {
	walk     *Random
	priority map[string]int
	change   map[int]bool // steps at which the leader loses its place
	step     int
	low      int
}

// NewPCT returns the oracle for bugs of a depth, in runs of about so many steps.
func NewPCT(seed uint64, depth, steps int) *PCT {
	o := &PCT{walk: NewRandom(seed), priority: map[string]int{}, change: map[int]bool{}}
	for range depth - 1 {
		o.change[o.walk.r.IntN(max(steps, 1))] = true
	}
	return o
}

// Choose implements [Oracle].
func (o *PCT) Choose(p Point) int {
	if p.Label != "next" {
		if sortOf(p.Label) == schedule {
			return 0
		}
		return o.walk.Choose(p)
	}
	best, leader := -1, ""
	for i, actor := range p.Actors {
		if _, ok := o.priority[actor]; !ok {
			o.priority[actor] = 1 + o.walk.r.IntN(1<<20)
		}
		if best < 0 || o.priority[actor] > o.priority[leader] {
			best, leader = i, actor
		}
	}
	if o.change[o.step] {
		o.low--
		o.priority[leader] = o.low
	}
	o.step++
	return max(best, 0)
}

// Delays is delay-bounded search (Emmi and others, POPL 2011): the dull run, disturbed at a handful of random points only.
type Delays struct {
	r      *rand.Rand
	budget int
	odds   int
}

// NewDelays returns an oracle that leaves the dull path about n times in a run of about so many choices.
func NewDelays(seed uint64, n, choices int) *Delays {
	return &Delays{r: rand.New(rand.NewPCG(seed, 2)), budget: n, odds: max(choices/(2*n), 2)}
}

// Choose implements [Oracle].
func (o *Delays) Choose(p Point) int {
	switch sortOf(p.Label) {
	case arming:
		return p.N - 1
	case value:
		return o.r.IntN(p.N)
	}
	if o.budget == 0 || o.r.IntN(o.odds) != 0 {
		return 0
	}
	o.budget--
	return 1 + o.r.IntN(p.N-1)
}

// Starve is a random walk in which one actor after another gets nothing for a while.
type Starve struct {
	walk   *Random
	victim string
	left   int
}

// NewStarve returns the oracle.
func NewStarve(seed uint64) *Starve { return &Starve{walk: NewRandom(seed)} }

// Choose implements [Oracle].
func (o *Starve) Choose(p Point) int {
	if p.Label != "next" {
		return o.walk.Choose(p)
	}
	if o.left == 0 {
		o.victim = p.Actors[o.walk.r.IntN(len(p.Actors))]
		o.left = 5 + o.walk.r.IntN(60)
	}
	o.left--
	i := o.walk.r.IntN(len(p.Actors))
	for range p.Actors {
		if p.Actors[i] != o.victim {
			return i
		}
		i = (i + 1) % len(p.Actors)
	}
	return i
}

// Sweep makes tapes with one disturbance each: from one undisturbed run, every fault at every point where it could
// strike, then every delay and every other order. When those are used up it makes pairs.
type Sweep struct {
	armed Tape    // switches every declared fault on
	spots []Entry // single disturbances, faults first
	seed  uint64
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
	var orders []Entry
	for _, a := range log {
		switch sortOf(a.Label) {
		case strike:
			for _, v := range levels(a.N) {
				s.spots = append(s.spots, Entry{a.ID(), v})
			}
		case schedule:
			orders = append(orders, Entry{a.ID(), a.N - 1})
			if a.N > 2 {
				orders = append(orders, Entry{a.ID(), 1})
			}
		}
	}
	s.spots = append(s.spots, orders...)
	return s
}

// levels are the answers worth trying at a point with n of them: all if they are few, else the ends and the middle.
func levels(n int) []int {
	if n <= 4 {
		var all []int
		for v := n - 1; v > 0; v-- {
			all = append(all, v)
		}
		return all
	}
	return []int{n - 1, n / 2, 1}
}

// Singles is the number of single disturbances.
func (s *Sweep) Singles() int { return len(s.spots) }

// At is tape k of the sweep, whoever makes the others; pair says that the singles are used up.
func (s *Sweep) At(k int) (t Tape, pair bool) {
	if k < len(s.spots) {
		return append(append(Tape(nil), s.armed...), s.spots[k]), false
	}
	if len(s.spots) < 2 {
		return s.armed, true
	}
	r := rand.New(rand.NewPCG(s.seed, uint64(k)))
	i := r.IntN(len(s.spots))
	j := r.IntN(len(s.spots) - 1)
	if j >= i {
		j++
	}
	return append(append(Tape(nil), s.armed...), s.spots[min(i, j)], s.spots[max(i, j)]), true
}

// Exhaustive walks all runs with at most a bound of disturbances, each run once: a run whose history was seen before is
// not extended, because everything that follows from it has been or will be tried from there.
type Exhaustive struct {
	armed Tape
	bound int
	queue []Tape
	seen  map[uint64]bool
	// Runs and Pruned count; Bounded is set when some run could still have been disturbed further.
	Runs, Pruned int
	Bounded      bool
}

// NewExhaustive begins with the armed run itself.
func NewExhaustive(armed Tape, bound int) *Exhaustive {
	return &Exhaustive{armed: armed, bound: bound, queue: []Tape{nil}, seen: map[uint64]bool{}}
}

// Next is the next tape; false when all have been tried.
func (e *Exhaustive) Next() (Tape, bool) {
	if len(e.queue) == 0 {
		return nil, false
	}
	e.Runs++
	return append(append(Tape(nil), e.armed...), e.queue[0]...), true
}

// Done takes in what the tape that Next gave led to: the answers of the run and a fingerprint of its history.
func (e *Exhaustive) Done(log []Answer, history uint64) {
	disturbed := e.queue[0]
	e.queue = e.queue[1:]
	if e.seen[history] {
		e.Pruned++
		return
	}
	e.seen[history] = true
	// Extend only behind the last disturbance, so that each set is made once.
	at := 0
	if len(disturbed) > 0 {
		last := disturbed[len(disturbed)-1].ID
		for i, a := range log {
			if a.ID() == last {
				at = i + 1
			}
		}
	}
	for _, a := range log[at:] {
		if s := sortOf(a.Label); s != strike && s != schedule {
			continue
		}
		if len(disturbed) >= e.bound {
			e.Bounded = true
			return
		}
		for v := 1; v < a.N; v++ {
			e.queue = append(e.queue, append(append(Tape(nil), disturbed...), Entry{a.ID(), v}))
		}
	}
}

// Left is the number of tapes that are still to be tried.
func (e *Exhaustive) Left() int { return len(e.queue) }

// Evolve keeps tapes that showed something new and makes new ones by changing them.
type Evolve struct {
	r      *rand.Rand
	corpus []Tape
	seen   map[uint64]bool
}

// NewEvolve returns a search guided by features of histories.
func NewEvolve(seed uint64) *Evolve {
	return &Evolve{r: rand.New(rand.NewPCG(seed, 4)), seen: map[uint64]bool{}}
}

// Features is the number of different features seen.
func (e *Evolve) Features() int { return len(e.seen) }

// Learn takes in a run of any strategy: its tape is kept if it showed a feature that no run before it had.
func (e *Evolve) Learn(t Tape, features []uint64) {
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

// Oracle plays a changed member of the corpus: some of its answers forgotten or raised, and now and then an answer of
// its own where the tape says nothing.
func (e *Evolve) Oracle() Oracle {
	walk := &Random{e.r}
	if len(e.corpus) == 0 {
		return walk
	}
	// Younger tapes know more; half of the time take one of the last eight.
	pick := e.corpus[e.r.IntN(len(e.corpus))]
	if n := len(e.corpus); n > 8 && e.r.IntN(2) == 0 {
		pick = e.corpus[n-1-e.r.IntN(8)]
	}
	var changed Tape
	for _, entry := range pick {
		switch e.r.IntN(12) {
		case 0:
			continue
		case 1:
			entry.Value = 1 + e.r.IntN(entry.Value+2)
		}
		changed = append(changed, entry)
	}
	play := Play(changed)
	return Func(func(p Point) int {
		if v := play.Choose(p); v > 0 {
			return v
		}
		if e.r.IntN(25) == 0 {
			return walk.Choose(p)
		}
		return 0
	})
}
