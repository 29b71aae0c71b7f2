package demo

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wavetank/wavetank/internal/story"
	"github.com/wavetank/wavetank/scenarios/internal/matrix"
	"github.com/wavetank/wavetank/sim/result"
)

// The story of a thread has the bug, where it was found, the fix that is not enough and why, and
// the fix, in this order. What was not run is left out.
func TestThreadTellsFromTheBugToTheFix(t *testing.T) {
	s := show{scenario: "a", out: newOutput(t.TempDir(), "a"), failures: map[string]*result.Failure{}}
	summary := &matrix.Summary{Folder: "a", Thread: "[owner/a #1](https://example.com)", Reports: "It breaks.",
		Variants: []string{"V0", "V1", "V2"}, Is: map[string]string{"V0": "it is old.", "V1": "it is half a fix."},
		Passing: map[string]matrix.PassingOf{"V2": {Cells: 7, Least: 20, Most: 300}}}
	if err := os.MkdirAll(s.out.pages, 0o777); err != nil {
		t.Fatal(err)
	}
	read := func() string {
		t.Helper()
		if err := s.writeThread(summary, "V1", "V2"); err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(filepath.Join(s.out.pages, threadFile))
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	if page := read(); !strings.Contains(page, "It breaks.") || strings.Contains(page, "run 0") {
		t.Errorf("before anything was run the page has\n%s", page)
	}
	for _, v := range summary.Variants {
		row := Row{Variant: v, Case: "case of " + v, Property: "property of " + v, Outcome: "passed", Runs: 100}
		if v != "V2" {
			row.Outcome, row.Runs = "failed", 12
			f := &result.Failure{Page: "out/" + v + ".html", Story: &story.Story{Why: []string{"Why of " + v + "."}}}
			f.Message = "message of " + v
			s.failures[v] = f
		}
		s.rows = append(s.rows, row)
	}
	page := read()
	for _, part := range []string{`<a href="https://example.com">owner/a #1</a>`, "It breaks.", "Found in run 12",
		"it is old.", "message of V0", `<a href="a/V0.html">`, "it is half a fix.",
		"case of V1", "message of V1. Why of V1.",
		`<a href="a/V1.html">`, "passed in 100 runs", "7 cases", "20 to 300 runs", `<a href="a/V0.beside.html">`} {
		i := strings.Index(page, part)
		if i < 0 {
			t.Fatalf("%q is not there, or before what precedes it:\n%s", part, page)
		}
		page = page[i:]
	}
}
