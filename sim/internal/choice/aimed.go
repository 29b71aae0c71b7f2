package choice

import (
	"slices"
	"strings"

	"github.com/wavetank/wavetank/internal/story"
)

// Class is what requests and watch events have in common that are about different objects.
type Class struct {
	Verb string // or the type of a watch event
	Kind string // or the host of a request to the outside
}

// ClassOf is the class of the request or watch event that a choice is about.
func ClassOf(l story.Label) Class {
	kind := l.What
	if i := strings.IndexAny(kind, " /"); i >= 0 {
		kind = kind[:i]
	}
	return Class{l.Verb, kind}
}

// Classes are the classes at which each fault could be injected in some runs.
type Classes struct {
	faults []group // in the order in which they came first
	of     map[group][]classSeen
}

// classSeen is a class, and how many opportunities it had in a run: the most of all runs.
type classSeen struct {
	Class
	n int
}

// Add adds the classes of a run, given its log.
func (c *Classes) Add(log []Answer) {
	if c.of == nil {
		c.of = map[group][]classSeen{}
	}
	type pair struct {
		group
		Class
	}
	n := map[pair]int{}
	for _, a := range log {
		if a.Kind != story.Inject {
			continue
		}
		g, class := a.group(), ClassOf(a.Label)
		seen, known := c.of[g]
		if !known {
			c.faults = append(c.faults, g)
		}
		i := slices.IndexFunc(seen, func(s classSeen) bool { return s.Class == class })
		if i < 0 {
			i, c.of[g] = len(seen), append(seen, classSeen{Class: class})
		}
		n[pair{g, class}]++
		c.of[g][i].n = max(c.of[g][i].n, n[pair{g, class}])
	}
}

// Aimed is a run in which one to three faults are injected, each at requests of one class only. All
// classes are equally likely. So a delete that happens once is hit as often as a get that happens a
// thousand times. In half of the runs time and order are left to chance, in the others they are the
// default.
type Aimed struct {
	walk  *Random
	aims  map[group]*aim
	paced bool
}

// aim is how one fault is injected in a run.
type aim struct {
	at    Class
	skip  int // so many opportunities pass first
	times int // it is injected so often at most
	odds  int
}

// NewAimed returns the source of a seed.
func NewAimed(seed uint64, seen *Classes) *Aimed {
	o := &Aimed{walk: NewRandom(seed), aims: map[group]*aim{}}
	o.paced = o.walk.r.IntN(2) == 0
	faults := slices.Clone(seen.faults)
	o.walk.r.Shuffle(len(faults), func(i, j int) { faults[i], faults[j] = faults[j], faults[i] })
	few := 1 + o.walk.r.IntN(max(min(len(faults), 3), 1))
	for _, g := range faults[:min(few, len(faults))] {
		classes := seen.of[g]
		class := classes[o.walk.r.IntN(len(classes))]
		a := &aim{at: class.Class, times: 1 << o.walk.r.IntN(4), odds: 1 << o.walk.r.IntN(2)}
		if o.walk.r.IntN(2) == 0 {
			a.skip = o.walk.r.IntN(class.n)
		}
		o.aims[g] = a
	}
	return o
}

// Choose implements [Source].
func (a *Aimed) Choose(p Point) int {
	switch {
	case p.Kind == story.Arm:
		return p.N - 1
	case p.Kind == story.Inject:
		return a.inject(p)
	case p.Kind.Schedules() && !a.paced:
		return 0
	}
	return a.walk.Choose(p)
}

// inject answers whether a fault is injected, and how.
func (a *Aimed) inject(p Point) int {
	one := a.aims[p.group()]
	switch {
	case one == nil || one.times == 0 || one.at != ClassOf(p.Label):
		return 0
	case one.skip > 0:
		one.skip--
		return 0
	case a.walk.r.IntN(one.odds) > 0:
		return 0
	}
	one.times--
	return a.walk.strong(p.N)
}

// strong is an answer other than the default, rather a strong than a weak one.
func (r *Random) strong(n int) int { return max(1+r.r.IntN(n-1), 1+r.r.IntN(n-1)) }
