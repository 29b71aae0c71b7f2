package campaign

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/wavetank/wavetank/internal/story"
	"github.com/wavetank/wavetank/reports"
)

// announce fails the test if something was found, and prints what the campaign did.
func (e *explorer) announce() {
	e.t.Helper()
	r := e.report
	err := r.Err()
	if err != nil {
		e.t.Error(err)
	}
	if !testing.Verbose() {
		e.printHidden(err)
	}
	for _, s := range r.Warnings {
		e.t.Logf("sim: warning: %s", s)
	}
	if r.Failure != nil && e.settings.KeepGoing {
		e.t.Logf("sim: %d of %d runs broke a property; made were %s", e.tally.broken, r.Runs, e.totals())
	}
	if r.Failure == nil && r.Runs > 0 && !e.settings.replayFlag {
		e.t.Logf("sim: nothing broke in %s", e.totals())
	}
	searched := (r.Failure == nil || e.settings.KeepGoing) && !e.settings.replayFlag
	if searched && testing.Verbose() {
		e.printCoverage()
	}
	if lines := r.Rights.Words(); searched && len(lines) > 0 {
		e.t.Logf("sim: rights that no run has used:\n%s", strings.Join(lines, "\n"))
	}
	if table := struckTable(r.Faults); e.settings.Verbose && table != "" && !e.settings.replayFlag {
		e.t.Logf("sim: faults injected, by class of requests and watch events:\n%s", table)
	}
}

// printHidden prints the warnings that go test without -v would hide: in the package's directory it
// shows what a passing test writes to its output.
func (e *explorer) printHidden(err error) {
	if e.settings.Drift != driftFails {
		for _, d := range e.report.Drifted {
			fmt.Printf("sim: warning: the story %s\n", driftSentence(d))
		}
	}
	for _, d := range e.report.Outdated {
		if e.settings.Drift != driftFails || d.Now != story.Passes {
			fmt.Printf("sim: warning: the story %s\n", d.Sentence())
		}
	}
	for _, u := range e.tally.unmodelled {
		fmt.Printf("sim: warning: %s: %s\n", e.report.Name, unmodelledWarning(u))
	}
	if s := e.evidence().tooFewRuns(); s != "" {
		fmt.Printf("sim: warning: %s\n", s)
	}
	if err != nil {
		return
	}
	if e.settings.KeepGoing && !e.settings.replayFlag {
		fmt.Printf("sim: %s: 0 of %d runs broke a property\n", e.report.Name, e.report.Runs)
	}
	for _, d := range e.report.Divergences {
		fmt.Printf("sim: warning: %s: %s\n", e.report.Name, d.Sentence())
	}
}

// evidence says how much the runs show.
func (e *explorer) evidence() *evidence { return &evidence{e.settings, e.tally, e.runs.left} }

// printCoverage prints what was tried at which lines, and which lines were not reached.
func (e *explorer) printCoverage() {
	e.t.Helper()
	r := e.recorder.result(0)
	for _, text := range []string{reports.Sites(r), reports.Unreached(r)} {
		if text != "" {
			e.t.Logf("sim: %s", text)
		}
	}
}

// printEvents prints every event of the run that failed, or was replayed.
func (e *explorer) printEvents() {
	h := e.report.Replayed
	if e.report.Failure != nil {
		h = e.report.Failure.History
	}
	if h == nil || !e.settings.Verbose {
		return
	}
	for i := range h.Events {
		e.settings.Host.Logf("%s", h.Events[i].String())
	}
}

// totals are how much was tried, in a sentence.
func (e *explorer) totals() string {
	r := e.report
	var b strings.Builder
	fmt.Fprintf(&b, "%d runs in %v", r.Runs, r.Elapsed.Round(10*time.Millisecond))
	if !r.Complete {
		fmt.Fprintf(&b, " (then the CPU time of -sim.for was used up)")
	}
	failed := 0
	for _, o := range e.tally.outcomes {
		failed += o.Failed
	}
	fmt.Fprintf(&b, ": %d steps, %d requests, %d reconciles of which %d failed, %v of virtual time; %d runs made twice",
		r.Steps, r.Requests, r.Reconciles, failed, r.Virtual.Round(time.Second), r.Doubled)
	for _, f := range r.Faults {
		fmt.Fprintf(&b, "; %s injected %d times at %d opportunities", f.Fault, f.Injected, f.Opportunities)
	}
	return b.String()
}
