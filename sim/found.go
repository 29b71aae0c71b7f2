package sim

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/wavetank/wavetank/sim/history"
	"github.com/wavetank/wavetank/sim/internal/choice"
	"github.com/wavetank/wavetank/sim/story"
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
func (c *campaign) minimal(f *Failure, first, from *result, limit time.Duration) (*result, choice.Tape) {
	best := from
	tape, runs := choice.Shrink(from.tape, limit, func(t choice.Tape) (choice.Tape, bool) {
		res := execute(c.t, c.scenario, choice.Play(t), c.settings)
		c.progress.show(&c.report, c.settings)
		if !res.verdict.same(first.verdict) {
			return nil, false
		}
		best = res
		return res.tape, true
	})
	f.Shrinks = runs
	again := execute(c.t, c.scenario, choice.Play(tape), c.settings)
	if at, _ := history.Difference(best.history, again.history); !again.verdict.same(first.verdict) || at >= 0 && best != first {
		f.Flaky = true
		return first, first.tape
	}
	return again, tape
}

// fail puts the failure on record, and on file where stories are kept.
func (c *campaign) fail(f *Failure, tape choice.Tape, before, after story.Length) {
	f.Story = c.story(f, tape, before, after)
	if c.settings.stories != "" {
		path, err := f.Story.Write(c.settings.stories)
		if err != nil {
			c.settings.host.Logf("sim: the story could not be kept: %v", err)
		} else {
			f.File = path
		}
	}
	c.picture(f)
	if c.report.Failure == nil || c.report.Failure.Run == f.Run {
		c.report.Failure = f
	}
	c.group(f, after.Steps)
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
		l.Faults += f.Struck
	}
	return l
}

func (c *campaign) story(f *Failure, tape choice.Tape, before, after story.Length) *story.Story {
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
	s.Replay = c.settings.host.Replay(filepath.Join(dir, s.Name()))
	return s
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

// replay runs the stories that -sim.replay names, instead of searching.
func (c *campaign) replay() {
	paths := []string{c.settings.replay}
	info, err := os.Stat(c.settings.replay)
	if errors.Is(err, os.ErrNotExist) {
		c.settings.host.Fatalf("sim: -sim.replay=%s: there is no such file; the path is relative to the directory of the test's package", c.settings.replay)
	}
	if err == nil && info.IsDir() {
		if paths, err = story.List(c.settings.replay); err == nil && len(paths) == 0 {
			err = errors.New("the directory holds no story (*.txtar)")
		}
	}
	if err != nil {
		c.settings.host.Fatalf("sim: -sim.replay=%s: %v", c.settings.replay, err)
	}
	mine := 0
	for _, path := range paths {
		s, err := story.Read(path)
		if err != nil {
			c.settings.host.Fatalf("sim: -sim.replay: %v", err)
		}
		if s.Test != c.report.Name && flags.replay != "" { // an option says which story it wants, a flag reaches every test
			if len(paths) == 1 {
				if testOf(s.Test) == c.settings.host.Name() {
					return // another campaign of the same test
				}
				c.settings.host.Fatalf("sim: -sim.replay=%s is a story of %s, not of %s; replay it with\n    %s", path, s.Test, c.report.Name, s.Replay)
			}
			continue
		}
		mine++
		if !c.retell(path, s) {
			return
		}
	}
	c.settings.host.Logf("sim: replayed %d stories of %s; none breaks", mine, c.report.Name)
}

// regress tries the stories that are kept for this test before searching, as go test does with fuzz corpora.
func (c *campaign) regress() bool {
	if c.settings.stories == "" {
		return true
	}
	paths, err := story.List(c.settings.stories)
	if err != nil {
		c.settings.host.Fatalf("%v", err)
	}
	for _, path := range paths {
		s, err := story.Read(path)
		if err != nil {
			c.settings.host.Fatalf("sim: a kept story cannot be read: %v; mend or remove the file", err)
		}
		if s.Test == c.report.Name && !c.retell(path, s) {
			return false
		}
	}
	return true
}

// retell runs one story. It reports false when the story still breaks, with the failure on record. Where -sim.shrink was
// given together with -sim.replay, it also searches for that long for a shorter story, and keeps that beside the file.
func (c *campaign) retell(path string, s *story.Story) bool {
	tape := make(choice.Tape, len(s.Tape))
	for i, e := range s.Tape {
		tape[i] = choice.Entry{ID: e.ID, Value: e.Value}
	}
	player := choice.Play(tape)
	res := execute(c.t, c.scenario, player, c.settings)
	c.count(res)
	c.report.Replayed = res.history.Rest()
	if res.verdict != nil && res.verdict.Temper == "misuse" {
		c.report.Failure = &Failure{Verdict: *res.verdict, History: c.report.Replayed}
		return false
	}
	if drift := player.Unused(); len(drift) > 0 {
		var ids []string
		for _, e := range drift {
			ids = append(ids, fmt.Sprintf("%q", e.ID))
		}
		c.settings.host.Logf("sim: %s has drifted: the code no longer asks for %s, so %d of its %d choices were not used",
			path, strings.Join(ids, ", "), len(drift), len(s.Tape))
	}
	tellWavetank(res.verdict)
	if res.verdict == nil {
		return true
	}
	f := &Failure{Verdict: *res.verdict, History: c.report.Replayed, File: path}
	if given("sim.shrink", "SIM_SHRINK") && flags.replay != "" && c.settings.shrink > 0 {
		var best *result
		if best, tape = c.minimal(f, res, res, c.settings.shrink); len(tape) < len(s.Tape) {
			f.Verdict, f.History, res = *best.verdict, best.history.Rest(), best
		}
	}
	f.Story = c.story(f, tape, s.Before, lengthOf(res))
	f.Story.Seed, f.Story.Took = s.Seed, s.Took
	if len(tape) < len(s.Tape) {
		var err error
		if path, err = f.Story.Write(filepath.Dir(path)); err != nil {
			c.settings.host.Fatalf("sim: the shorter story could not be kept: %v", err)
		}
		c.settings.host.Logf("sim: shrunk from %d choices to %d: %s", len(s.Tape), len(tape), path)
		f.File = path
	} else if f.Shrinks > 0 {
		c.settings.host.Logf("sim: no shorter form of %s was found in %d runs", path, f.Shrinks)
	}
	f.Story.Replay = c.settings.host.Replay(path)
	if v := res.verdict; s.Property != "" && (v.Temper != s.Temper || v.Property != s.Property) { // where it is declared may have changed
		c.settings.host.Logf("sim: %s was about %s %q; now another property breaks first", path, s.Temper, s.Property)
	}
	c.picture(f)
	c.report.Failure = f
	if c.settings.replay == "" {
		f.Strategy = "a story that is kept"
		c.group(f, f.Story.After.Steps)
	}
	return false
}

// tellWavetank adds a line on a story that was replayed to the file that the wavetank command asks for: an exit code does not
// say whether a test of that name was there.
func tellWavetank(v *Verdict) {
	path := os.Getenv("WAVETANK_REPLAYED")
	if path == "" || flags.replay == "" {
		return
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
	if err != nil {
		return // whoever asked will miss it
	}
	defer f.Close()
	fmt.Fprintln(f, map[bool]string{true: "held", false: "broke"}[v == nil])
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
		fmt.Fprintf(&b, "    shrunk from %s to %s, in %d runs; found by %s\n", f.Story.Before, f.Story.After, f.Shrinks, f.Story.Seed)
	}
	if f.Flaky {
		b.WriteString("    FLAKY: its own tape does not repeat it; run again with -sim.verify=1 to see where two runs part\n")
	}
	if f.File != "" {
		fmt.Fprintf(&b, "    story:  %s\n    replay: %s\n", f.File, f.Story.Replay)
	} else {
		b.WriteString("    the story was not kept; sim.Stories(directory) keeps it\n")
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
	for _, s := range r.Warnings() {
		t.Logf("sim: warning: %s", s)
	}
	if r.Failure == nil && r.Runs > 0 && flags.replay == "" {
		t.Logf("sim: nothing broke in %s", r.tried())
	}
	if r.Failure != nil && flags.verbose {
		for i := range r.Failure.History.Events {
			t.Log(r.Failure.History.Events[i].String())
		}
	}
}
