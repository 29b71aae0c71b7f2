package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wavetank/wavetank/internal/story"
)

// Stories that no longer fit are renewed or removed by one command.
//
//make:campaigns
func TestStoriesAreRenewedAndRemoved(t *testing.T) {
	tidyStories(t)
	kept := filepath.Join(shop, "testdata", "sim", "TestBreaks")
	if code, out := do(t, t.Context(), "run", shop, "--run", "^TestBreaks$", "--runs", "60", "--procs", "1",
		"--report", t.TempDir()); code != exitBroke {
		t.Fatalf("run: exit code %d:\n%s", code, out)
	}
	paths, err := story.List(kept)
	if err != nil || len(paths) == 0 {
		t.Fatalf("no story was kept: %v", err)
	}
	for _, other := range paths[1:] {
		if err := os.Remove(other); err != nil {
			t.Fatal(err)
		}
	}
	current, err := story.Read(paths[0])
	if err != nil {
		t.Fatal(err)
	}
	// The others are named by hand, so that they keep their names.
	write := func(name string, change func(*story.Story)) string {
		s := *current
		change(&s)
		path := filepath.Join(kept, name+".txtar")
		if err := os.WriteFile(path, s.Encode(), 0o666); err != nil {
			t.Fatal(err)
		}
		return path
	}
	renamed := write("renamed", func(s *story.Story) { s.Property = "a greeting is for ever" })
	gone := write("gone", func(s *story.Story) {
		s.Property, s.Site, s.Choices = "nobody is greeted", "other_test.go:1", nil
	})
	orphan := write("orphan", func(s *story.Story) {
		s.Test, s.Replay = "TestThatIsNoMore", strings.ReplaceAll(s.Replay, "TestBreaks", "TestThatIsNoMore")
	})
	code, out := do(t, t.Context(), "stories", "renew", kept)
	for _, want := range []string{
		relative(paths[0]) + ": fits, and its property is still violated\n", relative(renamed) + ": renewed: ",
		relative(gone) + ": cannot be renewed: ", "the scenario has no always \"nobody is greeted\"",
		relative(orphan) + ": ", "its command selects no test",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("renew does not say %q:\n%s", want, out)
		}
	}
	if code != exitBroke {
		t.Errorf("renew: exit code %d, expected %d, as some stories cannot be renewed", code, exitBroke)
	}
	if s, err := story.Read(renamed); err != nil || s.Property != current.Property {
		t.Errorf("the renewed story is about %+v (%v)", s, err)
	}
	if _, out := do(t, t.Context(), "stories", "remove", gone, renamed); !strings.Contains(out,
		relative(gone)+": removed: ") || !strings.Contains(out, relative(renamed)+": fits") {
		t.Errorf("remove:\n%s", out)
	}
	if _, err := os.Stat(gone); err == nil {
		t.Error("the outdated story is still there")
	}
	for _, path := range []string{paths[0], renamed, orphan} {
		if _, err := os.Stat(path); err != nil {
			t.Errorf("%s was removed: %v", path, err)
		}
	}
}
