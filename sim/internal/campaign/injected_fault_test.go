package campaign

import (
	"testing"

	"github.com/wavetank/wavetank/sim/result"
	"github.com/wavetank/wavetank/story"
)

// A cause names the faults that a story injects, with their arguments and without their scope. What
// is only armed is not named.
func TestACauseNamesTheInjectedFaults(t *testing.T) {
	armed := []story.Choice{
		{Kind: story.Arm, Of: "StaleCache", What: "(30s) in op"}, {Kind: story.Arm, Of: "Pause", What: "(a, 1m0s)"},
		{Kind: story.Arm, Of: "Pause", What: "(a, 2m0s)"}, {Kind: story.Next, Nth: 6},
		{Kind: story.Request, Who: "op", Verb: "patch", What: "ConfigMap default/a"},
	}
	stale := story.Choice{Kind: story.Inject, Of: "StaleCache(30s)", Who: "op", Verb: "MODIFIED"}
	pause := story.Choice{Kind: story.Inject, Of: "Pause(a, 2m0s)", Who: "before a", Verb: "patch"}
	for want, injected := range map[string][]story.Choice{
		"p, under no fault":                           nil,
		"p, under Pause(a, 2m0s) and StaleCache(30s)": {stale, pause, stale},
	} {
		f := &result.Failure{Story: &story.Story{Choices: append(armed, injected...)}}
		f.Property = "p"
		if got := causeOf(f); got != want {
			t.Errorf("the cause is %q; expected %q", got, want)
		}
	}
}
