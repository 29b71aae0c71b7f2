package campaign

import (
	"fmt"
	"strings"

	"github.com/wavetank/wavetank/internal/story"
)

// A kept story has drifted when it passes, but not all of its faults are injected: the program no
// longer asks for what they were injected at. A fix may do that, and a refactoring does, so by
// default it is a warning. -sim.drift=fail makes it a failure, for stories that are kept as
// regression tests.
const (
	driftWarns = "warn"
	driftFails = "fail"
)

// comparedWith compares a story with its replay. It returns the statement that is outdated, how the
// story has drifted otherwise, and lines on the choices that were moved or not used.
func comparedWith(path string, s *story.Story, r storyReplay) (old *story.Outdated, drift *story.Drift,
	lines []string) {
	for _, m := range r.moves {
		lines = append(lines, fmt.Sprintf("%s was replayed with the choice %q in place of %q, "+
			"as the request has changed; wavetank stories renew writes it so", path, m[1], m[0]))
	}
	if len(r.unused) > 0 {
		var ids []string
		for _, e := range r.unused {
			ids = append(ids, e.String())
		}
		lines = append(lines, fmt.Sprintf("%s has drifted: the code no longer asks for %s, "+
			"so %d of its %d choices were not used", path, quoted(ids), len(r.unused), len(s.Choices)))
	}
	if old = outdated(path, s, r.Result); old != nil {
		return old, nil, lines
	}
	if lost := lostFaults(r.unused); len(lost) > 0 && !r.Ending.Failed() {
		drift = &story.Drift{File: path, Violated: s.Headline(), Lost: lost, Near: r.near}
	}
	return nil, drift, lines
}

// driftSentence says, in a sentence, that a story has drifted, and what to do.
func driftSentence(d story.Drift) string {
	advice := "Find the failure again with the bug put back, or remove the file (wavetank stories remove)"
	if len(d.Near) > 0 {
		advice = fmt.Sprintf("If only the request has changed, put its line into the file, such as %s. Otherwise find "+
			"the failure again with the bug put back, or remove the file (wavetank stories remove)", quoted(d.Near))
	}
	return fmt.Sprintf("%s (%s) holds, but not all of its faults were injected: the code no longer asks for %s; "+
		"so it may test nothing any more. %s", d.File, d.Violated, quoted(d.Lost), advice)
}

func quoted(ids []string) string {
	var out []string
	for _, id := range ids {
		out = append(out, fmt.Sprintf("%q", id))
	}
	return strings.Join(out, ", ")
}
