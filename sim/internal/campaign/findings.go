package campaign

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/internal/story"
	"github.com/wavetank/wavetank/sim/result"
)

// findings groups the failures of a campaign by cause, and chooses the one that the report shows.
type findings struct{ report *result.Report }

// fail makes a failure that of the campaign, if it has none. Misuse takes the place of another.
func (d *findings) fail(f *result.Failure) {
	if d.report.Failure == nil || f.Kind == result.Misuse {
		d.report.Failure = f
	}
}

// leads reports whether a failure is the one that the report shows: the first of the most harmful.
func (d *findings) leads(f *result.Failure) bool {
	first := d.report.Failure
	if first == nil || first == f {
		return len(d.report.Findings) == 0
	}
	return first.Kind != result.Misuse && story.Harm(f.Property) < story.Harm(first.Property)
}

// isShortest reports whether no story of a failure's cause is as short: thousands of runs may fail
// alike, and one story will do.
func (d *findings) isShortest(f *result.Failure, steps int) bool {
	have := d.of(causeOf(f))
	return have == nil || steps < have.Steps
}

func (d *findings) of(cause string) *story.Finding {
	all := d.report.Findings
	if i := slices.IndexFunc(all, func(have story.Finding) bool { return have.Cause == cause }); i >= 0 {
		return &all[i]
	}
	return nil
}

// add adds a failure to those of its cause, and shows it if it leads.
func (d *findings) add(f *result.Failure, steps int) {
	if d.leads(f) {
		d.report.Failure = f
	}
	d.group(f, steps)
}

// group adds a failure to those of its cause.
func (d *findings) group(f *result.Failure, steps int) {
	found := &story.Result{Findings: d.report.Findings}
	found.Found(story.Finding{Cause: causeOf(f), Kind: f.Kind.String(), Property: f.Property, Count: 1, First: f.Run,
		Strategy: f.Strategy, Story: string(f.Story.Encode()), Steps: steps})
	d.report.Findings = found.Findings
}

// restore puts the findings of an earlier process first.
func (d *findings) restore(old []story.Finding, stories string) {
	kept := d.report.Findings
	d.report.Findings = old
	for _, f := range kept {
		if d.of(f.Cause) == nil {
			d.report.Findings = append(d.report.Findings, f)
		}
	}
	if len(old) > 0 {
		d.fail(earlierFailure(old[0], stories))
	}
}

// earlierFailure is the failure that an earlier process found, as far as its story tells.
func earlierFailure(f story.Finding, stories string) *result.Failure {
	ending := result.Ending{Kind: result.KindOf(f.Kind), Property: f.Property, Message: f.Cause}
	out := &result.Failure{Ending: ending, Run: f.First, Strategy: f.Strategy, History: &history.History{}}
	s, err := story.Decode([]byte(f.Story))
	if err != nil {
		return out
	}
	out.Story, out.Site, out.Message, out.Step, out.Took = s, s.Site, s.Message, s.After.Steps, s.Took
	if path := filepath.Join(stories, s.Name()); stories != "" {
		if _, err := os.Stat(path); err == nil {
			out.File = path
		}
	}
	return out
}

// causeOf is what failing runs are grouped by: the property, and the line of the program that
// decided. If no line is known, it is the property and the faults that the story injects.
func causeOf(f *result.Failure) string {
	name := f.Property
	if name == "" {
		first, _, _ := strings.Cut(f.Message, "\n")
		name = f.Kind.String() + ": " + first
	}
	if f.Line != "" {
		return story.Printable(fmt.Sprintf("%s, decided at %s", name, f.Line))
	}
	var kinds []string
	for _, c := range f.Story.Choices {
		if c.Kind == story.Inject {
			kinds = append(kinds, c.Of)
		}
	}
	slices.Sort(kinds)
	kinds = slices.Compact(kinds)
	if len(kinds) == 0 {
		kinds = []string{"no fault"}
	}
	return story.Printable(fmt.Sprintf("%s, under %s", name, strings.Join(kinds, " and ")))
}
