package choice

import (
	"math/rand/v2"

	"github.com/wavetank/wavetank/internal/story"
)

// Random answers from a seed. It takes the default with the odds that the point suggests; all other
// alternatives are equally likely.
type Random struct {
	r     *rand.Rand
	rarer int // faults are injected so many times less often
}

// NewRandom returns the random source of a seed.
func NewRandom(seed uint64) *Random {
	return &Random{rand.New(rand.NewPCG(seed, 0x77617665_74616e6b)), 1}
}

// manyInjects is how many opportunities to inject a fault a run has before each of them is used
// less often. A run in which hundreds of faults are injected shows little but their consequences.
const manyInjects = 500

// In makes faults rarer in a long world: one whose undisturbed run is the base, nil if it is not
// known.
func (r *Random) In(b *Base) *Random {
	if b != nil {
		r.rarer = max(b.injects/manyInjects, 1)
	}
	return r
}

// odds are those of a fault if it would be injected once in n opportunities.
func (r *Random) odds(p Point, n int) int {
	if p.Kind == story.Inject {
		return n * r.rarer
	}
	return n
}

// Choose implements [Source].
func (r *Random) Choose(p Point) int {
	if p.Odds > 1 {
		if r.r.IntN(r.odds(p, p.Odds)) != 0 {
			return 0
		}
		return 1 + r.r.IntN(p.N-1)
	}
	return r.r.IntN(p.N)
}

// Fair returns a source of random schedules without faults. Another source answers for the values
// that the scenario draws.
func Fair(seed uint64, drawn Source) Source {
	r := NewRandom(seed)
	return Func(func(p Point) int {
		switch {
		case p.Kind == story.Draw:
			return drawn.Choose(p)
		case p.Kind.Schedules():
			return r.Choose(p)
		}
		return 0
	})
}

// AllFaults is a random walk in which every declared fault is on, and rare, for long runs that need
// some of each.
type AllFaults struct{ walk *Random }

// NewAllFaults returns the source of a seed.
func NewAllFaults(seed uint64) AllFaults { return AllFaults{NewRandom(seed)} }

// Choose implements [Source].
func (a AllFaults) Choose(p Point) int {
	if p.Kind == story.Arm {
		return 1
	}
	return a.walk.Choose(p)
}

// Func makes a source of a function, for rapid's draws and for tests.
type Func func(Point) int

// Choose implements [Source].
func (f Func) Choose(p Point) int { return f(p) }

// Mix makes the seed of run i from a base seed. The seeds of neighbouring runs have nothing in
// common.
func Mix(base uint64, i int) uint64 {
	z := base + uint64(i+1)*0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// Bytes answers from the input of a fuzzer: a byte for each choice, several where there are many
// alternatives. A zero byte is the default, and so is everything after the end.
func Bytes(data []byte) Source {
	next := func() int {
		if len(data) == 0 {
			return 0
		}
		b := data[0]
		data = data[1:]
		return int(b)
	}
	return Func(func(p Point) int {
		b := next()
		if b == 0 {
			return 0
		}
		if p.Odds > 1 && b < 256-256/p.Odds {
			return 0
		}
		v := uint64(b)
		for n := p.N; n > 256; n >>= 8 {
			v = v<<8 | uint64(next())
		}
		if p.Odds > 1 {
			return 1 + int(v%uint64(p.N-1))
		}
		return int(v % uint64(p.N))
	})
}
