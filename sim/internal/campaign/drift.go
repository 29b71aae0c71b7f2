package campaign

import (
	"fmt"
	"strings"

	"github.com/wavetank/wavetank/sim/internal/choice"
	"github.com/wavetank/wavetank/sim/internal/run"
	"github.com/wavetank/wavetank/story"
)

// A kept story has drifted when it passes, but the faults of which it tells no longer strike, as
// the program does not ask any more for what they struck. A fix may do that, and a refactoring
// does, so by default it is a warning. A kept story is a regression test, and where it tests
// nothing any more, -sim.drift=fail says so with an exit code.
const (
	driftWarns = "warn"
	driftFails = "fail"
)

// lostFaults are those of a story's choices that let a fault strike and were never asked for.
// Strikes are labelled with the fault's name, without what narrows it.
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
		strikes := strings.HasPrefix(e.ID, "fault ")
		for _, f := range faults {
			strikes = strikes || strings.HasPrefix(e.ID, f)
		}
		if strikes {
			lost = append(lost, e.ID)
		}
	}
	return lost
}

// addDrift puts on record that a story holds although it was not told to its end. What a test plays
// by itself with sim.Replay is left out: a catalogue plays stories of one program to others.
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
