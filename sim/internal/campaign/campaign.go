// Package campaign makes all runs of one scenario that a command asks for: it searches for
// failures, shrinks, keeps and replays them, and reports what it found. It knows a run by its
// [run.Runner] alone.
package campaign

import (
	"testing"
	"time"

	"github.com/wavetank/wavetank/sim/internal/run"
	"github.com/wavetank/wavetank/sim/result"
)

// explorer makes all runs of one scenario that one command asks for. Each part owns one task, and
// the explorer decides which is next.
type explorer struct {
	t            *testing.T
	settings     Settings
	report       *result.Report
	runs         *executor
	tally        *tally
	findings     *findings
	progress     *progress
	keeper       *keeper
	verifier     *verifier
	replayer     *replayer
	search       *search
	recorder     *recorder
	interruption *interruption
	hangs        *hangs
}

func newCampaign(t *testing.T, r run.Runner, s Settings, name string, seed uint64) *explorer {
	report := &result.Report{Name: name, Seed: seed}
	exact := hasOverlay(t)
	c := &explorer{t: t, settings: s, report: report}
	c.runs = &executor{t: t, runner: r, settings: s.Run}
	c.tally = &tally{report: report}
	c.findings = &findings{report}
	c.progress = &progress{settings: s, tally: c.tally}
	c.interruption = &interruption{tally: c.tally, planned: s.planned(), written: make(chan struct{})}
	c.tally.counted = func() {
		c.interruption.publish()
		c.progress.show()
	}
	teller := &teller{s, c.runs, report, exact}
	c.keeper = &keeper{settings: s, runs: c.runs, findings: c.findings, teller: teller, began: cpuTime(),
		shrinker: &shrinker{c.runs, c.progress, c.interruption.asked.Load},
		failures: map[string]int{}, written: map[string]string{}}
	c.verifier = &verifier{s, c.runs, c.keeper, c.progress, report, map[string]int{}}
	c.replayer = &replayer{settings: s, runs: c.runs, tally: c.tally, report: report, findings: c.findings,
		keeper: c.keeper, player: &player{s, c.runs, c.verifier}, renewer: &renewer{s, teller},
		confirmer: &confirmer{s, c.runs, report}}
	c.search = newSearch(s, c.runs, c.tally)
	c.recorder = &recorder{settings: s, report: report, search: c.search, exact: exact, began: time.Now()}
	c.interruption.file = c.recorder.path()
	c.hangs = &hangs{settings: s, runs: c.runs, teller: teller, keep: c.recorder.keep}
	return c
}

// finish ends the campaign and writes its result, from run next on still to be made.
func (e *explorer) finish(next int) {
	e.replayer.failOutdated()
	e.report.Calls = e.settings.unsent(e.report.Sites)
	e.recorder.save(next, true)
}
