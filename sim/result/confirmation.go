package result

import (
	"fmt"
	"strings"
	"text/tabwriter"
	"time"
)

// Verdict is what runs at a real API server say about a story.
type Verdict string

// The verdicts.
const (
	// Confirmed means that the real run violates the same property for the same objects, and that
	// the same workload without faults does not violate it.
	Confirmed Verdict = "confirmed"
	// NotConfirmed means that no real run did.
	NotConfirmed Verdict = "not confirmed"
	// CannotBeConfirmed means that a real server cannot be made to do a step of the story.
	CannotBeConfirmed Verdict = "cannot be confirmed"
)

// Confirmation is the result of holding a real API server to a story.
type Confirmation struct {
	File    string // of the story
	Verdict Verdict
	Server  string // version of the API server; "" if none was asked
	// Confirmed and Attempts count the real runs with the story's faults.
	Confirmed, Attempts int
	Steps               int // of the story
	// Paced reports whether a real run had to take as long as the story does.
	Paced bool
	// Child reports whether each incarnation was a process of its own. If not, package variables
	// have outlived crashes.
	Child bool
	Why   string
	// Models are the built-in controllers that changed something at the real server. They were
	// Wavetank's models, as clients of the server.
	Models []string
	Extra  []string // actions that the story does not have, in the last run
	Took   time.Duration
}

// Estimate is how often runs at a real API server that are not held to a story's order violate its
// property.
type Estimate struct {
	File   string // of the story
	Server string // version of the API server
	Why    string // no run can be made; "" if runs were made
	Rows   []EstimateRow
	Took   time.Duration
}

// EstimateRow is what became of runs under the same conditions.
type EstimateRow struct {
	Lag        time.Duration // of every watch event
	Faults     []string      // that were injected once each, at random requests
	Runs       int
	Reconciles int // in all runs
	Violated   int // runs that violate the property of the story
	Otherwise  int // runs that fail otherwise
	OverTime   int // runs that were ended by their time limit
}

// conditions are the conditions of a row in words.
func (r EstimateRow) conditions() string {
	var parts []string
	if r.Lag > 0 {
		parts = append(parts, fmt.Sprintf("watch events %v late", r.Lag))
	}
	if len(r.Faults) > 0 {
		parts = append(parts, strings.Join(r.Faults, " + ")+" at random requests")
	}
	if len(parts) == 0 {
		return "no fault"
	}
	return strings.Join(parts, ", ")
}

// Text is the estimate for people: a table.
func (e Estimate) Text() string {
	if e.Why != "" {
		return "cannot be estimated: " + e.File + "\n    " + strings.ReplaceAll(e.Why, "\n", "\n    ")
	}
	s := fmt.Sprintf("estimated: %s\n    kube-apiserver %s, %v", e.File, e.Server, e.Took.Round(100*time.Millisecond))
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "conditions\truns\treconciles\tviolated\tother failures\ttoo long")
	for _, r := range e.Rows {
		fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%d\t%d\n", r.conditions(), r.Runs, r.Reconciles, r.Violated, r.Otherwise,
			r.OverTime)
	}
	_ = w.Flush() // a strings.Builder accepts everything
	return s + "\n    " + strings.ReplaceAll(strings.TrimSpace(b.String()), "\n", "\n    ")
}

// Text is the confirmation for people.
func (c Confirmation) Text() string {
	s := fmt.Sprintf("%s: %s", c.Verdict, c.File)
	if c.Attempts > 0 {
		s += fmt.Sprintf("\n    kube-apiserver %s, %d of %d attempts, %d steps, %v", c.Server, c.Confirmed, c.Attempts,
			c.Steps, c.Took.Round(100*time.Millisecond))
	}
	if c.Paced {
		s += ", at the pace of the story"
	} else if c.Confirmed > 0 {
		s += ", without the waits of the story"
	}
	if c.Child {
		s += "\n    each incarnation was a process of its own"
	}
	if c.Why != "" {
		s += "\n    " + strings.ReplaceAll(c.Why, "\n", "\n    ")
	}
	if len(c.Models) > 0 {
		s += "\n    models as clients of the server: " + strings.Join(c.Models, ", ")
	}
	if len(c.Extra) > 0 {
		s += "\n    not in the story, and let through: " + strings.Join(c.Extra, "; ")
	}
	return s
}
