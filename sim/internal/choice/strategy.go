package choice

import "math/rand/v2"

// This file holds the sources that search in other ways than a random walk. Each finds bugs early
// that the others find late: see docs/search.md.

// PCT is probabilistic concurrency testing (Burckhardt and others, ASPLOS 2010) for a world with a
// clock.
//
//   - Every actor has a random priority; a worker at its key is an actor. The highest priority goes
//     first.
//   - At depth-1 random points the actor with the highest priority gets the lowest one.
//   - A low priority costs nothing where nobody else is due, so it costs time as well: such an
//     actor is slow from there on.
//   - Some actors and some kinds of requests are slow from the start, and equally slow each time.
//   - Faults are injected as in a random walk.
type PCT struct {
	walk     *Random
	priority map[Actor]int
	pace     map[Actor]int
	requests map[Label]int // pace of kinds of requests
	change   map[int]bool  // choices of time and order at which the first actor becomes the last
	asked    int
	low      int
}

// NewPCT returns the source for bugs of a depth, in runs like the one with this log.
func NewPCT(seed uint64, depth int, log []Answer) *PCT {
	o := &PCT{walk: NewRandom(seed), priority: map[Actor]int{}, pace: map[Actor]int{}, requests: map[Label]int{},
		change: map[int]bool{}}
	_, orders := points(log)
	for range depth - 1 {
		o.change[o.walk.r.IntN(max(orders, 1))] = true
	}
	return o
}

// One in how many kinds of requests, and one in how many actors, is slow.
const (
	slowKinds  = 6
	slowActors = 4
)

// Choose implements [Source].
func (o *PCT) Choose(p Point) int {
	if !p.Kind.Schedules() {
		return o.walk.Choose(p)
	}
	first := o.first(p.Actors)
	if o.change[o.asked] {
		o.low--
		o.priority[p.Actors[first]] = o.low
		delete(o.pace, p.Actors[first])
		first = o.first(p.Actors)
	}
	o.asked++
	if p.Kind == Next {
		return first
	}
	odds := slowActors
	if o.priority[p.Actors[0]] < 0 {
		odds = 1
	}
	request := slowness(o, o.requests, p.Label, slowKinds, p.N)
	return max(request, slowness(o, o.pace, p.Actors[0], odds, steady(p.N)+1))
}

// first is the place of the actor with the highest priority.
func (o *PCT) first(actors []Actor) (best int) {
	for i, actor := range actors {
		if _, ok := o.priority[actor]; !ok {
			o.priority[actor] = 1 + o.walk.r.IntN(1<<20)
		}
		if o.priority[actor] > o.priority[actors[best]] {
			best = i
		}
	}
	return best
}

// slowness is the answer for an actor or a request whenever the choice is how long something takes.
// It is drawn the first time.
func slowness[K comparable](o *PCT, pace map[K]int, of K, odds, n int) int {
	v, known := pace[of]
	if !known && o.walk.r.IntN(odds) == 0 {
		v = 1 + o.walk.r.IntN(n-1)
	}
	pace[of] = v
	return v
}

// steady is the slowest of n answers that an actor gets each time. The slowest of all is left to
// single requests: a process that takes half a second for each would only show how long the
// scenario waits for its start.
func steady(n int) int { return max(n-2, 1) }

// points counts the choices of a run whether a fault is injected, and those of time and order.
func points(log []Answer) (injections, orders int) {
	for _, a := range log {
		switch {
		case a.Kind.Disturbs():
			injections++
		case a.Kind.Schedules():
			orders++
		}
	}
	return injections, orders
}

// Delays is delay-bounded search (Emmi and others, POPL 2011): the run with the default choices,
// disturbed at a few random points.
type Delays struct {
	r      *rand.Rand
	budget int
	odds   [2]int // of a fault, of a delay or another order
}

// NewDelays returns a source that leaves the defaults about n times in a run like the one with this
// log. Most points of a run are about time and order, so faults get half of the budget, however few
// they are.
func NewDelays(seed uint64, n int, log []Answer) *Delays {
	injections, orders := points(log)
	odds := [2]int{max(injections/n, 2), max(2*orders/n, 2)}
	return &Delays{r: rand.New(rand.NewPCG(seed, 2)), budget: n, odds: odds}
}

// Choose implements [Source].
func (o *Delays) Choose(p Point) int {
	odds := o.odds[0]
	switch {
	case p.Kind == Arm:
		return p.N - 1
	case p.Kind.Draws():
		return o.r.IntN(p.N)
	case p.Kind.Schedules():
		odds = o.odds[1]
	}
	if o.budget == 0 || o.r.IntN(odds) != 0 {
		return 0
	}
	o.budget--
	return 1 + o.r.IntN(p.N-1)
}

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

// swarmOdds are the odds that choices of one group get for a run.
var swarmOdds = []int{0, 0, 32, 12, 6, 3, 2}

// Choose implements [Source].
func (o *Swarm) Choose(p Point) int {
	switch {
	case p.Kind == Arm:
		return min(o.walk.r.IntN(3)*p.N, p.N-1) // on, two times of three
	case p.Kind.Draws():
		return o.walk.Choose(p)
	}
	odds, known := o.odds[p.group()]
	if !known {
		odds = swarmOdds[o.walk.r.IntN(len(swarmOdds))]
		o.odds[p.group()] = odds
	}
	if odds == 0 || o.walk.r.IntN(odds) != 0 {
		return 0
	}
	return 1 + o.walk.r.IntN(p.N-1)
}

// Starve is a random walk in which an actor, or all of a process, gets no turn for a while, then
// another one.
type Starve struct {
	walk   *Random
	victim Actor // without a name for all of its process
	left   int
}

// NewStarve returns the source of a seed.
func NewStarve(seed uint64) *Starve { return &Starve{walk: NewRandom(seed)} }

// Choose implements [Source].
func (o *Starve) Choose(p Point) int {
	if !p.Kind.Schedules() {
		return o.walk.Choose(p)
	}
	if o.left == 0 {
		o.victim = p.Actors[o.walk.r.IntN(len(p.Actors))]
		if o.walk.r.IntN(2) == 0 {
			o.victim.Name = ""
		}
		o.left = 5 + o.walk.r.IntN(60)
	}
	o.left--
	if p.Kind != Next {
		if o.starves(p.Actors[0]) {
			return steady(p.N)
		}
		return o.walk.Choose(p)
	}
	i := o.walk.r.IntN(len(p.Actors))
	for range p.Actors {
		if !o.starves(p.Actors[i]) {
			return i
		}
		i = (i + 1) % len(p.Actors)
	}
	return i
}

func (o *Starve) starves(actor Actor) bool {
	if o.victim.Name == "" {
		actor.Name = ""
	}
	return actor == o.victim
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
			e.queue = append(e.queue, append(append(Sequence(nil), disturbed...), Entry{a.ID(), v}))
		}
	}
}

// Left is the number of sequences that are still to be tried.
func (e *Exhaustive) Left() int { return len(e.queue) }
