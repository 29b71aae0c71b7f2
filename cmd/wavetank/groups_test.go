package main

import (
	"strings"
	"testing"

	"github.com/wavetank/wavetank/internal/story"
)

// The summary of wavetank ci counts and lists causes as the other reports do: one bug under several
// faults is one.
func TestTheSummaryOfCIGroupsByCause(t *testing.T) {
	for says, causes := range map[string][]string{
		"**1 cause**":  {"p, under Crash", "p, under LostReply", "p, under no fault"},
		"**2 causes**": {"p, decided at a.go:7", "p, decided at a.go:8"},
	} {
		r := &story.Result{Test: "TestApp", Package: "example.com/app", Runs: 100, Complete: true, Shards: 1}
		for n, cause := range causes {
			r.Found(story.Finding{Cause: cause, Kind: "always", Property: "p", Count: 1, First: n})
		}
		text, err := (&options{report: t.TempDir()}).markdown([]*story.Result{r})
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(text, "| 100 | "+says+" |") ||
			strings.Count(text, " × p, ") != strings.Count(says, "causes")+1 {
			t.Errorf("not %s:\n%s", says, text)
		}
	}
}
