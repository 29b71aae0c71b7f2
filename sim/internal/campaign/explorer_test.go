package campaign

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/internal/story"
	"github.com/wavetank/wavetank/sim/internal/choice"
	"github.com/wavetank/wavetank/sim/internal/run"
	"github.com/wavetank/wavetank/sim/result"
)

// crash and delay are the choices of the fake runner.
var (
	crash = story.Label{Kind: story.Inject, Of: "Crash(op)", Who: "before op", Verb: "update", What: "App"}
	delay = story.Label{Kind: story.Request, What: "op create Pod"}
)

// fake is a runner without a cluster. A run asks for the choices of its labels, each of which may
// be 1, and violates what judge says.
type fake struct {
	labels []story.Label
	judge  func(chosen map[story.Label]bool) []result.Ending
	runs   int
}

func (f *fake) run(_ *testing.T, source choice.Source, s run.Settings) *run.Result {
	f.runs++
	c, chosen := choice.New(source), map[story.Label]bool{}
	res := &run.Result{History: &history.History{}, Processes: 1, Steps: 10}
	for _, l := range f.labels {
		chosen[l] = c.Rarely(l, 2, 3) > 0
	}
	for _, e := range f.judge(chosen) {
		switch {
		case slices.Contains(s.Ignored, e.Property):
		case s.Pass:
			res.Passed = append(res.Passed, e)
		case !res.Ending.Failed():
			res.Ending = e
		}
	}
	res.Properties = []run.Property{{Kind: result.Always, Sentence: "p", Site: "x.go:1"}}
	res.Choices, res.Log = c.Sequence(), c.Log()
	return res
}

// breaks violates p in runs with a crash.
func breaks(chosen map[story.Label]bool) []result.Ending {
	if !chosen[crash] {
		return nil
	}
	return []result.Ending{{Kind: result.Always, Property: "p", Site: "x.go:1", Message: "two pods"}}
}

// explore makes a campaign of the test's name. A second one has the same name.
func explore(t *testing.T, runner run.Runner, s Settings) result.Report {
	host := &judge{name: t.Name()}
	s.Host = host
	defer func() {
		for _, f := range host.cleanups {
			f()
		}
	}()
	return Explore(t, runner, s)
}

// exploring are the settings of a short campaign that keeps its stories in a directory.
func exploring(dir string) Settings {
	return Settings{Runs: 200, Strategy: "random", Drift: driftWarns, Bound: 1, Hang: time.Minute, Seed: "1",
		Shrink: time.Minute, Stories: dir, Run: run.Settings{MaxSteps: 1000}}
}

func TestCampaignShrinksItsFailureAndKeepsTheStory(t *testing.T) {
	dir := t.TempDir()
	f := &fake{labels: []story.Label{delay, crash}, judge: breaks}
	r := explore(t, f.run, exploring(dir))
	if r.Failure == nil || r.Complete || r.Failure.Run != r.Runs-1 {
		t.Fatalf("the failure is %+v after %d runs (all: %v)", r.Failure, r.Runs, r.Complete)
	}
	s, err := story.Read(r.Failure.File)
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Choices) != 1 || s.Choices[0].Label != crash {
		t.Errorf("the story has the choices %v; expected the crash alone", s.Choices)
	}
	if len(r.Findings) != 1 || r.Findings[0].Cause != "p, under Crash(op)" {
		t.Errorf("findings: %+v", r.Findings)
	}
}

func TestCampaignReplaysKeptStoriesFirst(t *testing.T) {
	dir := t.TempDir()
	f := &fake{labels: []story.Label{delay, crash}, judge: breaks}
	found := explore(t, f.run, exploring(dir)).Failure
	f.runs = 0
	r := explore(t, f.run, exploring(dir))
	if f.runs != 1 || r.Runs != 1 || r.Failure == nil || r.Failure.File != found.File {
		t.Errorf("%d runs were made, %d reported, with the failure %+v", f.runs, r.Runs, r.Failure)
	}
}

func TestReplayReportsStoriesThatDrift(t *testing.T) {
	dir := t.TempDir()
	f := &fake{labels: []story.Label{delay, crash}, judge: breaks}
	explore(t, f.run, exploring(dir))
	f.labels = []story.Label{delay} // a fix: there is nothing to crash any more
	s := exploring(dir)
	s.Runs = 1
	r := explore(t, f.run, s)
	if r.Failure != nil || len(r.Drifted) != 1 || len(r.Missed) > 0 || len(r.Warnings) == 0 {
		t.Errorf("failure %v, drifted %v, missed %v, warnings %q", r.Failure, r.Drifted, r.Missed, r.Warnings)
	}
	s.Drift = driftFails
	if r := explore(t, f.run, s); len(r.Missed) != 1 {
		t.Errorf("with -sim.drift=fail the campaign misses %q", r.Missed)
	}
}

func TestReplayReportsStoriesThatAreOutdated(t *testing.T) {
	dir := t.TempDir()
	f := &fake{labels: []story.Label{delay, crash}, judge: breaks}
	explore(t, f.run, exploring(dir))
	f.judge = func(chosen map[story.Label]bool) []result.Ending {
		found := breaks(chosen)
		for i := range found {
			found[i].Property = "q"
		}
		return found
	}
	s := exploring(dir)
	s.Runs, s.KeepGoing = 1, true
	r := explore(t, f.run, s)
	if len(r.Outdated) != 1 || r.Outdated[0].Statement != scenarioChanged {
		t.Fatalf("outdated: %+v", r.Outdated)
	}
	if r.Failure == nil || r.Failure.Strategy != outdatedStory || r.Failure.Property != "q" {
		t.Errorf("the failure is %+v", r.Failure)
	}
}

// A campaign that keeps going judges a run again without the properties that it has violated, and
// groups what it finds by cause.
func TestCampaignThatKeepsGoingFindsEveryCause(t *testing.T) {
	f := &fake{labels: []story.Label{delay, crash}}
	f.judge = func(chosen map[story.Label]bool) []result.Ending {
		found := breaks(chosen)
		if len(found) > 0 {
			found = append(found, result.Ending{Kind: result.Always, Property: "q", Message: "hidden by p"})
		}
		return found
	}
	s := exploring(t.TempDir())
	s.KeepGoing = true
	r := explore(t, f.run, s)
	if !r.Complete || r.Runs != 200 {
		t.Errorf("%d runs of 200 (complete: %v)", r.Runs, r.Complete)
	}
	for _, cause := range []string{"p, under Crash(op)", "q, under Crash(op)"} {
		if !slices.ContainsFunc(r.Findings, func(f story.Finding) bool { return f.Cause == cause }) {
			t.Errorf("no finding of %q among %+v", cause, r.Findings)
		}
	}
}

func TestMisuseTakesThePlaceOfAFailure(t *testing.T) {
	r := &result.Report{}
	d := &findings{r}
	broken := &result.Failure{Ending: result.Ending{Kind: result.Always}}
	misuse := &result.Failure{Ending: result.Ending{Kind: result.Misuse}}
	if d.fail(broken); r.Failure != broken {
		t.Error("the first failure is not shown")
	}
	if d.fail(&result.Failure{Ending: result.Ending{Kind: result.Always}}); r.Failure != broken {
		t.Error("the second failure took the place of the first")
	}
	if d.fail(misuse); r.Failure != misuse {
		t.Error("misuse is not shown")
	}
}

// The next command continues with the run that an earlier process has left, and has its counts.
func TestCampaignContinuesWhatAnEarlierProcessLeft(t *testing.T) {
	s := exploring("")
	s.ReportDir = t.TempDir()
	f := &fake{labels: []story.Label{delay}, judge: breaks}
	s.Runs = 7
	if r := explore(t, f.run, s); !r.Complete || r.Runs != 7 {
		t.Fatalf("%d runs of 7 (complete: %v)", r.Runs, r.Complete)
	}
	s.Runs, f.runs = 20, 0
	r := explore(t, f.run, s)
	if f.runs != 13 || r.Runs != 20 || !r.Complete {
		t.Errorf("%d runs were made, and %d reported (complete: %v)", f.runs, r.Runs, r.Complete)
	}
	results, _ := filepath.Glob(filepath.Join(s.ReportDir, "*.json"))
	if len(results) != 1 {
		t.Fatalf("results: %q", results)
	}
	if res, err := story.ReadResult(results[0]); err != nil || res.Next != 20 || res.Runs != 20 {
		t.Errorf("the file has %+v, %v", res, err)
	}
}

// Runs that always differ from their repetition fail the campaign. Runs that differ now and then
// are a warning, of one cause however often.
func TestDoubledRunsThatDiffer(t *testing.T) {
	for name, row := range map[string]struct {
		differs func(n int) bool
		fails   bool
	}{
		"always":       {func(int) bool { return true }, true},
		"now and then": {func(n int) bool { return n%7 == 2 }, false},
	} {
		t.Run(name, func(t *testing.T) {
			n := 0
			runner := func(_ *testing.T, source choice.Source, s run.Settings) *run.Result {
				n++
				res := &run.Result{History: &history.History{}, Processes: 1, Steps: 1}
				note := "same"
				if row.differs(n) {
					note = fmt.Sprint("run ", n)
				}
				res.History.Add(history.Event{Kind: history.Request, Process: "op", Incarnation: 1, Verb: "create",
					Ref: history.Ref{Kind: "Pod", Name: note}})
				return res
			}
			s := exploring("")
			s.Runs, s.Verify = 10, 1
			r := explore(t, runner, s)
			if fails := r.Failure != nil && r.Failure.Kind == result.Nondeterminism; fails != row.fails {
				t.Errorf("the failure is %+v", r.Failure)
			}
			if warned := len(r.Divergences) == 1; warned == row.fails {
				t.Errorf("divergences: %+v", r.Divergences)
			}
		})
	}
}

// A story that was found shorter replaces the file of the longer one, unless that one is shown.
func TestShorterStoriesReplaceLongerOnes(t *testing.T) {
	dir := t.TempDir()
	shown, longer, shorter := filepath.Join(dir, "a"), filepath.Join(dir, "b"), filepath.Join(dir, "c")
	for _, f := range []string{shown, longer, shorter} {
		if err := os.WriteFile(f, nil, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	k := &keeper{settings: Settings{Host: &judge{}}, written: map[string]string{},
		findings: &findings{&result.Report{Failure: &result.Failure{File: shown}}}}
	for _, f := range []string{shown, longer, shorter} {
		k.replaceStory("cause", f)
	}
	for f, want := range map[string]bool{shown: true, longer: false, shorter: true} {
		if _, err := os.Stat(f); (err == nil) != want {
			t.Errorf("%s is there: %v", filepath.Base(f), err == nil)
		}
	}
}
