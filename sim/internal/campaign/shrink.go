package campaign

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/internal/story"
	"github.com/wavetank/wavetank/reports"
	"github.com/wavetank/wavetank/sim/internal/choice"
	"github.com/wavetank/wavetank/sim/internal/explain"
	"github.com/wavetank/wavetank/sim/internal/run"
	"github.com/wavetank/wavetank/sim/result"
)

// shrinkEach is how many failing runs of one property are shrunk; what a campaign that keeps going
// finds after that is counted under the faults of the run as it was found.
const shrinkEach = 4

// shrinkTime is the CPU time of the search for a shorter story.
const shrinkTime = 20 * time.Second

// shrinkLimit ends a search for a shorter story: when its CPU time is spent. While it has become
// shorter lately, the search gets as much again.
type shrinkLimit struct {
	effort
	limit, shortened time.Duration
}

func (s *shrinkLimit) over() bool {
	spent := s.spent()
	return spent >= s.limit && (spent-s.shortened >= s.limit/4 || spent >= 2*s.limit)
}

// maxCandidate is how many steps a candidate may have. A story should not become longer than the
// run as it was found, but without a fault the code may take some steps more. A candidate that is
// much longer than the shortest run so far also takes time.
func maxCandidate(first, best int) int { return min(first+first/10+20, best+best/2+100) }

// addFailing shrinks a failing run and keeps its story. from is where shrinking starts; first is
// the run as it was found.
func (c *campaign) addFailing(i int, seed uint64, strategy string, first, from *run.Result) {
	f := &result.Failure{Ending: first.Ending, Run: i, Seed: seed, Strategy: strategy, Took: cpuTime() - c.cpu}
	f.History = first.History.Rest()
	if first.Ending.Kind == result.Misuse {
		c.report.Failure = f
		return
	}
	if first.Ending.Kind == result.TestFailed {
		c.addFailure(f, first.Choices, lengthOf(first), lengthOf(first))
		return
	}
	limit := c.settings.Shrink
	if c.shrunk[f.Property]++; c.shrunk[f.Property] > shrinkEach {
		limit = 0
	}
	if c.report.Failure == nil {
		c.report.Failure = f
	}
	best, choices := c.shrink(f, first, from, limit)
	c.needless(choices, best.Ending)
	f.Ending, f.History = best.Ending, best.History.Rest()
	c.addFailure(f, choices, lengthOf(first), lengthOf(best))
}

// addBroken adds the violations of a run: those after which it continued, and the one that ended
// it. Each of the first is found in a run of its own that ignores those before it.
func (c *campaign) addBroken(i int, seed uint64, strategy string, res *run.Result) {
	var ignored []string
	for _, e := range res.Passed {
		restore := c.ignore(ignored)
		if first := c.execute(choice.Play(res.Choices)); first.Ending.Same(e) {
			c.addFailing(i, seed, strategy, first, first)
		}
		restore()
		ignored = append(ignored, e.Property)
	}
	if res.Ending.Failed() {
		defer c.ignore(ignored)()
		c.addFailing(i, seed, strategy, res, res)
	}
}

// ignore has runs end at a violation, except of some properties, until restore is called.
func (c *campaign) ignore(properties []string) (restore func()) {
	was := c.settings.Run
	c.settings.Run.Pass, c.settings.Run.Ignored = false, slices.Clone(properties)
	return func() { c.settings.Run.Pass, c.settings.Run.Ignored = was.Pass, was.Ignored }
}

// needless has runs judged again by the properties that a sequence does not violate before it fails
// as it should.
func (c *campaign) needless(choices choice.Sequence, e result.Ending) {
	for _, name := range slices.Clone(c.settings.Run.Ignored) {
		all := c.settings.Run.Ignored
		c.settings.Run.Ignored = slices.DeleteFunc(slices.Clone(all), func(n string) bool { return n == name })
		if !c.execute(choice.Play(choices)).Ending.Same(e) {
			c.settings.Run.Ignored = all
		}
	}
}

// shrink searches for the shortest choice sequence that fails as the first run did.
func (c *campaign) shrink(f *result.Failure, first, from *run.Result, limit time.Duration) (*run.Result,
	choice.Sequence) {
	best, settings := from, c.settings.Run
	what := fmt.Sprintf("an attempt to shorten run %d (seed %d)", f.Run, f.Seed)
	c.doing.Store(&activity{what, f.Strategy, f.Run, f.Seed})
	p := &shrinkLimit{effort: newEffort(cpuTime), limit: limit}
	choices, runs, stopped := choice.Shrink(from.Choices, func(t choice.Sequence) choice.Trial {
		if first.Ending.Kind != result.Settles { // such a run may fail of its length
			settings.MaxSteps = min(settings.MaxSteps, maxCandidate(first.Steps, best.Steps))
		}
		res := c.runner(c.t, choice.Play(t), settings)
		c.progress.show(c)
		if !res.Ending.Same(first.Ending) || res.Steps > settings.MaxSteps && first.Ending.Kind != result.Settles {
			return choice.Trial{Log: res.Log}
		}
		best, p.shortened = res, p.spent()
		c.shrinking = fmt.Sprintf("%s of %s", lengthOf(res).Words(), lengthOf(first).Words())
		return choice.Trial{Same: true, Used: res.Choices, Log: res.Log}
	}, func() bool { return c.mustEnd() || p.over() })
	f.Shrinking = story.Shrinking{Runs: runs, Took: p.spent(), Stopped: stopped && limit > 0}
	again := c.execute(choice.Play(choices))
	at, _ := history.Divergence(best.History, again.History)
	if !again.Ending.Same(first.Ending) || at >= 0 && best != first {
		f.Flaky = true
		return first, first.Choices
	}
	return again, choices
}

// explainTime is the CPU time in which a failure is explained.
const explainTime = 5 * time.Second

// explain measures why the first failure of a test happens. Runs that only a program looks at, and
// failures whose choices do not repeat them, are not explained.
func (c *campaign) explain(f *result.Failure, choices choice.Sequence, steps int) ([]string, []story.Share) {
	wanted := c.settings.Keep || given("sim.explain", "SIM_EXPLAIN")
	if c.settings.Explain <= 0 || !wanted || f.Flaky || !f.OfRun() || !c.leads(f) {
		return nil, nil
	}
	what := fmt.Sprintf("the explanation of run %d (seed %d)", f.Run, f.Seed)
	c.doing.Store(&activity{what, f.Strategy, f.Run, f.Seed})
	spent, settings := newEffort(cpuTime), c.settings.Run
	if f.Kind != result.Settles { // such a run may fail of its length
		settings.MaxSteps = min(settings.MaxSteps, 2*steps+1000)
	}
	if settings.Monitor == nil {
		settings.Monitor = &run.Monitor{}
	}
	subject := &explain.Subject{
		Ending: f.Ending, Sequence: choices, Line: f.Line, Monitor: settings.Monitor,
		Over: func() bool { return spent.spent() >= c.settings.Explain },
		Run:  func(o choice.Source) *run.Result { return c.runner(c.t, o, settings) },
	}
	return subject.Measure()
}

// addFailure puts the failure on record, and on file where stories are kept.
func (c *campaign) addFailure(f *result.Failure, choices choice.Sequence, before, after story.Length) {
	f.Story = c.story(f, choices, before, after)
	f.Story.Measured, f.Story.Shares = c.explain(f, choices, after.Steps)
	if c.settings.Stories != "" && c.isShortest(f, after.Steps) {
		path, err := f.Story.Write(c.settings.Stories)
		if err != nil {
			c.settings.Host.Logf("sim: the story could not be kept: %v", err)
		} else {
			f.File = path
			c.replaceStory(causeOf(f), path)
		}
	}
	c.writePage(f)
	if c.leads(f) {
		c.report.Failure = f
	}
	c.group(f, after.Steps)
}

// leads reports whether a failure is the one that the report shows: the first of the most harmful.
func (c *campaign) leads(f *result.Failure) bool {
	first := c.report.Failure
	if first == nil || first == f {
		return len(c.report.Findings) == 0
	}
	return first.Kind != result.Misuse && story.Harm(f.Property) < story.Harm(first.Property)
}

// replaceStory removes the longer story of a cause that this process has written before, unless the
// report shows it.
func (c *campaign) replaceStory(cause, path string) {
	if before := c.written[cause]; before != "" && before != path && before != c.report.Failure.File {
		if err := os.Remove(before); err != nil {
			c.settings.Host.Logf("sim: a story that was replaced by %s stays: %v", path, err)
		}
	}
	c.written[cause] = path
}

// isShortest reports whether no story of a failure's cause is as short: thousands of runs may fail
// alike, and one story will do.
func (c *campaign) isShortest(f *result.Failure, steps int) bool {
	i := slices.IndexFunc(c.report.Findings, func(have story.Finding) bool { return have.Cause == causeOf(f) })
	return i < 0 || steps < c.report.Findings[i].Steps
}

// group adds a failure to those of its cause.
func (c *campaign) group(f *result.Failure, steps int) {
	found := &story.Result{Findings: c.report.Findings}
	found.Found(story.Finding{Cause: causeOf(f), Kind: f.Kind.String(), Property: f.Property, Count: 1, First: f.Run,
		Strategy: f.Strategy, Story: string(f.Story.Encode()), Steps: steps})
	c.report.Findings = found.Findings
}

// causeOf is what failing runs are grouped by: the property, and the line of the program that
// decided. If no line is known, it is the property and the faults that the story injects.
func causeOf(f *result.Failure) string {
	name := f.Property
	if name == "" {
		first, _, _ := strings.Cut(f.Message, "\n")
		name = f.Kind.String() + ": " + first
	}
	if f.Line != "" {
		return story.Printable(fmt.Sprintf("%s, decided at %s", name, f.Line))
	}
	var kinds []string
	for _, c := range f.Story.Choices {
		if c.Kind == story.Inject {
			kinds = append(kinds, c.Of)
		}
	}
	slices.Sort(kinds)
	kinds = slices.Compact(kinds)
	if len(kinds) == 0 {
		kinds = []string{"no fault"}
	}
	return story.Printable(fmt.Sprintf("%s, under %s", name, strings.Join(kinds, " and ")))
}

func lengthOf(r *run.Result) story.Length {
	l := story.Length{Choices: len(r.Choices), Steps: r.Steps}
	for _, f := range r.Faults {
		l.Faults += f.Injected
	}
	return l
}

// story is the story of a failure. It notes the line that decided.
func (c *campaign) story(f *result.Failure, choices choice.Sequence, before, after story.Length) *story.Story {
	from := fmt.Sprintf("%s, run %d of base seed %d", f.Strategy, f.Run, c.report.Seed)
	s := &story.Story{
		Test: c.report.Name, Package: c.settings.Host.Package(), Kind: f.Kind.String(),
		Property: f.Property, Site: f.Site, Message: f.Message,
		Seed: strings.TrimPrefix(from, ", "), Took: f.Took, Before: before, After: after, Shrinking: f.Shrinking,
		Choices: choices, Versions: recordedWith(), History: f.History.Render(),
		Ignored: c.settings.Run.Ignored,
	}
	cause := reports.CauseOf(f.History, s.Choices)
	f.Line, s.Led, s.Why = cause.Line, cause.Led, cause.Sentences
	dir := c.settings.Stories
	if dir == "" {
		dir = "<directory>"
	}
	s.Replay = c.command(filepath.Join(dir, s.Name()))
	return s
}

// command is what one types to see a story again.
func (c *campaign) command(path string) string {
	if c.settings.Replay != "" && !c.settings.replayFlag {
		path = "" // the test plays it by itself
	}
	command := c.settings.Host.Replay(path)
	if given("sim.max-steps", "SIM_MAX_STEPS") {
		command += fmt.Sprintf(" -sim.max-steps=%d", c.settings.Run.MaxSteps)
	}
	if c.exact {
		command += " " + story.Overlaid
	}
	return command
}
