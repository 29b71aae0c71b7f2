package campaign

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/wavetank/wavetank/internal/story"
	"github.com/wavetank/wavetank/reports"
	"github.com/wavetank/wavetank/sim/internal/choice"
	"github.com/wavetank/wavetank/sim/result"
)

// teller makes the stories of failures, and the commands that replay them.
type teller struct {
	settings Settings
	runs     *executor
	report   *result.Report
	exact    bool // the test binary was built for exact mode
}

// story is the story of a failure. It notes the line that decided.
func (t *teller) story(f *result.Failure, choices choice.Sequence, before, after story.Length) *story.Story {
	from := fmt.Sprintf("%s, run %d of base seed %d", f.Strategy, f.Run, t.report.Seed)
	s := &story.Story{
		Test: t.report.Name, Package: t.settings.Host.Package(), Kind: f.Kind.String(),
		Property: f.Property, Site: f.Site, Message: f.Message,
		Seed: strings.TrimPrefix(from, ", "), Took: f.Took, Before: before, After: after, Shrinking: f.Shrinking,
		Choices: choices, Versions: recordedWith(), History: f.History.Render(),
		Ignored: t.runs.settings.Ignored,
	}
	cause := reports.CauseOf(f.History, s.Choices)
	f.Line, s.Led, s.Idle, s.Why = cause.Line, cause.Led, cause.Idle, cause.Sentences
	dir := t.settings.Stories
	if dir == "" {
		dir = "<directory>"
	}
	s.Replay = t.command(filepath.Join(dir, s.Name()))
	return s
}

// command is what one types to see a story again.
func (t *teller) command(path string) string {
	if t.settings.ofCatalogue() {
		path = "" // the test plays it by itself
	}
	command := t.settings.Host.Replay(path)
	if given("sim.max-steps", "SIM_MAX_STEPS") {
		command += fmt.Sprintf(" -sim.max-steps=%d", t.settings.Run.MaxSteps)
	}
	if t.exact {
		command += " " + story.Overlaid
	}
	return command
}
