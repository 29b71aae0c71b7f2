package campaign

import (
	"testing"

	"github.com/wavetank/wavetank/sim/internal/choice"
	"github.com/wavetank/wavetank/story"
)

// Stories name the kinds of choices as the choices do.
func TestStoriesKnowEveryKindOfChoice(t *testing.T) {
	for k, want := range map[choice.Kind]story.Kind{
		choice.Next: story.Next, choice.Request: story.Request, choice.Reply: story.Reply, choice.Step: story.Step,
		choice.Handler: story.Handler,
		choice.Arm:     story.Arm, choice.Inject: story.Inject, choice.Option: story.Option,
		choice.Endpoint: story.Endpoint,
		choice.Builtin:  story.Builtin, choice.Draw: story.Draw, choice.Names: story.Names, choice.Seed: story.Seed,
	} {
		e := choice.Entry{ID: choice.ID{Label: choice.Label{Kind: k, Of: "of", Who: "who", Verb: "verb", What: "what"},
			Nth: 2}, Value: 3}
		c := storyChoice(e)
		if back := tapeOf(&story.Story{Choices: []story.Choice{c}}); c.Kind != want || back[0] != e {
			t.Errorf("%+v is %+v in a story, and then %+v", e, c, back)
		}
	}
}
