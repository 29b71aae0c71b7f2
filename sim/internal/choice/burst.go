package choice

import (
	"math/rand/v2"
	"slices"

	"github.com/wavetank/wavetank/internal/story"
)

// Burst is a run that repeats an earlier one, the base, except a part in which much happens at
// once. Most bugs that need several disturbances need them close together, and nothing else that
// would lead the run elsewhere before or hide the bug after.
//
//   - Three times of four the burst begins at a point where a fault may be injected, and it is.
//     Else it begins anywhere.
//   - It lasts for 2 to 32 points at which faults may be injected. Up to three faults are injected
//     there often, the others of the base never. Those that are new are left to chance. In three
//     runs of four each fault is injected only at requests of one class, that of its first
//     opportunity in the burst, and opportunities at other classes do not count.
//   - In half of the runs an actor, or all of a process, is slow and last for 4 to 32 choices of
//     time and order.
type Burst struct {
	walk   *Random
	base   *Player
	before int  // choices until it begins
	faults int  // points of faults in it
	orders int  // choices of time and order in it, if someone is slow
	begin  bool // with a fault
	odds   map[group]int
	aims   map[group]Class // nil if faults are injected at requests of all classes
	slow   *Actor          // without a name for all of its process
}

// Base is a run in which bursts may begin: its choices, and where in it faults may be injected.
type Base struct {
	choices Sequence
	points  int     // choices about faults, time and order
	begins  []int   // which of them are about faults
	faults  []group // in the order in which they come first
	injects int     // choices whether a fault is injected
}

// NewBase makes a base of a run with this choice sequence and log.
func NewBase(choices Sequence, log []Answer) *Base {
	b := &Base{choices: choices}
	for _, a := range log {
		if a.Kind == story.Inject {
			b.injects++
		}
		if a.Kind.Disturbs() {
			b.begins = append(b.begins, b.points)
			if g := a.group(); !slices.Contains(b.faults, g) {
				b.faults = append(b.faults, g)
			}
		}
		if a.Kind.Disturbs() || a.Kind.Schedules() {
			b.points++
		}
	}
	return b
}

// NewBurst returns the source of a seed. Half of the bursts begin in the first run, the others in
// one of those that were new, and half of these in one of the last eight. What is not in the burst
// is as there.
func NewBurst(seed uint64, first *Base, fresh ...*Base) *Burst {
	walk, base := NewRandom(seed), pick(seed, first, fresh)
	o := &Burst{walk: walk, base: Play(base.choices), odds: map[group]int{}, faults: 2 << walk.r.IntN(5)}
	if walk.r.IntN(2) == 0 {
		o.orders = 4 << walk.r.IntN(4)
	}
	if o.begin = len(base.begins) > 0 && walk.r.IntN(4) > 0; o.begin {
		o.before = base.begins[walk.r.IntN(len(base.begins))]
	} else {
		o.before = walk.r.IntN(max(base.points, 1))
	}
	if walk.r.IntN(4) > 0 {
		o.aims = map[group]Class{}
	}
	groups := slices.Clone(base.faults)
	walk.r.Shuffle(len(groups), func(i, j int) { groups[i], groups[j] = groups[j], groups[i] })
	often := 1 + walk.r.IntN(max(min(len(groups), 3), 1))
	for i, g := range groups {
		o.odds[g] = 0
		if i < often {
			o.odds[g] = 1 << walk.r.IntN(3)
		}
	}
	return o
}

// pick is the base of a burst.
func pick(seed uint64, first *Base, fresh []*Base) *Base {
	r, n := rand.New(rand.NewPCG(seed, 5)), len(fresh)
	switch {
	case n == 0 || r.IntN(2) == 0:
		return first
	case r.IntN(2) == 0:
		return fresh[max(n-1-r.IntN(8), 0)]
	}
	return fresh[r.IntN(n)]
}

// Choose implements [Source].
func (b *Burst) Choose(p Point) int {
	otherwise := b.base.Choose(p)
	switch {
	case p.Kind == story.Arm:
		return p.N - 1
	case p.Kind.Draws():
		return b.walk.Choose(p)
	case b.before > 0:
		b.before--
		return otherwise
	case b.faults > 0 && p.Kind.Disturbs():
		return max(b.disturb(p), otherwise)
	case b.faults > 0 && b.orders > 0:
		return b.delay(p)
	}
	return otherwise
}

// disturb answers whether a fault is injected in the burst, and how.
func (b *Burst) disturb(p Point) int {
	if b.aims != nil { // as for a server that is behind for one kind
		if _, known := b.aims[p.group()]; !known {
			b.aims[p.group()] = ClassOf(p.Label)
		}
		if b.aims[p.group()] != ClassOf(p.Label) {
			return 0
		}
	}
	b.faults--
	odds, known := b.odds[p.group()]
	if !known {
		odds = []int{0, 0, 4, 2, 1}[b.walk.r.IntN(5)]
		b.odds[p.group()] = odds
	}
	if begin := b.begin; begin {
		b.begin = false
	} else if odds == 0 || b.walk.r.IntN(odds) > 0 {
		return 0
	}
	return b.walk.strong(p.N)
}

// delay answers whose action is next in the burst, and how long it takes.
func (b *Burst) delay(p Point) int {
	b.orders--
	if b.slow == nil {
		b.slow = &Actor{Process: p.Actors[0].Process}
		if p.Kind == story.Next {
			*b.slow = p.Actors[b.walk.r.IntN(len(p.Actors))]
		}
		if b.walk.r.IntN(2) == 0 {
			b.slow.Name = ""
		}
	}
	if p.Kind == story.Next {
		return notOf(*b.slow, p.Actors, b.walk.r.IntN(len(p.Actors)))
	}
	if b.slow.is(p.Actors[0]) {
		return p.N - 1 - b.walk.r.IntN(2)
	}
	return 0
}

// is reports whether an actor is this one, or of this process.
func (a Actor) is(other Actor) bool {
	return a == other || a.Name == "" && a.Process == other.Process
}

// notOf is the first place from i on of an actor that is not the slow one.
func notOf(slow Actor, actors []Actor, i int) int {
	for range actors {
		if !slow.is(actors[i]) {
			break
		}
		i = (i + 1) % len(actors)
	}
	return i
}
