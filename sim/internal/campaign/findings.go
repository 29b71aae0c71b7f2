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
func (f *findings) fail(failure *result.Failure) {
	if f.report.Failure == nil || failure.Kind == result.Misuse {
		f.report.Failure = failure
	}
}

// leads reports whether a failure is the one that the report shows: the first of the most harmful.
func (f *findings) leads(failure *result.Failure) bool {
	first := f.report.Failure
	if first == nil || first == failure {
		return len(f.report.Findings) == 0
	}
	return first.Kind != result.Misuse && story.Harm(failure.Property) < story.Harm(first.Property)
}

// isShortest reports whether no story of a failure's cause is as short: thousands of runs may fail
// alike, and one story will do.
func (f *findings) isShortest(failure *result.Failure, steps int) bool {
	have := f.of(causeOf(failure))
	return have == nil || steps < have.Steps
}

func (f *findings) of(cause string) *story.Finding {
	all := f.report.Findings
	if i := slices.IndexFunc(all, func(have story.Finding) bool { return have.Cause == cause }); i >= 0 {
		return &all[i]
	}
	return nil
}

// add adds a failure to those of its cause, and shows it if it leads.
func (f *findings) add(failure *result.Failure, steps int) {
	if f.leads(failure) {
		f.report.Failure = failure
	}
	f.group(failure, steps)
}

// group adds a failure to those of its cause.
func (f *findings) group(failure *result.Failure, steps int) {
	found := &story.Result{Findings: f.report.Findings}
	found.Found(story.Finding{Cause: causeOf(failure), Kind: failure.Kind.String(), Property: failure.Property,
		Count: 1, First: failure.Run, Strategy: failure.Strategy, Story: string(failure.Story.Encode()), Steps: steps})
	f.report.Findings = found.Findings
}

// restore puts the findings of an earlier process first.
func (f *findings) restore(old []story.Finding, stories string) {
	kept := f.report.Findings
	f.report.Findings = old
	for _, failure := range kept {
		if f.of(failure.Cause) == nil {
			f.report.Findings = append(f.report.Findings, failure)
		}
	}
	if len(old) > 0 {
		f.fail(earlierFailure(old[0], stories))
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
