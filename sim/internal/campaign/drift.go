package campaign

import (
	"fmt"
	"strings"

	"github.com/wavetank/wavetank/internal/story"
	"github.com/wavetank/wavetank/sim/internal/choice"
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
		if e.Kind == story.Arm || e.Kind == story.Inject {
			lost = append(lost, e.String())
		}
	}
	return lost
}

// sayHowItFits says what of a story no longer fits the program and the scenario, and puts it on
// record: choices that were moved or lost, and a statement that is outdated, which it returns.
func (c *campaign) sayHowItFits(path string, s *story.Story, r storyReplay) *story.Outdated {
	log := c.settings.Host.Logf
	for _, m := range r.moves {
		log("sim: %s was replayed with the choice %q in place of %q, as the request has changed; "+
			"wavetank stories renew writes it so", path, m[1], m[0])
	}
	if len(r.unused) > 0 {
		log("sim: %s has drifted: the code no longer asks for %s, "+
			"so %d of its %d choices were not used", path, quoted(idsOf(r.unused)), len(r.unused), len(s.Choices))
	}
	old := outdated(path, s, r.Result)
	if c.ofCatalogue() {
		if old != nil && r.Ending.Failed() {
			log("sim: %s was about %s %q; now another property breaks first", path, s.Kind, s.Property)
		}
		return nil
	}
	if old != nil {
		log("sim: %s", old.Sentence())
		c.settings.reportReplayed("outdated: " + old.Sentence())
		c.report.Outdated = append(c.report.Outdated, *old)
		return old
	}
	if lost := lostFaults(r.unused); len(lost) > 0 && !r.Ending.Failed() {
		d := story.Drift{File: path, Violated: s.Headline(), Lost: lost, Near: r.near}
		c.settings.reportReplayed("drifted: " + driftSentence(d))
		c.report.Drifted = append(c.report.Drifted, d)
	}
	return nil
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

func idsOf(choices choice.Sequence) (ids []string) {
	for _, e := range choices {
		ids = append(ids, e.String())
	}
	return ids
}

func quoted(ids []string) string {
	var out []string
	for _, id := range ids {
		out = append(out, fmt.Sprintf("%q", id))
	}
	return strings.Join(out, ", ")
}
