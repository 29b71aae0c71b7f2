package reports

import (
	"fmt"
	"strings"
	"testing"

	"github.com/wavetank/wavetank/internal/story"
)

// tried is a campaign in which many lines sent requests.
func tried(lines int) *story.Result {
	r := &story.Result{Test: "T"}
	for i := range lines {
		line := fmt.Sprintf("internal/controller/a.go:%d", 10+i)
		update := story.CallSite{Source: line, Verb: "update", Object: "Pod"}
		r.Sites = append(r.Sites, story.SiteTotal{CallSite: update, Sent: 5, Struck: []story.Strike{
			{Fault: "Crash before", Opportunities: 5, Injected: i},
			{Fault: "Crash after", Opportunities: 5, Injected: 2},
			{Fault: story.StaleReads, Opportunities: 5, Injected: 1},
		}})
	}
	get := story.CallSite{Source: "a.go:1", Verb: "get", Object: "Pod"}
	r.Sites = append(r.Sites, story.SiteTotal{CallSite: get, Sent: 1})
	return r
}

// A terminal shows ten lines, the worst of the campaign first.
func TestSitesHaveTenLines(t *testing.T) {
	text := Sites(tried(30))
	lines := strings.Split(strings.TrimSpace(text), "\n")
	if len(lines) != 10 || !strings.Contains(lines[0], "1 of 90 fields are 0") ||
		strings.Join(strings.Fields(lines[2]), " ") != "controller/a.go:10 update Pod 5 0/2 1" ||
		!strings.HasPrefix(lines[9], "and 24 more") {
		t.Errorf("the table is\n%s", text)
	}
	if text := Sites(tried(0)); !strings.Contains(text, "a.go:1 get Pod") {
		t.Errorf("a line without faults is left out:\n%s", text)
	}
	if text := Sites(&story.Result{}); text != "" {
		t.Errorf("nothing was sent, and the table is\n%s", text)
	}
}

// Each controller has five lines, the last of which counts the rest.
func TestUnreachedHasFiveLinesForEachController(t *testing.T) {
	r := &story.Result{}
	for _, controller := range []string{"A", "B"} {
		for i := range 7 {
			declared, line := fmt.Sprintf("%s.go:%d", controller, i), fmt.Sprintf("%s.go:%d", controller, i+1)
			r.Calls = append(r.Calls, story.SourceCall{Controller: controller, Function: fmt.Sprint(controller, i),
				Declared: declared, Source: line, End: i + 1})
		}
	}
	text := Unreached(r)
	if strings.Count(text, "\n") != 12 || strings.Count(text, "and 3 more functions") != 2 {
		t.Errorf("unreached are\n%s", text)
	}
}

// The page frames fields that are 0, and tells them from those that have no opportunity.
func TestPageOfSites(t *testing.T) {
	r := tried(1)
	r.Calls = []story.SourceCall{{Controller: "R", Function: "finalize", Declared: "a.go:7", Source: "a.go:8", End: 8}}
	r.Runs, r.Objects = 20, []story.ObjectTotal{{Object: "Tenant blue", Runs: 20, Failure: "no secret", Required: true}}
	page, err := campaignPage(r, nil, "")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`title="0 of 5 opportunities">0</td>`, `title="2 of 5 opportunities">2</td>`,
		`<td class="num">–</td>`, "1 of 3 fields are 0", "finalize never sent its write (line 8)",
		"Tenant blue never became ready: no secret"} {
		if !strings.Contains(string(page), want) {
			t.Errorf("the page has no %q", want)
		}
	}
}
