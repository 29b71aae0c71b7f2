package choice

import (
	"strings"
	"time"
)

// Shrink looks for a shorter tape that fails in the same way. fails runs a candidate and returns the part of it that
// the run asked for, and whether the run broke as the original did. The result is local-minimal unless the time runs out: without
// any one of its entries, or with any one value lowered by one, the run no longer breaks. It returns the number of runs made, and
// whether the time was up.
func Shrink(t Tape, limit time.Duration, fails func(Tape) (used Tape, same bool)) (best Tape, runs int, cut bool) {
	s := &shrinker{best: t, fails: fails, until: time.Now().Add(limit), tried: map[string]bool{}}
	for {
		before := s.best.key()
		s.classes()
		s.spans()
		s.lower()
		if late := s.late(); late || s.best.key() == before {
			return s.best, s.runs, late
		}
	}
}

type shrinker struct {
	best  Tape
	fails func(Tape) (Tape, bool)
	until time.Time
	runs  int
	tried map[string]bool // candidates that did not work
}

func (s *shrinker) late() bool { return time.Now().After(s.until) }

func (t Tape) key() string {
	var b strings.Builder
	for _, e := range t {
		b.WriteString(e.ID)
		b.WriteByte('=')
		b.WriteString(itoa(e.Value))
		b.WriteByte('\n')
	}
	return b.String()
}

func (s *shrinker) try(t Tape) bool {
	k := t.key()
	if s.late() || s.tried[k] {
		return false
	}
	s.runs++
	used, same := s.fails(t)
	if !same {
		s.tried[k] = true
		return false
	}
	if len(used) > len(t) { // cannot be: what a tape does not mention is dull
		used = t
	}
	s.best = used
	return true
}

// classes tries to make all choices of one sort dull at once: the first word of a label is its sort.
func (s *shrinker) classes() {
	sort := func(e Entry) string {
		w, _, _ := strings.Cut(e.ID, " ")
		return w
	}
	var seen []string
	for _, e := range s.best {
		known := false
		for _, w := range seen {
			known = known || w == sort(e)
		}
		if !known {
			seen = append(seen, sort(e))
		}
	}
	for _, w := range seen {
		var without Tape
		for _, e := range s.best {
			if sort(e) != w {
				without = append(without, e)
			}
		}
		if len(without) < len(s.best) {
			s.try(without)
		}
	}
}

// spans deletes runs of entries, long ones first, until no single entry can go.
func (s *shrinker) spans() {
	for n := len(s.best) / 2; n >= 1; n /= 2 {
		for i := len(s.best) - n; i >= 0 && !s.late(); {
			if i+n > len(s.best) {
				i = len(s.best) - n
				continue
			}
			without := append(append(Tape(nil), s.best[:i]...), s.best[i+n:]...)
			if s.try(without) {
				i = min(i, len(s.best)) - n
			} else {
				i -= max(1, n/2)
			}
		}
	}
	for again := true; again && !s.late(); {
		again = false
		for i := len(s.best) - 1; i >= 0; i = min(i, len(s.best)) - 1 {
			without := append(append(Tape(nil), s.best[:i]...), s.best[i+1:]...)
			again = s.try(without) || again
		}
	}
}

// lower makes values smaller, by bisection: what remains works, and its predecessor does not.
func (s *shrinker) lower() {
	for i := 0; i < len(s.best); i++ {
		s.cut(i)
		id, no := s.best[i].ID, 0 // 0 does not work: spans has tried that
		for i < len(s.best) && s.best[i].ID == id && s.best[i].Value > no+1 && !s.late() {
			v := no + (s.best[i].Value-no)/2
			if no == 0 {
				v = 1 // most often the least will do
			}
			candidate := append(Tape(nil), s.best...)
			candidate[i].Value = v
			if !s.try(candidate) {
				no = v
			}
		}
	}
}

// cut keeps the last few bits of a large value. Such a value is a random word of [sim.Draw], and most generators look at its last
// bits: bisection alone would go from one lucky remainder to the next.
func (s *shrinker) cut(i int) {
	if s.best[i].Value < 1<<16 {
		return
	}
	for bits := 1; bits <= 16; bits++ {
		candidate := append(Tape(nil), s.best...)
		candidate[i].Value &= 1<<bits - 1
		if v := candidate[i].Value; v > 0 && v>>(bits-1) > 0 && s.try(candidate) {
			return
		}
	}
}
