package story

import (
	"fmt"
	"strings"
	"time"
)

// Divergence is a cause for which two runs of one choice sequence differ without a failure. They
// differ only now and then, or only in the text of an error.
type Divergence struct {
	Cause string `json:"cause"` // the likely one
	// Text is set if only the text of an error differs. Nothing in a run depends on it.
	Text bool `json:"text,omitempty"`
	Runs int  `json:"runs"` // doubled runs that differed
	// First is the number of the first of them. Step, At, What and Goroutines say where and how its
	// two runs differ first.
	First      int           `json:"first"`
	Step       int           `json:"step"`
	At         time.Duration `json:"at"` // virtual time, nanoseconds
	What       string        `json:"what"`
	Goroutines []string      `json:"goroutines,omitempty"`
	// Pairs is the number of further pairs of this choice sequence, and Differed of those that
	// differed.
	Pairs    int `json:"pairs,omitempty"`
	Differed int `json:"differed,omitempty"`
	// Command makes the campaign in exact mode.
	Command string `json:"command"`
}

// Sentence is the warning in words.
func (d Divergence) Sentence() string {
	var b strings.Builder
	runs := fmt.Sprintf("%d doubled runs", d.Runs)
	if d.Runs == 1 {
		runs = "1 doubled run"
	}
	if d.Text {
		fmt.Fprintf(&b, "%s differed only in %s, which breaks nothing; the first was run %d, at step %d (%v)\n%s\n",
			runs, d.Cause, d.First, d.Step, d.At, d.What)
		b.WriteString("Sort the parts of the message, so that it can be compared and searched for.")
		return indented(b.String())
	}
	fmt.Fprintf(&b, "two runs of one choice sequence differ now and then: %s\n", d.Cause)
	fmt.Fprintf(&b, "%s differed so", runs)
	if d.Pairs > 0 {
		fmt.Fprintf(&b, ", and %d of %d further pairs", d.Differed, d.Pairs)
	}
	fmt.Fprintf(&b, "; the first was run %d, at step %d (%v)\n%s\n", d.First, d.Step, d.At, d.What)
	for _, g := range d.Goroutines {
		fmt.Fprintln(&b, g)
	}
	fmt.Fprintf(&b, "A violation in such runs may not come again. Exact mode removes the chance: %s", d.Command)
	return indented(b.String())
}

func indented(s string) string { return strings.ReplaceAll(s, "\n", "\n    ") }

// Diverged adds a divergence to those with its cause, of which the first run is described.
func (r *Result) Diverged(d Divergence) {
	same := func(have Divergence) bool { return have.Cause == d.Cause }
	t := at(&r.Divergences, same, Divergence{Cause: d.Cause, First: -1})
	runs, pairs, differed := t.Runs+d.Runs, t.Pairs+d.Pairs, t.Differed+d.Differed
	if t.First < 0 || d.First < t.First {
		*t = d
	}
	t.Runs, t.Pairs, t.Differed = runs, pairs, differed
}

// Replays reports whether the doubled runs of the campaign differ in texts of errors only.
func (r *Result) Replays() bool {
	for _, d := range r.Divergences {
		if !d.Text {
			return false
		}
	}
	return true
}
