package sim

import (
	"fmt"
	"strings"
	"testing"

	"github.com/wavetank/wavetank/sim/internal/choice"
	"github.com/wavetank/wavetank/story"
)

// This file says which kept stories have lost their teeth: they hold, but the faults of which they tell no longer strike, as
// the program does not ask any more for what they struck. A fix may do that, and a refactoring does, so by default it is a
// warning; a kept story is a regression test, and where it tests nothing any more, -sim.drift=fail says so with an exit code.

// What becomes of a story that has lost its teeth.
const (
	driftWarns = "warn"
	driftFails = "fail"
)

// toothless are those of a story's choices that let a fault strike and were never asked for. Strikes are labelled with the
// fault's name, without what narrows it.
func toothless(whole, unused choice.Sequence) (lost []string) {
	var faults []string
	for _, e := range whole {
		if declared, ok := strings.CutPrefix(e.ID, "fault "); ok {
			if at := strings.LastIndex(declared, " #"); at >= 0 {
				declared = declared[:at]
			}
			for _, scope := range scopeWords {
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

// drifted puts on record that a story holds although it was not told to its end. What a test plays by itself with [Replay] is
// left out: a catalogue plays stories of one program to others.
func (c *campaign) drifted(path string, s *story.Story, whole, unused choice.Sequence) {
	lost := toothless(whole, unused)
	if len(lost) == 0 || c.settings.replay != "" && flags.replay == "" {
		return
	}
	c.report.Drifted = append(c.report.Drifted, story.Drift{File: path, Broke: s.Headline(), Lost: lost})
}

// blunted says, in a sentence, that a story has lost its teeth.
func blunted(d story.Drift) string {
	return fmt.Sprintf("%s (%s) holds, but not all of its faults were injected: the code no longer asks for %s; so it may test nothing any more. "+
		"Find the failure anew with the bug put back, or remove the file", d.File, d.Broke, quoted(d.Lost))
}

func quoted(ids []string) string {
	var out []string
	for _, id := range ids {
		out = append(out, fmt.Sprintf("%q", id))
	}
	return strings.Join(out, ", ")
}

// dull says which stories fail the test because they test nothing any more; nil where that is a warning.
func (r Report) dull() (out []string) {
	for _, d := range r.Drifted {
		if flags.drift == driftFails {
			out = append(out, "sim: the story "+blunted(d)+" (-sim.drift=fail)")
		}
	}
	return out
}

// sayDrift tells what go test without -v would hide: in the package's directory it shows what a passing test writes to its output.
func (r Report) sayDrift() {
	if testing.Verbose() || flags.drift == driftFails {
		return
	}
	for _, d := range r.Drifted {
		fmt.Printf("sim: warning: the story %s\n", blunted(d))
	}
}
