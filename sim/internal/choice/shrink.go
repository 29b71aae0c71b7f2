package choice

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// Shrink looks for a shorter choice sequence that fails in the same way. fails runs a candidate. It
// returns the part of the candidate that the run came to, and whether the run failed as the
// original did.
//
// The result is a local minimum unless the time runs out: without any one of its entries, or with
// any one value lowered by one, the run does not fail. Shrink also returns the number of runs, and
// whether the time was up.
func Shrink(
	t Sequence, limit time.Duration, fails func(Sequence) (used Sequence, same bool),
) (best Sequence, runs int, cut bool) {
	s := &shrinker{best: t, fails: fails, until: time.Now().Add(limit), tried: map[string]bool{}}
	for {
		before := s.best.key()
		s.kinds()
		s.spans()
		s.lower()
		if up := s.timeIsUp(); up || s.best.key() == before {
			return s.best, s.runs, up
		}
	}
}

type shrinker struct {
	best  Sequence
	fails func(Sequence) (Sequence, bool)
	until time.Time
	runs  int
	tried map[string]bool // candidates that did not fail
}

func (s *shrinker) timeIsUp() bool { return time.Now().After(s.until) }

func (t Sequence) key() string {
	var b strings.Builder
	for _, e := range t {
		for _, part := range []string{string(e.Kind), e.Of, e.Who, e.Verb, e.What, strconv.Itoa(e.Nth),
			strconv.Itoa(e.Value)} {
			b.WriteString(part)
			b.WriteByte('\n')
		}
	}
	return b.String()
}

func (s *shrinker) try(t Sequence) bool {
	k := t.key()
	if s.timeIsUp() || s.tried[k] {
		return false
	}
	s.runs++
	used, same := s.fails(t)
	if !same {
		s.tried[k] = true
		return false
	}
	if len(used) > len(t) { // cannot be: what is not in a sequence is a default
		used = t
	}
	s.best = used
	return true
}

// kinds tries to take the default for all choices of one group at once.
func (s *shrinker) kinds() {
	var seen []group
	for _, e := range s.best {
		if !slices.Contains(seen, e.group()) {
			seen = append(seen, e.group())
		}
	}
	for _, g := range seen {
		var without Sequence
		for _, e := range s.best {
			if e.group() != g {
				without = append(without, e)
			}
		}
		if len(without) < len(s.best) {
			s.try(without)
		}
	}
}

// spans removes adjacent entries, many at a time first, until no single entry can be removed.
func (s *shrinker) spans() {
	for n := len(s.best) / 2; n >= 1; n /= 2 {
		for i := len(s.best) - n; i >= 0 && !s.timeIsUp(); {
			if i+n > len(s.best) {
				i = len(s.best) - n
				continue
			}
			without := append(append(Sequence(nil), s.best[:i]...), s.best[i+n:]...)
			if s.try(without) {
				i = min(i, len(s.best)) - n
			} else {
				i -= max(1, n/2)
			}
		}
	}
	for again := true; again && !s.timeIsUp(); {
		again = false
		for i := len(s.best) - 1; i >= 0; i = min(i, len(s.best)) - 1 {
			without := append(append(Sequence(nil), s.best[:i]...), s.best[i+1:]...)
			again = s.try(without) || again
		}
	}
}

// lower makes values smaller, by bisection: with what remains the run fails, and with one less it
// does not.
func (s *shrinker) lower() {
	for i := 0; i < len(s.best); i++ {
		s.keepLastBits(i)
		id, no := s.best[i].ID, 0 // 0 does not fail: spans has tried that
		for i < len(s.best) && s.best[i].ID == id && s.best[i].Value > no+1 && !s.timeIsUp() {
			v := no + (s.best[i].Value-no)/2
			if no == 0 {
				v = 1 // most often the smallest value fails
			}
			candidate := append(Sequence(nil), s.best...)
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
		candidate := append(Sequence(nil), s.best...)
		candidate[i].Value &= 1<<bits - 1
		if v := candidate[i].Value; v > 0 && v>>(bits-1) > 0 && s.try(candidate) {
			return
		}
	}
}
