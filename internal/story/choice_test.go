package story

import (
	"strings"
	"testing"
)

// Each choice as a story file has it, as messages show it, and back from the file.
func TestChoicesInAStoryFile(t *testing.T) {
	for _, c := range []struct {
		line, id string
		choice   Choice
	}{
		{"3 next #4", "next #4", Choice{ID{Label{Kind: Next}, 3}, 3}},
		{"1 request op: patch Pod default/a #1", "request op patch Pod default/a #1",
			Choice{ID{Label{Kind: Request, Who: "op", Verb: "patch", What: "Pod default/a"}, 0}, 1}},
		{"1 reply op: GET git.example/x #1", "reply op GET git.example/x #1",
			Choice{ID{Label{Kind: Reply, Who: "op", Verb: "GET", What: "git.example/x"}, 0}, 1}},
		{`1 inject WebhookDown(5m0s): "": a: b #1`, "WebhookDown(5m0s) a: b #1",
			Choice{ID{Label{Kind: Inject, Of: "WebhookDown(5m0s)", What: "a: b"}, 0}, 1}},
		{"1 inject SlowNamespace(2s): pass shop #1", "SlowNamespace(2s) pass shop #1",
			Choice{ID{Label{Kind: Inject, Of: "SlowNamespace(2s)", What: "pass shop"}, 0}, 1}},
		{"2 step kubelet pod #7 of a #2", "step kubelet pod #7 of a #2",
			Choice{ID{Label{Kind: Step, What: "kubelet pod #7 of a"}, 1}, 2}},
		{"2 arm Crash(op) in op #1", "fault Crash(op) in op #1",
			Choice{ID{Label{Kind: Arm, Of: "Crash", What: "(op) in op"}, 0}, 2}},
		{"1 arm LostReply of Pod #1", "fault LostReply of Pod #1",
			Choice{ID{Label{Kind: Arm, Of: "LostReply", What: " of Pod"}, 0}, 1}},
		{"1 arm LostReply #1", "fault LostReply #1", Choice{ID{Label{Kind: Arm, Of: "LostReply"}, 0}, 1}},
		{"1 inject Pause(op, 30s): before op: get Pod a #2", "Pause(op, 30s) before op get Pod a #2",
			Choice{ID{Label{Kind: Inject, Of: "Pause(op, 30s)", Who: "before op", Verb: "get", What: "Pod a"}, 1}, 1}},
		{`1 inject "Rejected(\"no: luck\")": op: create Pod a #1`, `Rejected("no: luck") op create Pod a #1`,
			Choice{ID{
				Label{Kind: Inject, Of: `Rejected("no: luck")`, Who: "op", Verb: "create", What: "Pod a"}, 0,
			}, 1}},
		{"1 builtin garbage-collector: next dependent of a #1", "garbage-collector next dependent of a #1",
			Choice{ID{Label{Kind: Builtin, Of: "garbage-collector", What: "next dependent of a"}, 0}, 1}},
		{"7 draw size: 2 #1", "draw size/2 #1", Choice{ID{Label{Kind: Draw, Of: "size", What: "2"}, 0}, 7}},
		{`7 draw "a: b": 2 #1`, "draw a: b/2 #1", Choice{ID{Label{Kind: Draw, Of: "a: b", What: "2"}, 0}, 7}},
		{"7 names #1", "names #1", Choice{ID{Label{Kind: Names}, 0}, 7}},
		{"7 names far.example #1", "names in far.example #1",
			Choice{ID{Label{Kind: Names, What: "far.example"}, 0}, 7}},
		{"7 seed #1", "seed #1", Choice{ID{Label{Kind: Seed}, 0}, 7}},
		{"7 seed op #1", "seed op #1", Choice{ID{Label{Kind: Seed, What: "op"}, 0}, 7}},
		{"1 option op workers #1", "option op workers #1", Choice{ID{Label{Kind: Option, What: "op workers"}, 0}, 1}},
		{"1 endpoint v.example #1", "endpoint of v.example #1",
			Choice{ID{Label{Kind: Endpoint, What: "v.example"}, 0}, 1}},
	} {
		if got := c.choice.Line(); got != c.line {
			t.Errorf("the line is %q; expected %q", got, c.line)
		}
		if got := c.choice.String(); got != c.id {
			t.Errorf("the ID is %q; expected %q", got, c.id)
		}
		if got, err := parseChoice(c.line); err != nil || got != c.choice {
			t.Errorf("%q reads as %+v (%v); expected %+v", c.line, got, err, c.choice)
		}
	}
}

func TestBadChoicesSayWhatIsWrong(t *testing.T) {
	for line, want := range map[string]string{
		"":                             "positive value",
		"0 next #1":                    "positive value",
		"next #1":                      "positive value",
		"1 next":                       "occurrence",
		"1 next #0":                    "occurrence",
		"1 next #one":                  "occurrence",
		"1 lag op Pod #1":              `unknown kind of choice, "lag"`,
		"1 inject Crash(op) before #1": "before a colon",
		"1 draw size #1":               "before a colon",
	} {
		if _, err := parseChoice(line); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v; expected an error with %q", line, err, want)
		}
	}
}
