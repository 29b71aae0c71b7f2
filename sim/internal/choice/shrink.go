package choice

import (
	"slices"
	"strconv"
	"strings"

	"github.com/wavetank/wavetank/internal/story"
)

// Trial is the run of a candidate.
type Trial struct {
	Same bool     // it failed as the original did
	Used Sequence // the part of the candidate that the run came to
	Log  []Answer // all choices of the run, if they were kept
}

// Shrink looks for a shorter choice sequence that fails in the same way, by running candidates.
// Runs may be expensive, so the search begins with what takes most away: everything but what users
// do, the order of actions, the disturbances, each group of disturbances, what users do (all words
// of one draw go together), whole stretches of the run.
//
// The result is a local minimum unless stop ends the search: without any one of its entries, or
// with any one value lowered by one, the run does not fail. Nor does one disturbance elsewhere do
// what several of its groups do. Shrink also returns the number of runs, and whether the search was
// stopped.
func Shrink(t Sequence, run func(Sequence) Trial, stop func() bool) (best Sequence, runs int, stopped bool) {
	s := &shrinker{best: t, run: run, stop: stop, tried: map[string]bool{}}
	for {
		before := s.best.key()
		s.pass()
		s.elsewhere()
		s.sooner()
		if s.stopped || s.best.key() == before {
			return s.best, s.runs, s.stopped
		}
	}
}

type shrinker struct {
	best    Sequence
	run     func(Sequence) Trial
	stop    func() bool
	stopped bool
	runs    int
	tried   map[string]bool // candidates that did not fail
}

// pass tries everything once, what may take most away first.
func (s *shrinker) pass() {
	draws := func(e story.Choice) bool { return e.Kind == story.Draw }
	disturbs := func(e story.Choice) bool { return e.Kind.Disturbs() }
	schedules := func(e story.Choice) bool { return e.Kind.Schedules() }
	s.without(func(e story.Choice) bool { return !e.Kind.Draws() }) // no fault, and the default order
	s.without(schedules)
	s.without(disturbs)
	s.reduce(disturbs, func(t Sequence) []int { return numbered(t, byGroup) })
	s.reduce(draws, byDraw)
	s.reduce(disturbs, stretches)
	s.reduce(disturbs, singly)
	s.reduce(schedules, singly)
	s.reduce(func(story.Choice) bool { return true }, func(t Sequence) []int { return numbered(t, byGroup) })
	s.reduce(func(story.Choice) bool { return true }, singly)
	s.lower()
	s.withoutDraws()
}

// without tries the sequence without some of its entries.
func (s *shrinker) without(gone func(story.Choice) bool) {
	s.try(slices.DeleteFunc(slices.Clone(s.best), gone))
}

func byGroup(c story.Choice) group { return groupOf(c.Label) }

// byDraw makes a part of all words of one draw.
func byDraw(t Sequence) []int { return numbered(t, func(e story.Choice) string { return e.Of }) }

func (s Sequence) key() string {
	var b strings.Builder
	for _, e := range s {
		for _, part := range []string{string(e.Kind), e.Of, e.Who, e.Verb, e.What, strconv.Itoa(e.Nth),
			strconv.Itoa(e.Value)} {
			b.WriteString(part)
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// try runs a candidate and keeps it if it fails alike.
func (s *shrinker) try(t Sequence) bool {
	k := t.key()
	if k == s.best.key() || s.tried[k] {
		return false
	}
	trial, ok := s.make(t)
	if ok && !trial.Same {
		s.tried[k] = true
	}
	if !ok || !trial.Same {
		return false
	}
	if len(trial.Used) > len(t) { // cannot be: what is not in a sequence is a default
		trial.Used = t
	}
	s.best = trial.Used
	return true
}

// make runs a candidate, unless the search is stopped.
func (s *shrinker) make(t Sequence) (trial Trial, ok bool) {
	if s.stopped = s.stopped || s.stop(); s.stopped {
		return Trial{}, false
	}
	s.runs++
	return s.run(t), true
}

// reduce removes parts of the sequence until no single part can go: delta debugging (Zeller and
// Hildebrandt, TSE 2002). It first tries to keep one chunk of the parts alone, then to do without
// one. Only entries that of accepts may go. parts gives the part of each of them, counted from 0.
func (s *shrinker) reduce(of func(story.Choice) bool, parts func(Sequence) []int) {
	for chunks := 1; !s.stopped; {
		part, n := s.split(of, parts)
		chunks = min(chunks, n)
		if n == 0 {
			return
		}
		switch {
		case s.anyChunk(part, n, chunks, true):
			chunks = min(2, chunks)
		case s.anyChunk(part, n, chunks, false):
			chunks = max(chunks-1, 1)
		case chunks == n:
			return
		default:
			chunks *= 2
		}
	}
}

// split returns the part of each entry of the sequence, -1 for entries that stay, and how many
// parts there are.
func (s *shrinker) split(of func(story.Choice) bool, parts func(Sequence) []int) (part []int, n int) {
	var some Sequence
	for _, e := range s.best {
		if of(e) {
			some = append(some, e)
		}
	}
	numbers := parts(some)
	for _, e := range s.best {
		if !of(e) {
			part = append(part, -1)
			continue
		}
		part, numbers, n = append(part, numbers[0]), numbers[1:], max(n, numbers[0]+1)
	}
	return part, n
}

// anyChunk tries, for each of several chunks of the parts, to keep only that chunk or only the
// others. What comes last is closest to the failure, so it is the first that is kept and the last
// that is removed.
func (s *shrinker) anyChunk(part []int, n, chunks int, only bool) bool {
	if only && chunks < 3 { // the one chunk is everything, and each of two is what remains without the other
		return false
	}
	for i := range chunks {
		c := i
		if only {
			c = chunks - 1 - i
		}
		var candidate Sequence
		for j, e := range s.best {
			if in := part[j]*chunks/n == c; part[j] < 0 || in == only {
				candidate = append(candidate, e)
			}
		}
		if s.try(candidate) {
			return true
		}
	}
	return false
}

// singly makes every entry a part.
func singly(t Sequence) []int {
	out := make([]int, len(t))
	for i := range t {
		out[i] = i
	}
	return out
}

// numbered makes a part of all entries with one key.
func numbered[K comparable](t Sequence, key func(story.Choice) K) []int {
	numbers, out := map[K]int{}, make([]int, len(t))
	for i, e := range t {
		k := key(e)
		if _, known := numbers[k]; !known {
			numbers[k] = len(numbers)
		}
		out[i] = numbers[k]
	}
	return out
}

// stretches divides the sequence at the entries of its largest group. Where many crashes are
// injected, a part is an incarnation with all that disturbs it.
func stretches(t Sequence) []int {
	sizes := map[group]int{}
	var largest group
	for _, e := range t {
		sizes[byGroup(e)]++
		if sizes[byGroup(e)] > sizes[largest] {
			largest = byGroup(e)
		}
	}
	out, n := make([]int, len(t)), 0
	for i, e := range t {
		out[i] = n
		if byGroup(e) == largest && i < len(t)-1 {
			n++
		}
	}
	return out
}

// elsewhere tries to replace several disturbances by one of their groups at another place. Each of
// two may be needed only because of the other, for example to fail a write that the first has
// repeated.
func (s *shrinker) elsewhere() {
	var several, rest Sequence
	for _, e := range s.best {
		if e.Kind.Disturbs() {
			several = append(several, e)
		} else {
			rest = append(rest, e)
		}
	}
	if len(several) < 2 {
		return
	}
	trial, _ := s.make(rest)
	alike := func(p Answer, same func(story.Choice) bool) bool {
		return p.Kind.Disturbs() && slices.ContainsFunc(several, same)
	}
	sameLabel := func(p Answer) bool { return alike(p, func(e story.Choice) bool { return e.Label == p.Label }) }
	sameGroup := func(p Answer) bool { return alike(p, func(e story.Choice) bool { return byGroup(e) == p.group() }) }
	for _, first := range []bool{true, false} {
		for _, p := range trial.Log {
			if !sameGroup(p) || sameLabel(p) != first {
				continue
			}
			for v := p.N - 1; v > 0; v /= 2 {
				if s.try(append(slices.Clone(rest), story.Choice{ID: p.ID(), Value: v})) {
					return
				}
			}
		}
	}
}

// sooner tries to inject each of few disturbances at an earlier occurrence, the first one first:
// what a crash at the seventh request does, one at the second may do, too.
func (s *shrinker) sooner() {
	disturbs := func(e story.Choice) bool { return e.Kind.Disturbs() }
	few := slices.DeleteFunc(slices.Clone(s.best), func(e story.Choice) bool { return !disturbs(e) })
	if len(few) > mostMoved {
		return
	}
	for i := 0; i < len(s.best); i++ {
		for nth := 0; i < len(s.best) && disturbs(s.best[i]) && nth < min(s.best[i].Nth, earliest); nth++ {
			candidate := slices.Clone(s.best)
			if candidate[i].Nth = nth; s.try(candidate) {
				break
			}
		}
	}
}

// mostMoved is how many disturbances are moved together, and earliest how far.
const (
	mostMoved = 3
	earliest  = 6
)

// withoutDraws tries to remove draws that the other choices are counted after: without what a user
// did first, a disturbance at the third request of a kind belongs at an earlier one. First it tries
// to keep one draw alone, as one is most often enough.
func (s *shrinker) withoutDraws() {
	for _, only := range []bool{true, false} {
		for n := 0; !s.stopped; n++ {
			part, parts := s.split(func(e story.Choice) bool { return e.Kind == story.Draw }, byDraw)
			if n >= parts || only && parts == 1 {
				break
			}
			var rest Sequence
			for i, e := range s.best {
				if part[i] < 0 || (part[i] == n) == only {
					rest = append(rest, e)
				}
			}
			if s.moved(rest) {
				n--
			}
		}
	}
}

// moved tries a sequence with all its disturbances at earlier occurrences.
func (s *shrinker) moved(t Sequence) bool {
	disturbances, last := 0, 0
	for _, e := range t {
		if e.Kind.Disturbs() {
			disturbances, last = disturbances+1, max(last, e.Nth)
		}
	}
	for by := 1; disturbances <= mostMoved && by <= min(last, earliest); by++ {
		earlier := slices.Clone(t)
		for i := range earlier {
			if earlier[i].Kind.Disturbs() {
				earlier[i].Nth = max(earlier[i].Nth-by, 0)
			}
		}
		if s.try(earlier) {
			return true
		}
	}
	return false
}

// lower makes values smaller, by bisection: with what remains the run fails, and with one less it
// does not.
func (s *shrinker) lower() {
	for i := 0; i < len(s.best); i++ {
		s.keepLastBits(i)
		id, no := s.best[i].ID, 0 // 0 does not fail: reduce has tried that
		for i < len(s.best) && s.best[i].ID == id && s.best[i].Value > no+1 && !s.stopped {
			v := no + (s.best[i].Value-no)/2
			if no == 0 {
				v = 1 // most often the smallest value fails
			}
			candidate := slices.Clone(s.best)
			candidate[i].Value = v
			if !s.try(candidate) {
				no = v
			}
		}
	}
}

// keepLastBits cuts a large value down to its last few bits. Such a value is a random word of
// [sim.Draw], and most generators look at its last bits only. Bisection alone would go from one
// lucky remainder to the next.
func (s *shrinker) keepLastBits(i int) {
	if s.best[i].Value < 1<<16 {
		return
	}
	for bits := 1; bits <= 16; bits++ {
		candidate := slices.Clone(s.best)
		candidate[i].Value &= 1<<bits - 1
		if v := candidate[i].Value; v > 0 && v>>(bits-1) > 0 && s.try(candidate) {
			return
		}
	}
}
