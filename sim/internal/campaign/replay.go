package campaign

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/wavetank/wavetank/internal/story"
	"github.com/wavetank/wavetank/sim/internal/run"
	"github.com/wavetank/wavetank/sim/result"
)

// replayer replays stories that are kept or given, and reports how they fit.
type replayer struct {
	settings  Settings
	runs      *executor
	tally     *tally
	report    *result.Report
	findings  *findings
	keeper    *keeper
	player    *player
	renewer   *renewer
	confirmer *confirmer
	outdated  []*result.Failure // what outdated stories came to; their failure waits for the search
}

// replayGiven runs the stories that -sim.replay names, or all that are kept, instead of searching.
func (r *replayer) replayGiven() {
	if r.settings.Replay == "" {
		r.replayKept()
		return
	}
	host := r.settings.Host
	paths := []string{r.settings.Replay}
	info, err := os.Stat(r.settings.Replay)
	if errors.Is(err, os.ErrNotExist) {
		host.Fatalf("sim: -sim.replay=%s: there is no such file; "+
			"the path is relative to the directory of the test's package", r.settings.Replay)
	}
	if err == nil && info.IsDir() {
		if paths, err = story.List(r.settings.Replay); err == nil && len(paths) == 0 {
			err = errors.New("the directory holds no story (*.txtar)")
		}
	}
	if err != nil {
		host.Fatalf("sim: -sim.replay=%s: %v", r.settings.Replay, err)
	}
	mine := 0
	defer r.failOutdated()
	for _, path := range paths {
		s, err := story.Read(path)
		if err != nil {
			host.Fatalf("sim: -sim.replay: %v", err)
		}
		// An option says which story it wants. The flag reaches every test.
		if s.Test != r.report.Name && r.settings.replayFlag && !adopts(path, s, r.report.Name, host) {
			if len(paths) == 1 && !related(testOf(s.Test), host.Name()) && !alsoChosen(s, host.Name()) {
				host.Fatalf("sim: -sim.replay=%s is a story of %s, not of %s; %s",
					path, s.Test, r.report.Name, elsewhere(path, s, host.Package(), r.report.Name))
			}
			continue
		}
		mine++
		if !r.replayStory(path, s) && !r.settings.Renew {
			return
		}
	}
	if mine > 0 && len(r.outdated) == 0 && r.settings.Confirm == "" {
		host.Logf("sim: replayed %d stories of %s; none breaks", mine, r.report.Name)
	}
}

// replayKept tries the stories that are kept for this test before searching, as go test does with
// fuzz corpora. It reports false when there is nothing to search for after that.
func (r *replayer) replayKept() bool {
	host := r.settings.Host
	if r.settings.Stories == "" {
		return true
	}
	paths, err := story.List(r.settings.Stories)
	if err != nil {
		host.Fatalf("%v", err)
	}
	for _, path := range paths {
		s, err := story.Read(path)
		if err != nil {
			host.Fatalf("sim: a kept story cannot be read: %v; mend or remove the file", err)
		}
		if s.Test != r.report.Name && !adopts(path, s, r.report.Name, host) || r.replayStory(path, s) {
			continue
		}
		if !r.settings.KeepGoing || r.report.Failure.Kind == result.Misuse {
			return false
		}
	}
	return true
}

// replayStory runs one story. It reports false when the story still breaks, with the failure on
// record. Where -sim.shrink was given together with -sim.replay, it also searches for that long for
// a shorter story, and keeps that next to the file.
func (r *replayer) replayStory(path string, s *story.Story) bool {
	if r.settings.Confirm != "" {
		if r.settings.Free {
			r.confirmer.estimate(path, s)
		} else {
			r.confirmer.confirm(path, s)
		}
		return true
	}
	r.runs.doing.Store(&activity{what: "the story " + path + ", played by a campaign"})
	defer r.runs.ignore(s.Ignored)()
	replay := r.player.replay(s)
	r.tally.count(replay.Result)
	r.report.Replayed = replay.History.Rest()
	if replay.Ending.Kind == result.Misuse {
		r.findings.fail(&result.Failure{Ending: replay.Ending, History: r.report.Replayed})
		return false
	}
	old := r.reportFit(path, s, replay)
	if !replay.Ending.Failed() {
		r.settings.reportReplayed("held")
		if r.settings.Renew {
			r.renewer.renewPassing(path, s, replay, old)
		}
		return true
	}
	r.settings.reportReplayed("broke")
	f := r.failureOf(path, s, replay)
	if r.settings.Renew && (old != nil || len(replay.moves)+len(replay.unused) > 0) {
		f.File = r.renewer.renew(path, s, f.Story)
	}
	r.keeper.writePage(f)
	if old != nil {
		f.Strategy = outdatedStory
		r.outdated = append(r.outdated, f)
		return true
	}
	r.findings.fail(f)
	if r.settings.Replay == "" {
		f.Strategy = "a story that is kept"
		r.findings.group(f, f.Story.After.Steps)
	}
	return false
}

// reportFit reports what of a story no longer fits the program and the scenario: choices that were
// moved or lost, and a statement that is outdated, which it returns.
func (r *replayer) reportFit(path string, s *story.Story, replay storyReplay) *story.Outdated {
	old, drift, lines := comparedWith(path, s, replay)
	if r.settings.ofCatalogue() {
		if old != nil && replay.Ending.Failed() {
			lines = append(lines, fmt.Sprintf("%s was about %s %q; now another property breaks first", path, s.Kind,
				s.Property))
		}
		old, drift = nil, nil
	}
	for _, line := range lines {
		r.settings.Host.Logf("sim: %s", line)
	}
	switch {
	case old != nil:
		r.settings.Host.Logf("sim: %s", old.Sentence())
		r.settings.reportReplayed("outdated: " + old.Sentence())
		r.report.Outdated = append(r.report.Outdated, *old)
	case drift != nil:
		r.settings.reportReplayed("drifted: " + driftSentence(*drift))
		r.report.Drifted = append(r.report.Drifted, *drift)
	}
	return old
}

// failOutdated makes what an outdated story came to the failure of the campaign, if the campaign
// has no other.
func (r *replayer) failOutdated() {
	for _, f := range r.outdated {
		if r.settings.Replay == "" {
			r.findings.group(f, f.Story.After.Steps)
		}
		r.findings.fail(f)
	}
	r.outdated = nil
}

// notMeasured is said of a story whose explanation is about other steps than those of its replay.
const notMeasured = "Not measured: the story is of another version of the program, whose steps were others."

// failureOf is the failure of a story that was replayed, shrunk if that was asked for.
func (r *replayer) failureOf(path string, s *story.Story, replay storyReplay) *result.Failure {
	f := &result.Failure{Ending: replay.Ending, History: r.report.Replayed, File: path}
	choices, res := replay.choices, replay.Result
	if r.settings.Renew {
		choices = replay.used()
	}
	before := len(choices)
	shrinks := given("sim.shrink", "SIM_SHRINK") && r.settings.replayFlag && r.settings.Shrink > 0
	if shrinks && f.Kind != result.Nondeterminism {
		var best *run.Result
		if best, choices = r.keeper.shrinker.shrink(f, res, res, r.settings.Shrink); len(choices) < before {
			f.Ending, f.History, res = best.Ending, best.History.Rest(), best
		}
	}
	f.Story = r.keeper.teller.story(f, choices, s.Before, lengthOf(res))
	f.Story.Seed, f.Story.Took = s.Seed, s.Took
	if slices.Equal(s.History, f.Story.History) {
		f.Story.Measured, f.Story.Shares = s.Measured, s.Shares
	} else if len(s.Measured) > 0 {
		f.Story.Measured = []string{notMeasured}
	}
	if len(choices) < before {
		var err error
		if path, err = f.Story.Write(filepath.Dir(path)); err != nil {
			r.settings.Host.Fatalf("sim: the shorter story could not be kept: %v", err)
		}
		r.settings.Host.Logf("sim: shrunk from %d choices to %d: %s", before, len(choices), path)
		f.File = path
	} else if f.Shrinking.Runs > 0 {
		why := "nothing of it can be left out"
		if f.Shrinking.Stopped {
			why = "the time was up"
		}
		r.settings.Host.Logf("sim: no shorter form of %s was found in %d runs: %s", path, f.Shrinking.Runs, why)
	}
	f.Story.Replay = r.keeper.teller.command(path)
	return f
}
