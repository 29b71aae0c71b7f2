// This file is what a campaign leaves in Ginkgo's reports.

package simginkgo

import (
	"fmt"
	"strings"

	"github.com/wavetank/wavetank/internal/story"
	"github.com/wavetank/wavetank/sim/result"
)

// Entry is the value of the report entry "wavetank": what a campaign found, as JSON
// in --ginkgo.json-report and in the properties of --ginkgo.junit-report.
type Entry struct {
	// Campaign is the spec's full text, with a number for all but the first campaign of a spec.
	Campaign string `json:"campaign"`
	// Verdict is "held", "caught" when a run broke a property, or "missed" when no run reached what
	// a Sometimes says.
	Verdict  string  `json:"verdict"`
	Seed     uint64  `json:"seed"`
	Runs     int     `json:"runs"`
	Seconds  float64 `json:"seconds"`
	Virtual  float64 `json:"virtualSeconds"`
	Steps    int     `json:"steps"`
	Requests int     `json:"requests"`
	// Reconciles counts dequeues.
	Reconciles int                 `json:"reconciles"`
	Faults     []result.FaultCount `json:"faults,omitempty"`
	Sometimes  []result.Probe      `json:"sometimes,omitempty"`
	// Warnings name the declared faults that were never injected.
	Warnings []string `json:"warnings,omitempty"`

	Kind     string `json:"kind,omitempty"`
	Property string `json:"property,omitempty"`
	Site     string `json:"site,omitempty"`
	Message  string `json:"message,omitempty"`
	// Before and After are the lengths of the run as found and of the minimal one.
	Before string `json:"before,omitempty"`
	After  string `json:"after,omitempty"`
	Story  string `json:"story,omitempty"`
	Replay string `json:"replay,omitempty"`
	// Findings are the causes, one for each, of a campaign that went on after its first failure.
	Findings []result.Finding `json:"findings,omitempty"`
	// Told is the minimal run, a line per event.
	Told []string `json:"told,omitempty"`
}

func entryOf(r *result.Report) Entry {
	e := Entry{
		Campaign: r.Name, Verdict: "held", Seed: r.Seed, Runs: r.Runs, Seconds: r.Elapsed.Seconds(),
		Virtual: r.Virtual.Seconds(),
		Steps:   r.Steps, Requests: r.Requests, Reconciles: r.Reconciles, Faults: r.Faults, Sometimes: r.Sometimes,
		Findings: r.Findings, Warnings: r.Warnings,
	}
	if r.Err() != nil {
		e.Verdict = "missed"
	}
	if f := r.Failure; f != nil {
		e.Verdict, e.Kind, e.Property = "caught", f.Kind.String(), f.Property
		e.Site, e.Message, e.Story = f.Site, f.Message, f.File
		if f.Story != nil {
			e.Before, e.After, e.Told = f.Story.Before.String(), f.Story.After.String(), f.Story.History
			if f.File != "" {
				e.Replay = f.Story.Replay
			}
		}
	}
	return e
}

// String is what the console shows.
func (e Entry) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %d runs in %.1f s, %d steps, %d reconciles", e.Verdict, e.Runs, e.Seconds, e.Steps,
		e.Reconciles)
	if e.Verdict == "caught" {
		what := e.Property
		if what == "" {
			what, _, _ = strings.Cut(e.Message, "\n")
		}
		fmt.Fprintf(&b, "; %s %q", e.Kind, what)
		if e.Site != "" {
			fmt.Fprintf(&b, " at %s", e.Site)
		}
		if e.After != "" {
			fmt.Fprintf(&b, "; from %s to %s", e.Before, e.After)
		}
	}
	for _, f := range e.Faults {
		fmt.Fprintf(&b, "\n%s: injected %d times at %d opportunities, %d observed", f.Fault, f.Injected,
			f.Opportunities, f.Observed)
	}
	for _, p := range e.Sometimes {
		fmt.Fprintf(&b, "\nsometimes %q: in %d runs", p.Sentence, p.Reached)
	}
	for _, s := range e.Warnings {
		fmt.Fprintf(&b, "\nwarning: %s", s)
	}
	if e.Replay != "" {
		fmt.Fprintf(&b, "\nreplay: %s", e.Replay)
	}
	return story.Printable(b.String())
}
