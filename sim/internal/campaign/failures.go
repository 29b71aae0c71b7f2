package campaign

import (
	"os"
	"path/filepath"
	"time"

	"github.com/wavetank/wavetank/internal/story"
	"github.com/wavetank/wavetank/reports"
	"github.com/wavetank/wavetank/sim/internal/choice"
	"github.com/wavetank/wavetank/sim/internal/run"
	"github.com/wavetank/wavetank/sim/result"
)

// shrinkEach is how many failing runs of one property are shrunk; what a campaign that keeps going
// finds after that is counted under the faults of the run as it was found.
const shrinkEach = 4

// keeper shrinks failing runs, and keeps their stories and pages.
type keeper struct {
	settings Settings
	runs     *executor
	shrinker *shrinker
	findings *findings
	teller   *teller
	began    time.Duration     // CPU time of the process
	failures map[string]int    // failing runs so far, by property
	written  map[string]string // files of stories that this process has written, by cause
}

// addBroken adds the violations of a run: those after which it continued, and the one that ended
// it. Each of the first is found in a run of its own that ignores those before it.
func (k *keeper) addBroken(i int, seed uint64, strategy string, res *run.Result) {
	var ignored []string
	for _, e := range res.Passed {
		restore := k.runs.ignore(ignored)
		if first := k.runs.execute(choice.Play(res.Choices)); first.Ending.Same(e) {
			k.addFailing(i, seed, strategy, first, first)
		}
		restore()
		ignored = append(ignored, e.Property)
	}
	if res.Ending.Failed() {
		defer k.runs.ignore(ignored)()
		k.addFailing(i, seed, strategy, res, res)
	}
}

// addFailing shrinks a failing run and keeps its story. from is where shrinking starts; first is
// the run as it was found.
func (k *keeper) addFailing(i int, seed uint64, strategy string, first, from *run.Result) {
	f := &result.Failure{Ending: first.Ending, Run: i, Seed: seed, Strategy: strategy, Took: cpuTime() - k.began}
	f.History = first.History.Rest()
	switch first.Ending.Kind {
	case result.Misuse:
		k.findings.fail(f)
		return
	case result.TestFailed:
		k.addFailure(f, first.Choices, lengthOf(first), lengthOf(first))
		return
	}
	limit := k.settings.Shrink
	if k.failures[f.Property]++; k.failures[f.Property] > shrinkEach {
		limit = 0
	}
	k.findings.fail(f)
	best, choices := k.shrinker.shrink(f, first, from, limit)
	k.runs.judgeAgain(choices, best.Ending)
	f.Ending, f.History = best.Ending, best.History.Rest()
	k.addFailure(f, choices, lengthOf(first), lengthOf(best))
}

// addFailure puts the failure on record, and on file where stories are kept. It is not explained if
// only a program looks at it, if its choices do not repeat it, or if the campaign must end.
func (k *keeper) addFailure(f *result.Failure, choices choice.Sequence, before, after story.Length) {
	f.Story = k.teller.story(f, choices, before, after)
	wanted := k.settings.Keep || given("sim.explain", "SIM_EXPLAIN")
	wanted = wanted && k.settings.Explain > 0 && !k.shrinker.mustEnd()
	if wanted && !f.Flaky && f.OfRun() && k.findings.leads(f) {
		f.Story.Measured, f.Story.Shares = k.shrinker.explain(f, choices, after.Steps, k.settings.Explain)
	}
	if k.settings.Stories != "" && k.findings.isShortest(f, after.Steps) {
		path, err := f.Story.Write(k.settings.Stories)
		if err != nil {
			k.settings.Host.Logf("sim: the story could not be kept: %v", err)
		} else {
			f.File = path
			k.replaceStory(causeOf(f), path)
		}
	}
	k.writePage(f)
	k.findings.add(f, after.Steps)
}

// replaceStory removes the longer story of a cause that this process has written before, unless the
// report shows it.
func (k *keeper) replaceStory(cause, path string) {
	if before := k.written[cause]; before != "" && before != path && before != k.findings.report.Failure.File {
		if err := os.Remove(before); err != nil {
			k.settings.Host.Logf("sim: a story that was replaced by %s stays: %v", path, err)
		}
	}
	k.written[cause] = path
}

// writePage writes the page of a failing run into the directory of -sim.report, and remembers where
// it is.
func (k *keeper) writePage(f *result.Failure) {
	if k.settings.ReportDir == "" || k.failures[f.Property] > shrinkEach {
		return
	}
	page, err := reports.WriteRun(k.settings.ReportDir, reports.Run{Story: f.Story, File: f.File, History: f.History})
	if err != nil {
		k.settings.Host.Logf("sim: the timeline could not be kept: %v", err)
		return
	}
	f.Page = page
	if abs, err := filepath.Abs(page); err == nil {
		f.Page = abs // the test's directory is not the one where go test was typed
	}
}
