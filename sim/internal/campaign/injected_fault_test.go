package campaign

import (
	"testing"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/internal/story"
	"github.com/wavetank/wavetank/reports"
	"github.com/wavetank/wavetank/sim/result"
)

func chosen(l story.Label) story.Choice { return story.Choice{ID: story.ID{Label: l}} }

// Runs that violate a property by the same line of the program have one cause, whatever the faults.
func TestCauseNamesTheLineThatDecided(t *testing.T) {
	ref := history.Ref{Kind: "Pod", Name: "web"}
	for _, fault := range []string{"Crash(op)", "LostReply"} {
		injected := chosen(story.Label{Kind: story.Inject, Of: fault})
		f := &result.Failure{Story: &story.Story{Choices: []story.Choice{injected}}}
		f.Property, f.History = "one pod", &history.History{}
		f.History.Add(history.Event{Kind: history.Request, Process: "op", Incarnation: 1, Verb: "create", Ref: ref,
			Code: 201, Source: "op/op.go:7", Changes: []history.Change{{Type: "ADDED", Ref: ref, Revision: 1}}})
		f.History.Add(history.Event{Kind: history.Violation, Note: "there are 2 pods"})
		f.Line = reports.CauseOf(f.History, f.Story.Choices).Line
		if got, want := causeOf(f), "one pod, decided at op/op.go:7"; got != want {
			t.Errorf("%s: the cause is %q; expected %q", fault, got, want)
		}
	}
}

// If no line is known, a cause names the faults that a story injects, with their arguments and
// without their scope. What is only armed is not named.
func TestACauseNamesTheInjectedFaults(t *testing.T) {
	armed := []story.Choice{
		chosen(story.Label{Kind: story.Arm, Of: "StaleCache", What: "(30s) in op"}),
		chosen(story.Label{Kind: story.Arm, Of: "Pause", What: "(a, 1m0s)"}),
		chosen(story.Label{Kind: story.Arm, Of: "Pause", What: "(a, 2m0s)"}),
		{ID: story.ID{Label: story.Label{Kind: story.Next}, Nth: 6}},
		chosen(story.Label{Kind: story.Request, Who: "op", Verb: "patch", What: "ConfigMap default/a"}),
	}
	stale := chosen(story.Label{Kind: story.Inject, Of: "StaleCache(30s)", Who: "op", Verb: "MODIFIED"})
	pause := chosen(story.Label{Kind: story.Inject, Of: "Pause(a, 2m0s)", Who: "before a", Verb: "patch"})
	for want, injected := range map[string][]story.Choice{
		"p, under no fault":                           nil,
		"p, under Pause(a, 2m0s) and StaleCache(30s)": {stale, pause, stale},
	} {
		f := &result.Failure{Story: &story.Story{Choices: append(armed, injected...)}, History: &history.History{}}
		f.Property = "p"
		if got := causeOf(f); got != want {
			t.Errorf("the cause is %q; expected %q", got, want)
		}
	}
}
