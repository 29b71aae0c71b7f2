package result

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/internal/story"
)

// Failure is a run that failed, after shrinking.
type Failure struct {
	Ending
	Run  int    // 0-based number of the run that found it
	Seed uint64 // its seed
	// Strategy is how it was found.
	Strategy string
	// Took is the CPU time of the process from the beginning of the campaign until the run had
	// failed; 0 if it is not known.
	Took    time.Duration
	History *history.History
	// Line is the program's line that decided, as dir/file.go:line; "" if it is not known.
	Line string
	// Story is the minimised run as it is kept on file, and File where it was written ("" if
	// nowhere).
	Story *Story
	File  string
	// Page is the timeline of the run, a page that -sim.report had written; "" if it did not.
	Page string
	// Shrinking says how much was tried to shorten the run.
	Shrinking story.Shrinking
	// Flaky is set when the choice sequence does not repeat its own failure.
	Flaky bool
}

// Text is the failure as people read it: the sentence and where it stands, the story as the
// controllers saw it, how far it shrank, and how to see it again.
func (f *Failure) Text() string {
	var b strings.Builder
	if f.Site != "" {
		fmt.Fprintf(&b, "%s: ", f.Site)
	}
	if f.Property != "" {
		fmt.Fprintf(&b, "%s %q broke at step %d\n    %s\n", f.Kind, f.Property, f.Step, indent(f.Message))
	} else {
		fmt.Fprintf(&b, "%s at step %d\n    %s\n", f.Kind, f.Step, indent(f.Message))
	}
	if f.Story != nil {
		f.tell(&b)
	}
	if f.Stack != "" {
		fmt.Fprintf(&b, "    %s\n", indent(f.Stack))
	}
	return story.Printable(b.String())
}

// tell writes the story, how it was found and shrunk, and how to see it again.
func (f *Failure) tell(b *strings.Builder) {
	for i, sentence := range f.Story.Paragraph() {
		fmt.Fprintf(b, "    %s %s\n", [2]string{"why:", "    "}[min(i, 1)], sentence)
	}
	excerpt := f.Story.Excerpt(story.MaxLines)
	for _, l := range slices.Concat(excerpt, f.Story.Delays()) {
		fmt.Fprintf(b, "    %s\n", l)
	}
	if n := f.Story.Unshown(excerpt); n > 0 {
		fmt.Fprintf(b, "    fault: %d more\n", n)
	}
	if needs := f.Story.Needs(); needs != "" && f.OfRun() {
		fmt.Fprintf(b, "    %s\n", needs)
	}
	if n := f.Shrinking.Runs; n > 0 {
		before, after := f.Story.Before.Words(), f.Story.After.Words()
		fmt.Fprintf(b, "    shrunk from %s to %s, in %d runs; found by %s\n", before, after, n, f.Story.Seed)
	} else {
		fmt.Fprintf(b, "    found by %s\n", f.Story.Seed)
	}
	if f.Flaky {
		b.WriteString("    FLAKY: its own choices do not repeat it; " +
			"run again with -sim.verify=1 to see where two runs part\n")
	}
	if f.File != "" {
		fmt.Fprintf(b, "    story:  %s\n    replay: %s\n", f.File, f.Story.Replay)
		if f.Shrinking.Stopped {
			fmt.Fprintf(b, "    %s:\n    wavetank shrink %s\n", notShort(f), f.File)
		}
	} else {
		b.WriteString("    the story was not kept; sim.Stories(directory) keeps it, " +
			"and -sim.report=directory with all that was found\n")
	}
	if f.Page != "" {
		fmt.Fprintf(b, "    timeline: %s\n", f.Page)
	}
}

// OfRun reports whether the failure is the run's own, which its choices decide.
func (f *Failure) OfRun() bool {
	switch f.Kind {
	case Always, Eventually, Settles, Expectation, Panic:
		return !f.Flaky
	}
	return false
}

// notShort says that shrinking was stopped.
func notShort(f *Failure) string {
	return fmt.Sprintf("it may become shorter: -sim.shrink ended the search after %v of CPU time; continue it with",
		f.Shrinking.Took.Round(time.Second))
}

func indent(s string) string { return strings.ReplaceAll(s, "\n", "\n    ") }
