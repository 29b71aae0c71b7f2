package sim

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/sim/internal/choice"
	"github.com/wavetank/wavetank/story"
)

// shrinkEach is how many failing runs of one property are shrunk; what a campaign that keeps going finds after that is
// counted under the faults of the run as it was found.
const shrinkEach = 4

// shrinkTime bounds the search for a shorter story.
const shrinkTime = 20 * time.Second

// Failure is the run that broke a property, after shrinking.
type Failure struct {
	Verdict
	Run  int    // 0-based number of the run that found it
	Seed uint64 // its seed
	// Strategy is how it was found.
	Strategy string
	// Took is the CPU time of the process from the beginning of the campaign until the run had failed; 0 if it is not known.
	Took    time.Duration
	History *history.History
	// Story is the minimised run as it is kept on file, and File where it was written ("" if nowhere).
	Story *story.Story
	File  string
	// Page is the timeline of the run, a page that -sim.report had written; "" if it did not.
	Page string
	// Shrinks is the number of runs that shrinking took.
	Shrinks int
	// Flaky is set when the tape does not repeat its own failure.
	Flaky bool
	// cut is set when shrinking stopped because its time was up.
	cut bool
}

// found shrinks a failing run and keeps its story. from is where shrinking starts; first is the run as it was found.
func (c *campaign) found(run int, seed uint64, strategy string, first, from *result) {
	f := &Failure{Verdict: *first.verdict, Run: run, Seed: seed, Strategy: strategy, Took: cpuTime() - c.cpu, History: first.history.Rest()}
	if first.verdict.Temper == "misuse" {
		c.report.Failure = f
		return
	}
	if first.verdict.Temper == failedTest {
		c.fail(f, first.tape, lengthOf(first), lengthOf(first))
		return
	}
	limit := c.settings.shrink
	if c.shrunk[f.Property]++; c.shrunk[f.Property] > shrinkEach {
		limit = 0
	}
	if c.report.Failure == nil {
		c.report.Failure = f
	}
	best, tape := c.minimal(f, first, from, limit)
	f.Verdict, f.History = *best.verdict, best.history.Rest()
	c.fail(f, tape, lengthOf(first), lengthOf(best))
}

// minimal searches for the shortest tape that fails as the first run did.
func (c *campaign) minimal(f *Failure, first, from *result, limit time.Duration) (*result, choice.Sequence) {
	best := from
	c.doing.Store(&doing{fmt.Sprintf("an attempt to shorten run %d (seed %d)", f.Run, f.Seed), f.Strategy, f.Run, f.Seed})
	tape, runs, cut := choice.Shrink(from.tape, limit, func(t choice.Sequence) (choice.Sequence, bool) {
		res := execute(c.t, c.scenario, choice.Play(t), c.settings)
		c.progress.show(&c.report, c.settings)
		if !res.verdict.same(first.verdict) {
			return nil, false
		}
		best = res
		return res.tape, true
	})
	f.Shrinks, f.cut = runs, cut && limit > 0
	again := execute(c.t, c.scenario, choice.Play(tape), c.settings)
	if at, _ := history.Divergence(best.history, again.history); !again.verdict.same(first.verdict) || at >= 0 && best != first {
		f.Flaky = true
		return first, first.tape
	}
	return again, tape
}

// fail puts the failure on record, and on file where stories are kept.
func (c *campaign) fail(f *Failure, tape choice.Sequence, before, after story.Length) {
	f.Story = c.story(f, tape, before, after)
	if c.settings.stories != "" && c.shortest(f, after.Steps) {
		path, err := f.Story.Write(c.settings.stories)
		if err != nil {
			c.settings.host.Logf("sim: the story could not be kept: %v", err)
		} else {
			f.File = path
		}
	}
	c.picture(f)
	if c.report.Failure == nil {
		c.report.Failure = f
	}
	c.group(f, after.Steps)
}

// shortest says whether no story of a failure's cause is as short: thousands of runs may fail alike, and one story will do.
func (c *campaign) shortest(f *Failure, steps int) bool {
	i := slices.IndexFunc(c.report.Findings, func(have story.Finding) bool { return have.Cause == f.cause() })
	return i < 0 || steps < c.report.Findings[i].Steps
}

// group adds a failure to those of its cause.
func (c *campaign) group(f *Failure, steps int) {
	found := &story.Result{Findings: c.report.Findings}
	found.Found(story.Finding{Cause: f.cause(), Temper: f.Temper, Property: f.Property, Count: 1, First: f.Run, Strategy: f.Strategy,
		Story: string(f.Story.Encode()), Steps: steps})
	c.report.Findings = found.Findings
}

// cause is what failing runs are grouped by: the property and the sorts of faults in the shrunk story.
func (f *Failure) cause() string {
	var kinds []string
	for i := range f.History.Events {
		if e := &f.History.Events[i]; e.Kind == history.Fault {
			what, _, _ := strings.Cut(e.Note, ":")
			kinds = append(kinds, what)
		}
	}
	for _, c := range f.Story.Tape {
		if strings.HasPrefix(c.ID, "StaleCache") {
			kinds = append(kinds, "StaleCache")
		}
	}
	slices.Sort(kinds)
	kinds = slices.Compact(kinds)
	if len(kinds) == 0 {
		kinds = []string{"no fault"}
	}
	name := f.Property
	if name == "" {
		name = f.Temper + ": " + firstLine(f.Message)
	}
	return fmt.Sprintf("%s, under %s", name, strings.Join(kinds, " and "))
}

func lengthOf(r *result) story.Length {
	l := story.Length{Choices: len(r.tape), Steps: r.steps}
	for _, f := range r.faults {
		l.Faults += f.Injected
	}
	return l
}

func (c *campaign) story(f *Failure, tape choice.Sequence, before, after story.Length) *story.Story {
	s := &story.Story{
		Test: c.report.Name, Package: c.settings.host.Package(), Temper: f.Temper, Property: f.Property, Site: f.Site, Message: f.Message,
		Seed: strings.TrimPrefix(fmt.Sprintf("%s, run %d of base seed %d", f.Strategy, f.Run, c.report.Seed), ", "), Took: f.Took, Before: before, After: after,
		Versions: versions(), History: f.History.Tell(),
	}
	for _, e := range tape {
		s.Tape = append(s.Tape, story.Choice{ID: e.ID, Value: e.Value})
	}
	dir := c.settings.stories
	if dir == "" {
		dir = "<directory>"
	}
	s.Replay = c.command(filepath.Join(dir, s.Name()))
	return s
}

// command is what one types to see a story again.
func (c *campaign) command(path string) string {
	if c.settings.replay != "" && flags.replay == "" {
		path = "" // the test plays it by itself
	}
	command := c.settings.host.Replay(path)
	if given("sim.max-steps", "SIM_MAX_STEPS") {
		command += fmt.Sprintf(" -sim.max-steps=%d", c.settings.maxSteps)
	}
	if exactly.Load() {
		command += " " + story.Overlaid
	}
	return command
}

// campaigns counts the campaigns of each test, so that the second one in a test has a name of its own.
var campaigns = struct {
	sync.Mutex
	n map[string]int
}{n: map[string]int{}}

// countCampaign counts a campaign of a test and names it.
func countCampaign(h Host) string {
	name := h.Name()
	campaigns.Lock()
	defer campaigns.Unlock()
	campaigns.n[name]++
	n := campaigns.n[name]
	if n > 1 {
		return fmt.Sprintf("%s~%d", name, n)
	}
	h.Cleanup(func() {
		campaigns.Lock()
		defer campaigns.Unlock()
		delete(campaigns.n, name)
	})
	return name
}

// storyDir is where Check keeps the stories of a test, whose name may be any text.
func storyDir(name string) string {
	path := []string{"testdata", "sim"}
	for _, part := range strings.Split(name, "/") {
		path = append(path, story.PathPart(part))
	}
	return filepath.Join(path...)
}

// Text is the failure as people read it: the sentence and where it stands, the story as the controllers saw it, how far
// it shrank, and how to see it again.
func (f *Failure) Text() string {
	var b strings.Builder
	if f.Site != "" {
		fmt.Fprintf(&b, "%s: ", f.Site)
	}
	if f.Property != "" {
		fmt.Fprintf(&b, "%s %q broke at step %d\n    %s\n", f.Temper, f.Property, f.Step, indent(f.Message))
	} else {
		fmt.Fprintf(&b, "%s at step %d\n    %s\n", f.Temper, f.Step, indent(f.Message))
	}
	if f.Story == nil {
		return b.String()
	}
	for _, l := range abridged(f.Story.History) {
		fmt.Fprintf(&b, "    %s\n", l)
	}
	if f.Shrinks > 0 {
		hurried := ""
		if f.cut {
			hurried = " (then the time was up: -sim.shrink)"
		}
		fmt.Fprintf(&b, "    shrunk from %s to %s, in %d runs%s; found by %s\n", f.Story.Before.Words(), f.Story.After.Words(), f.Shrinks, hurried, f.Story.Seed)
	}
	if f.Flaky {
		b.WriteString("    FLAKY: its own tape does not repeat it; run again with -sim.verify=1 to see where two runs part\n")
	}
	if f.File != "" {
		fmt.Fprintf(&b, "    story:  %s\n    replay: %s\n", f.File, f.Story.Replay)
	} else {
		b.WriteString("    the story was not kept; sim.Stories(directory) keeps it, and -sim.report=directory with all that was found\n")
	}
	if f.Page != "" {
		fmt.Fprintf(&b, "    timeline: %s\n", f.Page)
	}
	return b.String()
}

func indent(s string) string { return strings.ReplaceAll(s, "\n", "\n    ") }

// report fails the test if the campaign found something.
func (r *Report) report(t *testing.T) {
	t.Helper()
	if err := r.Err(); err != nil {
		t.Error(err)
	}
	r.sayDrift()
	r.printFew()
	r.printDivergences()
	for _, s := range r.Warnings() {
		t.Logf("sim: warning: %s", s)
	}
	if r.Failure == nil && r.Runs > 0 && flags.replay == "" {
		t.Logf("sim: nothing broke in %s", r.tried())
	}
}

// print prints every event of the run that failed, or was replayed.
func (r *Report) print(h Host) {
	told := r.Replayed
	if r.Failure != nil {
		told = r.Failure.History
	}
	if told == nil || !flags.verbose {
		return
	}
	for i := range told.Events {
		h.Logf("%s", told.Events[i].String())
	}
}
