package choice

import "github.com/wavetank/wavetank/internal/story"

// Sequence is a choice sequence: the choices of a run other than the defaults, in the order in
// which they were made.
type Sequence []story.Choice

// Drawn are the choices of values that the scenario draws.
func (s Sequence) Drawn() (out Sequence) {
	for _, e := range s {
		if e.Kind == story.Draw {
			out = append(out, e)
		}
	}
	return out
}

// Continue returns a source that gives answers that were given before, in their order, and then
// asks another source.
func Continue(answers []Answer, then Source) Source {
	return Func(func(p Point) int {
		if len(answers) == 0 {
			return then.Choose(p)
		}
		v := answers[0].Value
		answers = answers[1:]
		return v
	})
}

// Redraw returns a source that answers as another one, except that the seeds of all random values
// are not the default ones.
func Redraw(source Source) Source {
	return Func(func(p Point) int {
		if p.Kind == story.Seed || p.Kind == story.Names {
			return p.N - 1
		}
		return source.Choose(p)
	})
}

// Player replays a choice sequence. It takes the default for choices that are not in the sequence.
type Player struct {
	values map[story.ID]int
	order  Sequence
	used   map[story.ID]bool
}

// Play returns a source that replays a choice sequence.
func Play(t Sequence) *Player {
	p := &Player{values: make(map[story.ID]int, len(t)), order: t, used: map[story.ID]bool{}}
	for _, e := range t {
		p.values[e.ID] = e.Value
	}
	return p
}

// Choose implements [Source].
func (p *Player) Choose(q Point) int {
	if len(p.values) == 0 {
		return 0
	}
	id := q.ID()
	v, ok := p.values[id]
	if ok {
		p.used[id] = true
	}
	return v
}

// Unused are the choices of the sequence that the run did not come to: the code under test has
// drifted from the recording.
func (p *Player) Unused() Sequence {
	var t Sequence
	for _, e := range p.order {
		if !p.used[e.ID] {
			t = append(t, e)
		}
	}
	return t
}
