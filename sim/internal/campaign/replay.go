package campaign

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/wavetank/wavetank/internal/story"
	"github.com/wavetank/wavetank/sim/internal/choice"
	"github.com/wavetank/wavetank/sim/internal/run"
	"github.com/wavetank/wavetank/sim/internal/shell"
	"github.com/wavetank/wavetank/sim/result"
)

// replayGiven runs the stories that -sim.replay names, or all that are kept, instead of searching.
func (c *campaign) replayGiven() {
	if c.settings.Replay == "" {
		c.replayKept()
		return
	}
	host := c.settings.Host
	paths := []string{c.settings.Replay}
	info, err := os.Stat(c.settings.Replay)
	if errors.Is(err, os.ErrNotExist) {
		host.Fatalf("sim: -sim.replay=%s: there is no such file; "+
			"the path is relative to the directory of the test's package", c.settings.Replay)
	}
	if err == nil && info.IsDir() {
		if paths, err = story.List(c.settings.Replay); err == nil && len(paths) == 0 {
			err = errors.New("the directory holds no story (*.txtar)")
		}
	}
	if err != nil {
		host.Fatalf("sim: -sim.replay=%s: %v", c.settings.Replay, err)
	}
	mine := 0
	defer c.failOutdated()
	for _, path := range paths {
		s, err := story.Read(path)
		if err != nil {
			host.Fatalf("sim: -sim.replay: %v", err)
		}
		// An option says which story it wants. The flag reaches every test.
		if s.Test != c.report.Name && c.settings.replayFlag && !c.adopts(path, s) {
			if len(paths) == 1 && !related(testOf(s.Test), host.Name()) && !alsoChosen(s, host.Name()) {
				host.Fatalf("sim: -sim.replay=%s is a story of %s, not of %s; %s",
					path, s.Test, c.report.Name, c.elsewhere(path, s))
			}
			continue
		}
		mine++
		if !c.replayStory(path, s) && !c.settings.Renew {
			return
		}
	}
	if mine > 0 && len(c.outdated) == 0 && c.settings.Confirm == "" {
		host.Logf("sim: replayed %d stories of %s; none breaks", mine, c.report.Name)
	}
}

// elsewhere says how to see a story of another test. The command in the file names the path that it
// had first, and runs no test, without a failure, where the test has got another name.
func (c *campaign) elsewhere(path string, s *story.Story) string {
	if s.Package == c.settings.Host.Package() {
		name, _, _ := strings.Cut(testOf(s.Test), "/")
		if strings.HasPrefix(s.Replay, "go test ") && !strings.Contains(s.Replay, "-ginkgo.") && !isTestHere(name) {
			return fmt.Sprintf("no %s is written here any more; if this test is its successor, "+
				"write \"test: %s\" in the file, or move it to %s",
				name, c.report.Name, filepath.ToSlash(storyDir(c.report.Name)))
		}
	} else if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	const arg = " -sim.replay="
	command := s.Replay
	if before, after, ok := strings.Cut(command, arg); ok {
		_, rest, more := strings.Cut(after, " -") // what was quoted may hold blanks
		command = before + arg + shell.Word(filepath.ToSlash(path))
		if more {
			command += " -" + rest
		}
	}
	return "replay it with\n    " + command
}

// isTestHere reports whether the package of the test, in whose directory go test runs it, declares
// a test function; true if that is unknown.
func isTestHere(name string) bool {
	files, err := filepath.Glob("*_test.go")
	if err != nil || len(files) == 0 {
		return true
	}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil || strings.Contains(string(text), "func "+name+"(") {
			return true
		}
	}
	return false
}

// related reports whether go test cannot run one of two tests without the other: they are one, or
// one is the other's subtest.
func related(a, b string) bool {
	return strings.HasPrefix(a+"/", b+"/") || strings.HasPrefix(b+"/", a+"/")
}

// alsoChosen reports whether the focus in a story's command chooses a spec as well: Ginkgo matches
// it against the suite's description and the spec's text, and only the end can be told.
func alsoChosen(s *story.Story, spec string) bool {
	return strings.Contains(s.Replay, "-ginkgo.focus=") && strings.HasSuffix(spec, " "+testOf(s.Test))
}

// replayKept tries the stories that are kept for this test before searching, as go test does with
// fuzz corpora. It reports false when there is nothing to search for after that.
func (c *campaign) replayKept() bool {
	if c.settings.Stories == "" {
		return true
	}
	paths, err := story.List(c.settings.Stories)
	if err != nil {
		c.settings.Host.Fatalf("%v", err)
	}
	for _, path := range paths {
		s, err := story.Read(path)
		if err != nil {
			c.settings.Host.Fatalf("sim: a kept story cannot be read: %v; mend or remove the file", err)
		}
		if s.Test != c.report.Name && !c.adopts(path, s) || c.replayStory(path, s) {
			continue
		}
		if !c.settings.KeepGoing || c.report.Failure.Kind == result.Misuse {
			return false
		}
	}
	return true
}

// adopts reports whether a story of another test was moved to this one's, as when a test gets
// another name and its stories are moved with it. A directory may also be that of two tests, whose
// names differ in what paths do not take.
func (c *campaign) adopts(path string, s *story.Story) bool {
	mine, errA := filepath.Abs(storyDir(c.report.Name))
	its, errB := filepath.Abs(storyDir(s.Test))
	dir, errC := filepath.Abs(filepath.Dir(path))
	if errA != nil || errB != nil || errC != nil || dir != mine || strings.EqualFold(its, mine) {
		return false
	}
	c.settings.Host.Logf("sim: %s is a story of %s that lies among those of %s, so it is played; "+
		"write that name after \"test:\" in the file", path, s.Test, c.report.Name)
	return true
}

// storyReplay is what the replay of a story came to.
type storyReplay struct {
	*run.Result
	choices choice.Sequence // of the story, with the labels of the choices that were moved
	unused  choice.Sequence // the choices that the run did not ask for
	moves   [][2]string     // the choices that were moved, and where to
	near    []string        // lines that may take the place of those of lost faults
}

// replay plays the choices of a story. If the run does not come to some of the faults, it plays
// them again with those faults at the writes of the same effect.
func (c *campaign) replay(s *story.Story) storyReplay {
	player := choice.Play(s.Choices)
	r := storyReplay{Result: c.play(player, s), choices: s.Choices, unused: player.Unused()}
	if c.ofCatalogue() || len(lostFaults(r.unused)) == 0 || stillFails(s, r.Ending) {
		return r
	}
	m := newMover(s.Choices, r.unused)
	if m == nil {
		return r
	}
	res := c.play(m, s)
	r.near = m.near()
	if moves := m.moves(); len(moves) > 0 && (!r.Ending.Failed() || stillFails(s, res.Ending)) {
		r.Result, r.choices, r.unused, r.moves = res, m.sequence(s.Choices), m.Unused(), moves
	}
	return r
}

// used are the choices that the run asked for.
func (s storyReplay) used() choice.Sequence {
	return slices.DeleteFunc(slices.Clone(s.choices), func(e story.Choice) bool { return slices.Contains(s.unused, e) })
}

// ofCatalogue reports whether the test plays stories by itself, with sim.Replay. They may be those
// of another program, so nothing is said of how they fit.
func (c *campaign) ofCatalogue() bool { return c.settings.Replay != "" && !c.settings.replayFlag }

// replayStory runs one story. It reports false when the story still breaks, with the failure on
// record. Where -sim.shrink was given together with -sim.replay, it also searches for that long for
// a shorter story, and keeps that beside the file.
func (c *campaign) replayStory(path string, s *story.Story) bool {
	if c.settings.Confirm != "" {
		c.confirm(path, s)
		return true
	}
	c.doing.Store(&activity{what: "the story " + path + ", played by a campaign"})
	defer c.ignore(s.Ignored)()
	r := c.replay(s)
	c.count(r.Result)
	c.report.Replayed = r.History.Rest()
	if r.Ending.Kind == result.Misuse {
		c.report.Failure = &result.Failure{Ending: r.Ending, History: c.report.Replayed}
		return false
	}
	old := c.sayHowItFits(path, s, r)
	if !r.Ending.Failed() {
		c.settings.reportReplayed("held")
		if c.settings.Renew {
			c.renewPassing(path, s, r, old)
		}
		return true
	}
	c.settings.reportReplayed("broke")
	c.brokenRuns++
	f := c.failureOf(path, s, r)
	if c.settings.Renew && (old != nil || len(r.moves)+len(r.unused) > 0) {
		f.File = c.renew(path, s, f.Story)
	}
	c.writePage(f)
	if old != nil {
		f.Strategy = outdatedStory
		c.outdated = append(c.outdated, f)
		return true
	}
	if c.report.Failure == nil {
		c.report.Failure = f
	}
	if c.settings.Replay == "" {
		f.Strategy = "a story that is kept"
		c.group(f, f.Story.After.Steps)
	}
	return false
}

// notMeasured is said of a story whose explanation is about other steps than those of its replay.
const notMeasured = "Not measured: the story is of another version of the program, whose steps were others."

// failureOf is the failure of a story that was replayed, shrunk if that was asked for.
func (c *campaign) failureOf(path string, s *story.Story, r storyReplay) *result.Failure {
	f := &result.Failure{Ending: r.Ending, History: c.report.Replayed, File: path}
	choices, res := r.choices, r.Result
	if c.settings.Renew {
		choices = r.used()
	}
	before := len(choices)
	shrinks := given("sim.shrink", "SIM_SHRINK") && c.settings.replayFlag && c.settings.Shrink > 0
	if shrinks && f.Kind != result.Nondeterminism {
		var best *run.Result
		if best, choices = c.shrink(f, res, res, c.settings.Shrink); len(choices) < before {
			f.Ending, f.History, res = best.Ending, best.History.Rest(), best
		}
	}
	f.Story = c.story(f, choices, s.Before, lengthOf(res))
	f.Story.Seed, f.Story.Took = s.Seed, s.Took
	if slices.Equal(s.History, f.Story.History) {
		f.Story.Measured, f.Story.Shares = s.Measured, s.Shares
	} else if len(s.Measured) > 0 {
		f.Story.Measured = []string{notMeasured}
	}
	if len(choices) < before {
		var err error
		if path, err = f.Story.Write(filepath.Dir(path)); err != nil {
			c.settings.Host.Fatalf("sim: the shorter story could not be kept: %v", err)
		}
		c.settings.Host.Logf("sim: shrunk from %d choices to %d: %s", before, len(choices), path)
		f.File = path
	} else if f.Shrinking.Runs > 0 {
		why := "nothing of it can be left out"
		if f.Shrinking.Stopped {
			why = "the time was up"
		}
		c.settings.Host.Logf("sim: no shorter form of %s was found in %d runs: %s", path, f.Shrinking.Runs, why)
	}
	f.Story.Replay = c.command(path)
	return f
}

// pairsPlayed is how often a story of two runs that differed is played before they are taken for
// alike.
const pairsPlayed = 10

// play runs a story: once, or as often as it takes where it is about runs that differ.
func (c *campaign) play(source choice.Source, s *story.Story) *run.Result {
	res := c.execute(source)
	if s.Kind != result.Nondeterminism.String() {
		return res
	}
	for i := 1; i < pairsPlayed && !res.Ending.Failed(); i++ {
		switch d, _ := c.runAgain(res); {
		case d != nil && d.Text:
			c.settings.Host.Logf("sim: two runs of a story differ only in the text of an error, "+
				"which breaks nothing: %s", d.What)
		case d != nil:
			res.Ending = d.ending()
		}
	}
	return res
}

// stillFails reports whether what an earlier process has found can be had again.
func (c *campaign) stillFails(f story.Finding) bool {
	s, err := story.Decode([]byte(f.Story))
	if err != nil || f.Kind == result.TestFailed.String() {
		return true // nothing says that it cannot
	}
	defer c.ignore(s.Ignored)()
	return c.play(choice.Play(s.Choices), s).Ending.Failed()
}
