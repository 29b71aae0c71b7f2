package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/internal/story"
	"github.com/wavetank/wavetank/reports"
)

// A story file cannot make a command run another program, whatever it says of its package, its test
// and its replay command.
//
//make:campaigns
func TestHostileStoriesRunNothing(t *testing.T) {
	tidyStories(t)
	ran := filepath.Join(t.TempDir(), "ran")
	script := filepath.Join(t.TempDir(), "script")
	if err := os.WriteFile(script, []byte("#!/bin/sh\ntouch "+ran+"\n"), 0o777); err != nil {
		t.Fatal(err)
	}
	good := story.Story{Test: "TestBreaks", Package: shop, Kind: "always", Property: "p",
		Replay: "go test " + shop + " -run '^TestNone$' -sim.replay=x"}
	hostile := map[string]func(*story.Story){
		"a flag as package":         func(s *story.Story) { s.Package = "-toolexec=" + script },
		"a flag as package to test": func(s *story.Story) { s.Replay = "go test -exec=" + script + " -sim.replay=x" },
		"a program for test binaries": func(s *story.Story) {
			s.Replay = "go test " + shop + " -exec=" + script + " -run '^TestNone$' -sim.replay=x"
		},
		"another program":  func(s *story.Story) { s.Replay = script + " test x" },
		"a shell's words":  func(s *story.Story) { s.Replay = "go test " + shop + " -run '^TestNone$'; " + script },
		"a flag as test":   func(s *story.Story) { s.Test = "-exec=" + script },
		"flags of the run": func(s *story.Story) { s.Replay += " -sim.report=" + ran },
	}
	for name, change := range hostile {
		t.Run(name, func(t *testing.T) {
			s := good
			change(&s)
			path := write(t, s)
			for _, args := range [][]string{{"replay", path}, {"export", path}} {
				if _, out := do(t, t.Context(), args...); strings.Contains(out, "panic") {
					t.Errorf("%v:\n%s", args, out)
				}
				if _, err := os.Stat(ran); err == nil {
					t.Fatalf("wavetank %s has run it", args[0])
				}
			}
		})
	}
}

// Names in results and runs lead to no place outside of the directory that is given.
func TestHostileNamesStayInside(t *testing.T) {
	root := t.TempDir()
	dir := filepath.Join(root, "a", "b", "results")
	for _, name := range []string{"../../../evil", "/etc/evil", "..", "a/../../evil", strings.Repeat("x", 5000)} {
		r := &story.Result{Test: name, Package: name, Shards: 1, Complete: true, Runs: 1}
		if err := r.Write(dir); err != nil {
			t.Fatal(err)
		}
		if _, err := reports.WriteRun(dir, reports.Run{Name: name, History: &history.History{}}); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{{"report", dir}, {"report", dir, "--format", "junit"}, {"merge", dir}} {
		if code, out := do(t, t.Context(), args...); code != exitHeld && code != exitUsage {
			t.Errorf("%v: exit code %d:\n%s", args, code, out)
		}
	}
	_ = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() && !strings.HasPrefix(path, dir) {
			t.Errorf("%s was written (%v)", path, err)
		}
		return nil
	})
}

// What a story says does not become markup of a page.
func TestHostileTextIsNoMarkup(t *testing.T) {
	const evil = `</script><script>alert(1)</script><img src=x onerror=alert(1)>`
	h := &history.History{Events: []history.Event{{Kind: history.Fault, Process: evil, Note: evil}}}
	dir := t.TempDir()
	page, err := reports.WriteRun(dir, reports.Run{Name: evil, File: evil, History: h,
		Story: &story.Story{Test: evil, Package: evil, Kind: "always", Property: evil, Message: evil, Replay: evil}})
	if err != nil {
		t.Fatal(err)
	}
	r := &story.Result{Test: evil, Package: evil, Shards: 1, Complete: true, Runs: 1}
	if err := r.Write(dir); err != nil {
		t.Fatal(err)
	}
	if code, out := do(t, t.Context(), "report", dir); code != exitHeld {
		t.Fatal(out)
	}
	pages, _ := filepath.Glob(filepath.Join(dir, "*.html"))
	for _, path := range append(pages, page) {
		if html, err := os.ReadFile(path); err != nil || strings.Contains(string(html), "<script>alert") ||
			strings.Contains(string(html), "<img src=x") {
			t.Errorf("%s has the text as markup (%v)", path, err)
		}
	}
}
