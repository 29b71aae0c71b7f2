package campaign_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/internal/story"
	"github.com/wavetank/wavetank/reports"
	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/internal/campaign"
	"github.com/wavetank/wavetank/sim/internal/simtest"
	"github.com/wavetank/wavetank/sim/result"
)

// find finds the mailer's failure and keeps its story in a directory.
func find(t *testing.T, dir string, opts ...sim.ExploreOption) *result.Failure {
	t.Helper()
	return simtest.Violates(t, simtest.SentOnce, simtest.SendsTwice, append(opts, sim.Stories(dir))...)
}

// noConfigMap is violated by the first ConfigMap.
func noConfigMap(h *history.History) error {
	if n := len(h.Objects("", "ConfigMap")); n > 0 {
		return fmt.Errorf("there are %d", n)
	}
	return nil
}

// A shrunk story is locally minimal: without any one of its choices, the property holds.
func TestStoryIsLocallyMinimal(t *testing.T) {
	for _, seed := range []uint64{1, 2, 3} {
		f := find(t, t.TempDir(), sim.Seed(seed))
		if f.Flaky {
			t.Errorf("seed %d: the story is flaky", seed)
		}
		for i, c := range f.Story.Choices {
			s := *f.Story
			s.Choices = slices.Delete(slices.Clone(s.Choices), i, i+1)
			path, err := s.Write(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			without := sim.Explore(t, simtest.SendsTwice, sim.Replay(path)).Failure
			if without != nil && without.Property == f.Property {
				t.Errorf("seed %d: it is still violated without %v", seed, c)
			}
		}
	}
}

// Another test plays the story, and so does the test that found it. With a directory for reports
// each leaves a timeline there, and the failure names it. The time that the story takes is not
// counted for the search that follows.
func TestStoryReplays(t *testing.T) {
	dir := t.TempDir()
	stories := filepath.Join(dir, "stories")
	f := find(t, stories, sim.ReportTo(dir))
	t.Run("in another test", func(t *testing.T) {
		again := find(t, stories, sim.Replay(f.File))
		if again.Message != f.Message || again.Step != f.Step {
			t.Errorf("it replays as %+v", again)
		}
	})
	simtest.Contains(t, f.Text(), "    timeline: "+f.Page+"\n")
	page, err := os.ReadFile(f.Page)
	if err != nil || filepath.Dir(f.Page) != dir {
		t.Fatalf("%s: %v", f.Page, err)
	}
	simtest.Contains(t, string(page), "<title>"+t.Name())
	r, err := reports.ReadRun(strings.TrimSuffix(f.Page, ".html") + reports.RunSuffix)
	if err != nil {
		t.Fatal(err)
	}
	if at, what := history.Difference(f.History, r.History); at >= 0 {
		t.Errorf("the run on file is another: %s", what)
	}
	if err := os.Remove(f.Page); err != nil {
		t.Fatal(err)
	}
	again := sim.Explore(t, simtest.SendsTwice, sim.Replay(f.File), sim.ReportTo(dir))
	if again.Runs != 1 || again.Failure == nil || again.Failure.Page != f.Page || again.Replayed == nil ||
		again.Replayed.Hash() != f.History.Hash() {
		t.Errorf("the replay leaves %+v", again.Failure)
	}
	if _, err := os.Stat(f.Page); err != nil {
		t.Error(err)
	}
	fixed := simtest.Holds(t, simtest.Mailing(simtest.Mailer{}), sim.Stories(stories), sim.Runs(100), sim.For(1))
	if len(fixed.Strategies) == 0 {
		t.Error("after the kept story no strategy has made a run")
	}
}

// Shrinking by rapid leads to stories of the same length.
func TestRapidShrinksAsWell(t *testing.T) {
	ours, rapids := find(t, t.TempDir()), find(t, t.TempDir(), sim.Strategy("rapid"))
	if a, b := len(ours.Story.Choices), len(rapids.Story.Choices); a > b+2 || b > a+2 {
		t.Errorf("our story has %d choices, rapid's has %d", a, b)
	}
}

// A drawn value is a choice: it shrinks, and the story shows it. It adds no event to the history,
// whatever its type.
func TestDrawnValuesShrink(t *testing.T) {
	type order struct {
		Name string
		For  *time.Duration
	}
	minute := time.Minute
	f := simtest.Violates(t, "there are fewer than 7", func(w *sim.World) {
		before := w.History().Len()
		sim.Draw(w, "wait", rapid.Just(minute))
		sim.Draw(w, "order", rapid.Just(order{"a\nb", &minute}))
		sim.Draw(w, "how", rapid.Just(func() {}))
		sim.Draw(w, "text", rapid.Just(strings.Repeat("é", 300)))
		n := sim.Draw(w, "sources", rapid.IntRange(0, 100))
		if n := w.History().Len() - before; n != 0 {
			t.Errorf("%d events were added", n)
		}
		w.Apply(simtest.ConfigMap("n", "n", strings.Repeat("x", n)))
		w.Always("there are fewer than 7", func(h *history.History) error {
			if d, ok := simtest.Data(h, "n"); ok && len(d["n"]) >= 7 {
				return fmt.Errorf("there are %d", len(d["n"]))
			}
			return nil
		})
		w.Settle()
	}, sim.Runs(500))
	if f.Message != "there are 7" {
		t.Errorf("shrunk to %q, want 7, the smallest that fails\n%v", f.Message, f.Story.Choices)
	}
	const user = "00:00.000    user             draws "
	simtest.Contains(t, f.Text(), user+"sources: 7\n", user+"wait: 1m0s\n",
		user+`order: {"Name":"a\nb","For":60000000000}`+"\n", user+"how: a func()\n",
		user+`text: "`+strings.Repeat("é", 99)+"…\n")
}

// A label may have several lines in the scenario; the story can be read all the same.
func TestLabelOfTwoLinesIsRead(t *testing.T) {
	f := simtest.Violates(t, "few", func(w *sim.World) {
		n := sim.Draw(w, "how\nmany", rapid.IntRange(0, 1000))
		w.Always("few", func(*history.History) error {
			if n > 10 {
				return errors.New("many")
			}
			return nil
		})
		w.Apply(simtest.ConfigMap("a"))
	}, sim.Stories(t.TempDir()), sim.Runs(50), sim.For(0))
	if _, err := story.Read(f.File); err != nil {
		t.Error(err)
	}
}

// A story states that its shrinking was stopped, and how to continue.
func TestStoryStatesThatShrinkingStopped(t *testing.T) {
	for limit, want := range map[time.Duration]bool{time.Nanosecond: true, time.Minute: false} {
		f := find(t, t.TempDir(), sim.Shrink(limit))
		text, command := f.Text(), "    wavetank shrink "+f.File+"\n"
		if f.Story.Shrinking.Stopped != want || strings.Contains(text, "it may become shorter: ") != want ||
			strings.Contains(text, command) != want {
			t.Errorf("%v: stopped %v\n%s", limit, f.Story.Shrinking.Stopped, text)
		}
	}
}

// A story whose shrinking continues becomes as short as one that was shrunk at once.
func TestShrinkingContinues(t *testing.T) {
	if simtest.InChild() {
		sim.Check(t, simtest.SendsTwice, sim.Strategy("swarm"))
		return
	}
	at, dir := t.TempDir(), "testdata/sim/"+t.Name()
	kept := func(n int) []string {
		stories, err := story.List(filepath.Join(at, dir))
		if err != nil || len(stories) != n {
			t.Fatalf("%d stories: %v; want %d", len(stories), err, n)
		}
		return stories
	}
	out, _ := simtest.Child(at, t.Name(), []string{"-sim.shrink=1ns"}, nil)
	simtest.Contains(t, out, "    wavetank shrink "+dir)
	file := kept(1)[0]
	first, err := story.Read(file)
	if err != nil || !first.Shrinking.Stopped {
		t.Fatalf("the story has %v: %v", first.Shrinking, err)
	}
	simtest.Child(at, t.Name(), []string{"-sim.shrink=1m", "-sim.replay=" + file}, nil)
	for _, path := range kept(2) {
		s, err := story.Read(path)
		if err != nil {
			t.Fatal(err)
		}
		if shorter := len(s.Choices) < len(first.Choices); shorter && (s.Shrinking.Stopped || s.After.Faults > 2) {
			t.Errorf("it was shrunk to %v, %v", s.After, s.Shrinking)
		}
	}
}

// A campaign that keeps going finds the properties that are violated after another in the same run,
// and reports the most harmful first. The story of the second leaves out what the first needs, or
// ignores the first.
func TestKeepGoingFindsLaterViolations(t *testing.T) {
	exists := func(name string) func(*history.History) error {
		return func(h *history.History) error {
			if _, ok := h.Object("", "ConfigMap", "default", name); ok {
				return errors.New(name + " exists")
			}
			return nil
		}
	}
	for name, first := range map[string]string{"in every run": "a", "in some runs": "c"} {
		t.Run(name, func(t *testing.T) {
			scenario := func(w *sim.World) {
				if first == "c" && sim.Draw(w, "c", rapid.Bool()) {
					w.Apply(simtest.ConfigMap("c"))
				}
				w.Without("apply is stable")
				w.Always("apply is stable", exists(first)) // the least harmful by its name
				w.Always("b is refused", exists("b"))
				w.Apply(simtest.ConfigMap("a"))
				w.Apply(simtest.ConfigMap("b"))
				w.Settle()
			}
			if first == "a" {
				simtest.Violates(t, "apply is stable", scenario, sim.Runs(20), sim.For(0))
			}
			dir := t.TempDir()
			r := sim.Explore(t, scenario, sim.Runs(20), sim.For(0), sim.KeepGoing(), sim.Stories(dir))
			if r.Failure == nil || r.Failure.Property != "b is refused" || len(r.Findings) != 2 {
				t.Fatalf("found are %+v", r.Findings)
			}
			_, list, _ := strings.Cut(r.Err().Error(), "2 causes in 20 runs, the most harmful first:\n")
			if b := strings.Index(list, "b exists"); b < 0 || b > strings.Index(list, first+" exists") {
				t.Errorf("the text is\n%s", r.Err())
			}
			s, err := story.Read(r.Failure.File)
			if want := first == "a"; err != nil || slices.Equal(s.Ignored, []string{"apply is stable"}) != want {
				t.Errorf("it ignores %q, %v", s.Ignored, err)
			}
			simtest.Violates(t, "b is refused", scenario, sim.Replay(r.Failure.File))
			if files, err := story.List(dir); err != nil || len(files) != 2 {
				t.Errorf("kept are %v, %v", files, err)
			}
		})
	}
}

// quiet is a host that keeps the lines that it is given.
type quiet struct {
	*testing.T
	lines []string
}

func (q *quiet) Package() string                { return "example.com/p" }
func (q *quiet) Replay(string) string           { return "" }
func (q *quiet) Logf(format string, a ...any)   { q.lines = append(q.lines, fmt.Sprintf(format, a...)) }
func (q *quiet) Fatalf(format string, a ...any) { q.Logf(format, a...) }

// A story whose property has moved to another line is still about that property. If the scenario is
// misused, only the misuse is reported.
func TestStoryFollowsItsProperty(t *testing.T) {
	violated := func(w *sim.World) {
		w.Always("nothing is there", noConfigMap)
		w.Apply(simtest.ConfigMap("a"))
	}
	file := sim.Explore(t, violated, sim.Stories(t.TempDir())).Failure.File
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	moved := regexp.MustCompile(`declared: .*`).ReplaceAll(text, []byte("declared: stories_test.go:1"))
	if err := os.WriteFile(file, moved, 0o600); err != nil {
		t.Fatal(err)
	}
	q := &quiet{T: t}
	if r := sim.Explore(t, violated, sim.Replay(file), campaign.On(q)); r.Failure == nil || len(q.lines) > 0 {
		t.Errorf("%+v, and it prints %q", r.Failure, q.lines)
	}
	sim.Explore(t, func(w *sim.World) { w.Install(42) }, sim.Replay(file), campaign.On(q))
	if len(q.lines) != 1 || !strings.Contains(q.lines[0], "w.Install was given a int") {
		t.Errorf("it prints %q", q.lines)
	}
}
