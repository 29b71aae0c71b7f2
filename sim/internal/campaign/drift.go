package campaign

import (
	"fmt"
	"strings"

	"github.com/wavetank/wavetank/sim/internal/choice"
	"github.com/wavetank/wavetank/story"
)

// A kept story has drifted when it passes, but not all of its faults are injected: the program no
// longer asks for what they were injected at. A fix may do that, and a refactoring does, so by
// default it is a warning. -sim.drift=fail makes it a failure, for stories that are kept as
// regression tests.
const (
	driftWarns = "warn"
	driftFails = "fail"
)

// lostFaults are those of a story's choices that inject a fault, or let it be injected, and were
// never asked for.
func lostFaults(unused choice.Sequence) (lost []string) {
	for _, e := range unused {
		if e.Kind == choice.Arm || e.Kind == choice.Inject {
			lost = append(lost, storyChoice(e).ID())
		}
	}
	return lost
}

// addDrift puts on record that a story passes although not all of its choices were asked for. What
// a test plays by itself with sim.Replay is left out: a catalogue plays stories of one program to
// others.
func (c *campaign) addDrift(path string, s *story.Story, unused choice.Sequence) {
	lost := lostFaults(unused)
	if len(lost) == 0 || c.settings.Replay != "" && !c.settings.replayFlag {
		return
	}
	c.report.Drifted = append(c.report.Drifted, story.Drift{File: path, Violated: s.Headline(), Lost: lost})
}

// driftSentence says, in a sentence, that a story has drifted.
func driftSentence(d story.Drift) string {
	return fmt.Sprintf("%s (%s) holds, but not all of its faults were injected: the code no longer asks for %s; "+
		"so it may test nothing any more. "+
		"Find the failure anew with the bug put back, or remove the file", d.File, d.Violated, quoted(d.Lost))
}

func quoted(ids []string) string {
	var out []string
	for _, id := range ids {
		out = append(out, fmt.Sprintf("%q", id))
	}
	return strings.Join(out, ", ")
}
