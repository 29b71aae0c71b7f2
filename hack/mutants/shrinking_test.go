package mutants

import (
	"flag"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wavetank/wavetank/fuzz/planted"
	"github.com/wavetank/wavetank/internal/story"
)

var (
	shrinkWrite  = flag.String("shrinking.write", "", "measure shrinking and write the page to this file")
	shrinkSeeds  = flag.Int("shrinking.seeds", 3, "base seeds for each bug")
	shrinkOnly   = flag.String("shrinking.only", "", "only bugs whose name contains this")
	shrinkCommit = flag.String("shrinking.commit", "", "the commit that is measured, for the page")
)

// bug is one whose stories are measured.
type bug struct {
	name    string
	minimum int // faults, or disturbances, without which it does no harm
	stories []*story.Story
	missed  int // campaigns that did not find it
}

// TestBenchShrinking measures how short stories become. The campaigns use random walks whose
// faults come in crowds, so that there is something to shrink.
func TestBenchShrinking(t *testing.T) {
	if *shrinkWrite == "" {
		t.Skip("make bench-shrinking measures shrinking")
	}
	ofBackup := shrunkBackups(t)
	ofPlanted := shrunkPlanted(t)
	if err := os.WriteFile(*shrinkWrite, []byte(shrinkingPage(ofPlanted, ofBackup)), 0o644); err != nil {
		t.Fatal(err)
	}
}

// The edits of the bugs fit the operator, and what comes of them is Go.
func TestShrunkBugsFit(t *testing.T) {
	for _, b := range ShrunkBugs {
		mutated(t, b.Mutant, examples(t, "backup"))
	}
}

func shrunkBackups(t *testing.T) (bugs []bug) {
	dir, tmp := examples(t, "backup"), t.TempDir()
	scenario, err := filepath.Abs("testdata/shrinking_sim_test.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range ShrunkBugs {
		if !strings.Contains(m.Mistake, *shrinkOnly) {
			continue
		}
		b := bug{name: m.Mistake, minimum: m.Minimum}
		bin := filepath.Join(tmp, "test")
		args := overlay(t, m.Mutant, map[string]string{"internal/controller/shrinking_sim_test.go": scenario})
		command(t, dir, "go", append(append([]string{"test", "-c", "-o", bin}, args...), m.Package)...)
		measure(t, &b, bin, filepath.Join(dir, m.Package), "^TestShrinking$")
		bugs = append(bugs, b)
	}
	return bugs
}

func shrunkPlanted(t *testing.T) (bugs []bug) {
	bin := filepath.Join(t.TempDir(), "test")
	command(t, "../../fuzz/planted", "go", "test", "-c", "-o", bin, ".")
	for _, p := range planted.Bugs() {
		if !strings.Contains(p.Name, *shrinkOnly) {
			continue
		}
		b := bug{name: p.Name, minimum: p.Depth}
		measure(t, &b, bin, "../../fuzz/planted", "^TestShrinking$/^"+p.Name+"$")
		bugs = append(bugs, b)
	}
	return bugs
}

// measure adds the story of a campaign for each seed.
func measure(t *testing.T, b *bug, bin, dir, run string) {
	t.Helper()
	for seed := range *shrinkSeeds {
		reports := t.TempDir()
		test := exec.Command(bin, "-test.run", run, "-test.cpu", "1", "-test.timeout", "0", "-sim.strategy", "swarm",
			"-sim.runs", "2000", "-sim.for", "0", "-sim.verify", "0", "-sim.seed", fmt.Sprint(seed+1),
			"-sim.report", reports)
		test.Dir = dir
		if out, err := test.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", b.name, err, out)
		}
		s := found(t, reports)
		if s == nil {
			b.missed++
			continue
		}
		b.stories = append(b.stories, s)
		t.Logf("%s, seed %d: %v → %v, %v", b.name, seed+1, s.Before, s.After, s.Shrinking)
		t.Logf("    %s", s.Message)
		for _, c := range s.Choices {
			t.Logf("    %s", c.Line())
		}
	}
}

// found is the story in the result of a campaign; nil if it found nothing.
func found(t *testing.T, dir string) *story.Story {
	t.Helper()
	r := resultIn(t, dir)
	if r == nil {
		t.Fatalf("no result lies in %s", dir)
	}
	if len(r.Findings) == 0 {
		return nil
	}
	s, err := story.Decode([]byte(r.Findings[0].Story))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// resultIn is the result of a campaign; nil if there is none.
func resultIn(t *testing.T, dir string) *story.Result {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if r, err := story.ReadResult(file); err == nil { // the others are timelines
			return r
		}
	}
	return nil
}

// disturbances counts the choices of a story that disturbed the run.
func disturbances(s *story.Story) (n int) {
	for _, c := range s.Choices {
		if !slices.Contains([]story.Kind{story.Arm, story.Seed, story.Names, story.Draw}, c.Kind) {
			n++
		}
	}
	return n
}

func shrinkingPage(ofPlanted, ofBackup []bug) string {
	var page strings.Builder
	say := func(format string, args ...any) { fmt.Fprintf(&page, format+"\n", args...) }
	say("# How short stories become\n")
	say("This page is written by `make bench-shrinking SEEDS=%d`; do not edit it. Campaigns with the strategy "+
		"`swarm` find each bug from base seeds 1 to %d. Many faults are injected in such a run, so there is much to "+
		"leave out. Then the run is shrunk with the default limit: 20 s of CPU time, and up to 20 s more while it "+
		"still gets shorter.\n", *shrinkSeeds, *shrinkSeeds)
	say("- measured at commit `%s` with %s on %s/%s, one CPU, %s", *shrinkCommit, runtime.Version(), runtime.GOOS,
		runtime.GOARCH, time.Now().UTC().Format(time.DateOnly))
	say("- a cell is the median (least–most) of the stories; times are CPU time")
	short, all := 0, 0
	count := func(bugs []bug, size func(*story.Story) int) {
		for _, b := range bugs {
			for _, s := range b.stories {
				if all++; size(s) <= max(1, b.minimum) && s.Shrinking.Took <= 20*time.Second {
					short++
				}
			}
		}
	}
	faults := func(s *story.Story) int { return s.After.Faults }
	count(ofPlanted, disturbances)
	count(ofBackup, faults)
	say("- target: 90 %% of the stories have one fault, or as many as the bug needs, within 20 s: "+
		"**%d of %d, %.0f %%**\n", short, all, 100*float64(short)/float64(all))
	say("## Ten bugs in `examples/backup`\n\nThe world has the controllers of Deployments, a kubelet, a rollout and " +
		"ten kinds of faults (`hack/mutants/testdata`).\n")
	table(say, ofBackup, "faults", faults)
	say("\n## The planted bugs of `fuzz/planted`\n\nA bug's minimum is its depth: a late request or another order " +
		"counts as a fault does.\n")
	table(say, ofPlanted, "disturbances", disturbances)
	return page.String()
}

func table(say func(string, ...any), bugs []bug, what string, size func(*story.Story) int) {
	say("| bug | minimum | faults found | %s left | steps found | steps left | runs | seconds | not short |", what)
	say("|---|---|---|---|---|---|---|---|---|")
	for _, b := range bugs {
		cell := func(of func(*story.Story) float64) string { return spread(b.stories, of) }
		stopped := 0
		for _, s := range b.stories {
			if s.Shrinking.Stopped {
				stopped++
			}
		}
		name := b.name
		if b.missed > 0 {
			name += fmt.Sprintf(" (%d not found)", b.missed)
		}
		say("| %s | %d | %s | %s | %s | %s | %s | %s | %d |", name, b.minimum,
			cell(func(s *story.Story) float64 { return float64(s.Before.Faults) }),
			cell(func(s *story.Story) float64 { return float64(size(s)) }),
			cell(func(s *story.Story) float64 { return float64(s.Before.Steps) }),
			cell(func(s *story.Story) float64 { return float64(s.After.Steps) }),
			cell(func(s *story.Story) float64 { return float64(s.Shrinking.Runs) }),
			cell(func(s *story.Story) float64 { return s.Shrinking.Took.Seconds() }), stopped)
	}
}

// spread is the median of a figure over stories, with the least and the most.
func spread(stories []*story.Story, of func(*story.Story) float64) string {
	if len(stories) == 0 {
		return "–"
	}
	var values []float64
	for _, s := range stories {
		values = append(values, math.Round(of(s)*100)/100)
	}
	slices.Sort(values)
	if values[0] == values[len(values)-1] {
		return fmt.Sprintf("%g", values[0])
	}
	return fmt.Sprintf("%g (%g–%g)", values[len(values)/2], values[0], values[len(values)-1])
}
