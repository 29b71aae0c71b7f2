package campaign

import (
	"github.com/wavetank/wavetank/sim/internal/choice"
	"github.com/wavetank/wavetank/story"
)

func storyChoice(e choice.Entry) story.Choice {
	return story.Choice{Kind: story.Kind(e.Kind), Of: e.Of, Who: e.Who, Verb: e.Verb, What: e.What, Nth: e.Nth,
		Value: e.Value}
}

func tapeOf(s *story.Story) choice.Sequence {
	tape := make(choice.Sequence, len(s.Choices))
	for i, e := range s.Choices {
		label := choice.Label{Kind: choice.Kind(e.Kind), Of: e.Of, Who: e.Who, Verb: e.Verb, What: e.What}
		tape[i] = choice.Entry{ID: choice.ID{Label: label, Nth: e.Nth}, Value: e.Value}
	}
	return tape
}

func storyChoices(tape choice.Sequence) (out []story.Choice) {
	for _, e := range tape {
		out = append(out, storyChoice(e))
	}
	return out
}
