package choice

// Entry is one answer that was not dull.
type Entry struct {
	ID    string // Point.ID
	Value int
}

// Tape is the answers of a run that were not dull, in the order in which they were asked. Everything else was 0.
type Tape []Entry

// Player replays a tape. Questions that the tape does not mention get the dull answer.
type Player struct {
	values map[string]int
	order  Tape
	used   map[string]bool
}

// Play returns an oracle that replays the tape.
func Play(t Tape) *Player {
	p := &Player{values: make(map[string]int, len(t)), order: t, used: map[string]bool{}}
	for _, e := range t {
		p.values[e.ID] = e.Value
	}
	return p
}

// Choose implements [Oracle].
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

// Unused is the part of the tape that was never asked for: where the code under test has drifted from the recording.
func (p *Player) Unused() Tape {
	var t Tape
	for _, e := range p.order {
		if !p.used[e.ID] {
			t = append(t, e)
		}
	}
	return t
}
