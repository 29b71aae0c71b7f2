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

// toothless are those of a story's choices that inject a fault and were never asked for.
func toothless(whole, unused choice.Tape) (lost []string) {
	declared := declaredFaults(whole)
	for _, e := range unused {
		if strings.HasPrefix(e.ID, arming) || injectedFault(e, declared) != "" {
			lost = append(lost, e.ID)
		}
	}
	return lost
}

// arming begins the label of the choice whether a declared fault is on in a run.
const arming = "fault "

// declaredFaults are the faults that are on in a run, as the scenario declared them.
func declaredFaults(tape choice.Tape) (declared []string) {
	for _, e := range tape {
		if f, ok := strings.CutPrefix(e.ID, arming); ok {
			declared = append(declared, f)
		}
	}
	return declared
}

// injectedFault is the name of the fault that a choice injects, without the scope; "" if it injects
// none. Both the declaration and the label of an injection begin with the name.
func injectedFault(e choice.Entry, declared []string) (name string) {
	label := strings.Split(e.ID, " ")
	for _, f := range declared {
		words := strings.Split(f, " ")
		n := 0
		for n < len(words) && n < len(label) && words[n] == label[n] {
			n++
		}
		if common := strings.Join(words[:n], " "); len(common) > len(name) {
			name = common
		}
	}
	return name
}

// drifted puts on record that a story holds although it was not told to its end. What a test plays by itself with [Replay] is
// left out: a catalogue plays stories of one program to others.
func (c *campaign) drifted(path string, s *story.Story, whole, unused choice.Tape) {
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
