package campaign

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wavetank/wavetank/internal/story"
	"github.com/wavetank/wavetank/sim/internal/choice"
)

// Choices that arm or inject a fault are lost. Those of order and time are not.
func TestLostFaults(t *testing.T) {
	entry := func(kind story.Kind, of, what string) story.Choice {
		return story.Choice{ID: story.ID{Label: story.Label{Kind: kind, Of: of, What: what}}, Value: 1}
	}
	armed := entry(story.Arm, "Crash", "(op) in op")
	crash := entry(story.Inject, "Crash(op)", "App")
	crash.Who, crash.Verb = "before op", "update"
	rejected := entry(story.Inject, `Rejected("not in time")`, "op create App")
	order, slow := entry(story.Next, "", ""), entry(story.Request, "", "op update App")
	for name, c := range map[string]struct {
		unused choice.Sequence
		lost   []string
	}{
		"nothing":     {nil, nil},
		"schedule":    {choice.Sequence{order, slow}, nil},
		"armed":       {choice.Sequence{armed}, []string{"fault Crash(op) in op #1"}},
		"injections":  {choice.Sequence{crash, order}, []string{"Crash(op) before op update App #1"}},
		"with blanks": {choice.Sequence{rejected}, []string{`Rejected("not in time") op create App #1`}},
	} {
		if d := cmp.Diff(c.lost, lostFaults(c.unused)); d != "" {
			t.Errorf("%s (-want +got)\n%s", name, d)
		}
	}
}
