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

// lostFaults are those of a story's choices that inject a fault and were never asked for.
func lostFaults(whole, unused choice.Sequence) (lost []string) {
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
func declaredFaults(tape choice.Sequence) (declared []string) {
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

// addDrift puts on record that a story passes although not all of its choices were asked for. What
// a test plays by itself with sim.Replay is left out: a catalogue plays stories of one program to
// others.
func (c *campaign) addDrift(path string, s *story.Story, whole, unused choice.Sequence) {
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
