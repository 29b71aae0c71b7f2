package reports

import (
	"fmt"
	"html/template"
	"os"
	"strings"
	"testing"

	"github.com/wavetank/wavetank/internal/story"
)

// campaignOf is the result of a campaign with a finding for each of some causes.
func campaignOf(causes ...string) *story.Result {
	r := &story.Result{Test: "TestApp", Package: "example.com/app", Runs: 100, Complete: true, Shards: 1}
	for n, cause := range causes {
		s := &story.Story{Test: "TestApp", Package: r.Package, Kind: "always", Property: "p",
			Message: fmt.Sprint("broken ", n)}
		r.Found(story.Finding{Cause: cause, Kind: "always", Property: "p", Count: 1, First: n, Steps: 9 + n,
			Story: string(s.Encode())})
	}
	return r
}

// One bug that was found under several faults is one failure in the index, on the campaign's page,
// in JUnit and in annotations. Two bugs are two.
func TestGroupsAreTheSameEverywhere(t *testing.T) {
	one := []string{"p, under Crash", "p, under Crash and LostReply", "p, under no fault"}
	two := []string{"p, decided at a.go:7", "p, decided at a.go:8", "p, decided at a.go:7"}
	for want, causes := range map[int][]string{1: one, 2: two} {
		r := campaignOf(causes...)
		dir := t.TempDir()
		if err := r.Write(dir); err != nil {
			t.Fatal(err)
		}
		file, err := WriteIndex(dir, Front{Title: "All"})
		if err != nil {
			t.Fatal(err)
		}
		index, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		says := map[int]string{1: "1 thing is wrong", 2: "2 things are wrong"}[want]
		if !strings.Contains(string(index), says) {
			t.Errorf("the index of %d bugs does not say %q", want, says)
		}
		page, err := campaignPage(r, nil, "")
		if err != nil {
			t.Fatal(err)
		}
		junit, err := JUnit([]*story.Result{r})
		if err != nil {
			t.Fatal(err)
		}
		explored := campaignOf(causes...)
		explored.Explored = true
		properties, err := JUnit([]*story.Result{explored})
		if err != nil {
			t.Fatal(err)
		}
		for what, n := range map[string]int{
			"the campaign's page":         strings.Count(string(page), "broken "),
			"JUnit":                       strings.Count(string(junit), "broken "),
			"the annotations":             strings.Count(Annotations("example.com", []*story.Result{r}), "::error "),
			"JUnit of what Explore found": strings.Count(string(properties), `name="found"`),
		} {
			if n != want {
				t.Errorf("%s has %d causes for %d bugs", what, n, want)
			}
		}
		if several := strings.Contains(string(junit), "2 causes, the first: "); several != (want == 2) {
			t.Errorf("JUnit of %d bugs: %s", want, junit)
		}
	}
}

// An index of bugs that were planted does not claim that something is wrong. It begins with what
// the caller puts first.
func TestIndexOfPlantedBugs(t *testing.T) {
	dir := t.TempDir()
	if err := campaignOf("p, under Crash").Write(dir); err != nil {
		t.Fatal(err)
	}
	file, err := WriteIndex(dir, Front{Title: "Demo", Planted: true, First: []template.HTML{"<h2>Threads</h2>"}})
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(file)
	if err != nil || strings.Contains(string(page), "wrong<") ||
		!strings.Contains(string(page), "1 failure of operators with known bugs") {
		t.Errorf("%v\n%s", err, page)
	}
	if first, _, _ := strings.Cut(string(page), "What was found"); !strings.Contains(first, "<h2>Threads</h2>") {
		t.Error("it does not begin with what the caller puts first")
	}
}
