package sim

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/wavetank/wavetank/sim/internal/choice"
	"github.com/wavetank/wavetank/sim/internal/shell"
	"github.com/wavetank/wavetank/story"
)

// This file plays stories that are on file: those that -sim.replay names, those that are kept for a test, and those that an
// earlier process has found.

// replay runs the stories that -sim.replay names, instead of searching.
func (c *campaign) replay() {
	host := c.settings.host
	paths := []string{c.settings.replay}
	info, err := os.Stat(c.settings.replay)
	if errors.Is(err, os.ErrNotExist) {
		host.Fatalf("sim: -sim.replay=%s: there is no such file; the path is relative to the directory of the test's package", c.settings.replay)
	}
	if err == nil && info.IsDir() {
		if paths, err = story.List(c.settings.replay); err == nil && len(paths) == 0 {
			err = errors.New("the directory holds no story (*.txtar)")
		}
	}
	if err != nil {
		host.Fatalf("sim: -sim.replay=%s: %v", c.settings.replay, err)
	}
	mine := 0
	for _, path := range paths {
		s, err := story.Read(path)
		if err != nil {
			host.Fatalf("sim: -sim.replay: %v", err)
		}
		if s.Test != c.report.Name && flags.replay != "" && !c.adopts(path, s) { // an option says which story it wants, a flag reaches every test
			if len(paths) == 1 && !related(testOf(s.Test), host.Name()) && !alsoChosen(s, host.Name()) {
				host.Fatalf("sim: -sim.replay=%s is a story of %s, not of %s; %s", path, s.Test, c.report.Name, c.elsewhere(path, s))
			}
			continue
		}
		mine++
		if !c.retell(path, s) {
			return
		}
	}
	if mine > 0 {
		host.Logf("sim: replayed %d stories of %s; none breaks", mine, c.report.Name)
	}
}

// elsewhere says how to see a story of another test. The command in the file names the path that it had first, and runs no test,
// without a failure, where the test has got another name.
func (c *campaign) elsewhere(path string, s *story.Story) string {
	if s.Package == c.settings.host.Package() {
		name, _, _ := strings.Cut(testOf(s.Test), "/")
		if strings.HasPrefix(s.Replay, "go test ") && !strings.Contains(s.Replay, "-ginkgo.") && !isTestHere(name) {
			return fmt.Sprintf("no %s is written here any more; if this test is its successor, write \"test: %s\" in the file, or move it to %s",
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

// isTestHere says whether the package of the test, in whose directory go test runs it, declares a test function; true if nobody knows.
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

// related says whether go test cannot run one of two tests without the other: they are one, or one is the other's subtest.
func related(a, b string) bool {
	return strings.HasPrefix(a+"/", b+"/") || strings.HasPrefix(b+"/", a+"/")
}

// alsoChosen says whether the focus in a story's command chooses a spec as well: Ginkgo matches it against the suite's
// description and the spec's text, and only the end can be told.
func alsoChosen(s *story.Story, spec string) bool {
	return strings.Contains(s.Replay, "-ginkgo.focus=") && strings.HasSuffix(spec, " "+testOf(s.Test))
}

// regress tries the stories that are kept for this test before searching, as go test does with fuzz corpora. It reports false
// when there is nothing to search for after that.
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
		if (s.Test == c.report.Name || c.adopts(path, s)) && !c.retell(path, s) && (!c.settings.keepGoing || c.report.Failure.Temper == "misuse") {
			return false
		}
	}
	return true
}

// adopts says whether a story of another test was moved to this one's, as when a test gets another name and its stories are moved
// with it. A directory may also be that of two tests, whose names differ in what paths do not take.
func (c *campaign) adopts(path string, s *story.Story) bool {
	mine, errA := filepath.Abs(storyDir(c.report.Name))
	its, errB := filepath.Abs(storyDir(s.Test))
	dir, errC := filepath.Abs(filepath.Dir(path))
	if errA != nil || errB != nil || errC != nil || dir != mine || strings.EqualFold(its, mine) {
		return false
	}
	c.settings.host.Logf("sim: %s is a story of %s that lies among those of %s, so it is played; write that name after \"test:\" in the file", path, s.Test, c.report.Name)
	return true
}

// retell runs one story. It reports false when the story still breaks, with the failure on record. Where -sim.shrink was
// given together with -sim.replay, it also searches for that long for a shorter story, and keeps that beside the file.
func (c *campaign) retell(path string, s *story.Story) bool {
	c.doing.Store(&doing{what: "the story " + path + ", played by a campaign"})
	tape := tapeOf(s)
	player := choice.Play(tape)
	res := c.play(player, s)
	c.count(res)
	c.report.Replayed = res.history.Rest()
	if res.verdict != nil && res.verdict.Temper == "misuse" {
		c.report.Failure = &Failure{Verdict: *res.verdict, History: c.report.Replayed}
		return false
	}
	if drift := player.Unused(); len(drift) > 0 {
		var ids []string
		for _, e := range drift {
			ids = append(ids, e.ID)
		}
		c.settings.host.Logf("sim: %s has drifted: the code no longer asks for %s, so %d of its %d choices were not used",
			path, quoted(ids), len(drift), len(s.Tape))
		if res.verdict == nil {
			c.drifted(path, s, tape, drift)
		}
	}
	if res.verdict == nil {
		tellReplayed("held")
	} else {
		tellReplayed("broke")
	}
	if res.verdict == nil {
		return true
	}
	f := &Failure{Verdict: *res.verdict, History: c.report.Replayed, File: path}
	if given("sim.shrink", "SIM_SHRINK") && flags.replay != "" && c.settings.shrink > 0 && f.Temper != nondeterminism {
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
	f.Story.Replay = c.command(path)
	if v := res.verdict; s.Property != "" && (v.Temper != s.Temper || v.Property != s.Property) { // where it is declared may have changed
		c.settings.host.Logf("sim: %s was about %s %q; now another property breaks first", path, s.Temper, s.Property)
	}
	c.picture(f)
	if c.report.Failure == nil {
		c.report.Failure = f
	}
	if c.settings.replay == "" {
		f.Strategy = "a story that is kept"
		c.group(f, f.Story.After.Steps)
	}
	return false
}

// twins is how often a story of two runs that differed is played before they are taken for alike.
const twins = 10

// play runs a story: once, or as often as it takes where it is about runs that differ.
func (c *campaign) play(oracle choice.Source, s *story.Story) *result {
	res := execute(c.t, c.scenario, oracle, c.settings)
	if s.Temper != nondeterminism {
		return res
	}
	for i := 1; i < twins && res.verdict == nil; i++ {
		switch d, _ := c.again(res); {
		case d != nil && d.Text:
			c.settings.host.Logf("sim: two runs of a story differ only in the text of an error, which breaks nothing: %s", d.What)
		case d != nil:
			res.verdict = d.verdict()
		}
	}
	return res
}

// breaks says whether what an earlier process has found can be had again.
func (c *campaign) breaks(f story.Finding) bool {
	s, err := story.Decode([]byte(f.Story))
	if err != nil || f.Temper == failedTest {
		return true // nothing says that it cannot
	}
	return c.play(choice.Play(tapeOf(s)), s).verdict != nil
}

func tapeOf(s *story.Story) choice.Sequence {
	tape := make(choice.Sequence, len(s.Tape))
	for i, e := range s.Tape {
		tape[i] = choice.Entry{ID: e.ID, Value: e.Value}
	}
	return tape
}
