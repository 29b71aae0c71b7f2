package campaign

import (
	"fmt"
	"strings"

	"github.com/wavetank/wavetank/sim/internal/choice"
	"github.com/wavetank/wavetank/sim/internal/run"
	"github.com/wavetank/wavetank/story"
)

// A kept story has drifted when it passes, but not all of its faults are injected: the program no
// longer asks for what they were injected at. A fix may do that, and a refactoring does, so by default
// it is a warning. -sim.drift=fail makes it a failure, for stories that are kept as regression tests.
const (
	driftWarns = "warn"
	driftFails = "fail"
)

// lostFaults are those of a story's choices that inject a fault and were never asked for. They are
// labelled with the fault's name, without what narrows it.
func lostFaults(whole, unused choice.Tape) (lost []string) {
	var faults []string
	for _, e := range whole {
		if declared, ok := strings.CutPrefix(e.ID, "fault "); ok {
			if at := strings.LastIndex(declared, " #"); at >= 0 {
				declared = declared[:at]
			}
			for _, scope := range run.ScopeWords {
				declared, _, _ = strings.Cut(declared, scope)
			}
			faults = append(faults, declared+" ")
		}
	}
	for _, e := range unused {
		injects := strings.HasPrefix(e.ID, "fault ")
		for _, f := range faults {
			injects = injects || strings.HasPrefix(e.ID, f)
		}
		if injects {
			lost = append(lost, e.ID)
		}
	}
	return lost
}

// addDrift puts on record that a story passes although not all of its choices were asked for. What
// a test plays by itself with sim.Replay is left out: a catalogue plays stories of one program to
// others.
func (c *campaign) addDrift(path string, s *story.Story, whole, unused choice.Tape) {
	lost := lostFaults(whole, unused)
	if len(lost) == 0 || c.settings.Replay != "" && !c.settings.replayFlag {
		return
	}
	c.report.Drifted = append(c.report.Drifted, story.Drift{File: path, Broke: s.Headline(), Lost: lost})
}

// driftSentence says, in a sentence, that a story has drifted.
func driftSentence(d story.Drift) string {
	return fmt.Sprintf("%s (%s) holds, but not all of its faults were injected: the code no longer asks for %s; "+
		"so it may test nothing any more. "+
		"Find the failure anew with the bug put back, or remove the file", d.File, d.Broke, quoted(d.Lost))
}

func quoted(ids []string) string {
	var out []string
	for _, id := range ids {
		out = append(out, fmt.Sprintf("%q", id))
	}
	return strings.Join(out, ", ")
}
