package campaign

import (
	"slices"

	"github.com/wavetank/wavetank/internal/story"
	"github.com/wavetank/wavetank/sim/internal/choice"
	"github.com/wavetank/wavetank/sim/internal/run"
	"github.com/wavetank/wavetank/sim/result"
)

// player plays stories.
type player struct {
	settings Settings
	runs     *executor
	verifier *verifier
}

// storyReplay is what the replay of a story came to.
type storyReplay struct {
	*run.Result
	choices choice.Sequence // of the story, with the labels of the choices that were moved
	unused  choice.Sequence // the choices that the run did not ask for
	moves   [][2]string     // the choices that were moved, and where to
	near    []string        // lines that may take the place of those of lost faults
}

// replay plays the choices of a story. If the run does not come to some of the faults, it plays
// them again with those faults at the writes of the same effect.
func (p *player) replay(s *story.Story) storyReplay {
	source := choice.Play(s.Choices)
	r := storyReplay{Result: p.play(source, s), choices: s.Choices, unused: source.Unused()}
	if p.settings.ofCatalogue() || len(lostFaults(r.unused)) == 0 || stillFails(s, r.Ending) {
		return r
	}
	m := newMover(s.Choices, r.unused)
	if m == nil {
		return r
	}
	res := p.play(m, s)
	r.near = m.near()
	if moves := m.moves(); len(moves) > 0 && (!r.Ending.Failed() || stillFails(s, res.Ending)) {
		r.Result, r.choices, r.unused, r.moves = res, m.sequence(s.Choices), m.Unused(), moves
	}
	return r
}

// used are the choices that the run asked for.
func (s storyReplay) used() choice.Sequence {
	return slices.DeleteFunc(slices.Clone(s.choices), func(e story.Choice) bool { return slices.Contains(s.unused, e) })
}

// pairsPlayed is how often a story of two runs that differed is played before they are taken for
// alike.
const pairsPlayed = 10

// play runs a story: once, or as often as it takes where it is about runs that differ.
func (p *player) play(source choice.Source, s *story.Story) *run.Result {
	res := p.runs.tell(source)
	if s.Kind != result.Nondeterminism.String() {
		return res
	}
	for i := 1; i < pairsPlayed && !res.Ending.Failed(); i++ {
		switch d, _ := p.verifier.runAgain(res); {
		case d != nil && d.Text:
			p.settings.Host.Logf("sim: two runs of a story differ only in the text of an error, "+
				"which breaks nothing: %s", d.What)
		case d != nil:
			res.Ending = d.ending()
		}
	}
	return res
}

// stillFails reports whether what an earlier process has found can be had again.
func (p *player) stillFails(f story.Finding) bool {
	s, err := story.Decode([]byte(f.Story))
	if err != nil || f.Kind == result.TestFailed.String() {
		return true // nothing says that it cannot
	}
	defer p.runs.ignore(s.Ignored)()
	return p.play(choice.Play(s.Choices), s).Ending.Failed()
}
