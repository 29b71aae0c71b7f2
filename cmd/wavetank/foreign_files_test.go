package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/internal/story"
	"github.com/wavetank/wavetank/reports"
)

// A report never replaces a page that another program made, and writes none if there is no result.
func TestReportReplacesOnlyItsOwnPages(t *testing.T) {
	dir := t.TempDir()
	index := filepath.Join(dir, "index.html")
	report := func(want int, says string) {
		t.Helper()
		if code, out := do(t, t.Context(), "report", dir); code != want || !strings.Contains(out, says) {
			t.Errorf("report: exit code %d, expected %d and %q:\n%s", code, want, says, out)
		}
	}
	report(exitUsage, "no result (*.json) lies below")
	if _, err := os.Stat(index); err == nil {
		t.Error("a page was written without a result")
	}
	r := &story.Result{Test: "TestX", Package: "x", Shards: 1, Complete: true, Runs: 1}
	if err := r.Write(dir); err != nil {
		t.Fatal(err)
	}
	const mine = "<!doctype html>\n<title>mine</title>\n"
	if err := os.WriteFile(index, []byte(mine), 0o666); err != nil {
		t.Fatal(err)
	}
	report(exitUsage, "was not written by Wavetank")
	if data, err := os.ReadFile(index); err != nil || string(data) != mine {
		t.Errorf("the other program's page is now %q (%v)", data, err)
	}
	if err := os.Remove(index); err != nil {
		t.Fatal(err)
	}
	report(exitHeld, "index.html")
	report(exitHeld, "index.html") // its own page is replaced

	page, err := reports.WriteRun(dir, reports.Run{Name: "a", History: &history.History{}})
	if err != nil {
		t.Fatal(err)
	}
	run := strings.TrimSuffix(page, ".html") + reports.RunSuffix
	beside := strings.TrimSuffix(page, ".html") + reports.BesideSuffix
	if err := os.WriteFile(beside, []byte(mine), 0o666); err != nil {
		t.Fatal(err)
	}
	code, out := do(t, t.Context(), "report", run, "--beside", run)
	if code != exitUsage || !strings.Contains(out, "was not written by Wavetank") {
		t.Errorf("report --beside: exit code %d:\n%s", code, out)
	}
}

// Nothing that prints what a story file says prints escape codes of it.
func TestNoEscapeCodesOfStoryFiles(t *testing.T) {
	const evil = "\x1b]0;owned\x07\u009b2J"
	dir := t.TempDir()
	s := story.Story{Test: "TestX" + evil, Package: shop, Kind: "always", Property: "p" + evil, Site: "a.go:1" + evil,
		Message: "m" + evil, Seed: "random" + evil, Replay: "go test x; rm -rf /" + evil,
		Choices: []story.Choice{
			{ID: story.ID{Label: story.Label{Kind: story.Arm, Of: evil}}, Value: 1},
			{ID: story.ID{Label: story.Label{Kind: story.Draw, Of: evil, What: "1"}}, Value: 1},
		},
		History: []string{"00:00.001    op/1             fault: " + evil}}
	path, err := s.Write(dir)
	if err != nil {
		t.Fatal(err)
	}
	r := &story.Result{Test: "TestX" + evil, Package: "x", Shards: 1, Complete: true, Runs: 1,
		Drifted:  []story.Drift{{File: evil, Violated: evil, Lost: []string{evil}}},
		Findings: []story.Finding{{Cause: "c" + evil, Kind: "always", Count: 1, Story: string(s.Encode())}}}
	if err := r.Write(filepath.Join(dir, "results")); err != nil {
		t.Fatal(err)
	}
	tidyStories(t)
	if _, err := s.Write(filepath.Join(shop, "testdata", "sim", "TestX")); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"replay", "--explain", path}, {"replay", path}, {"run", "--list", shop},
		{"export", path, "--scenario", "f", "--package", "p"},
		{"report", "--merge", filepath.Join(dir, "merged"), filepath.Join(dir, "results")},
		{"report", filepath.Join(dir, "results"), "--format", "annotations"},
		{"report", filepath.Join(dir, "results"), "--format", "junit"},
		{"report", filepath.Join(dir, "results"), "--format", "json"},
	} {
		if _, out := do(t, t.Context(), args...); strings.ContainsAny(out, "\x1b\x07\u009b") {
			t.Errorf("%s prints escape codes:\n%q", args[0], out)
		}
	}
	if _, out := do(t, t.Context(), "replay", "--explain", path); strings.Contains(out, "rm -rf") {
		t.Errorf("explain tells to run a command that wavetank replay refuses:\n%s", out)
	}
}

func TestVersion(t *testing.T) {
	if code, out := do(t, t.Context(), "--version"); code != exitHeld || !strings.Contains(out, "wavetank version ") ||
		!strings.Contains(out, "go1.") {
		t.Errorf("exit code %d:\n%s", code, out)
	}
}
