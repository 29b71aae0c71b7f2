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
func (c *explorer) announce() {
	c.t.Helper()
	r := c.report
	err := r.Err()
	if err != nil {
		c.t.Error(err)
	}
	if !testing.Verbose() {
		c.printHidden(err)
	}
	for _, s := range r.Warnings {
		c.t.Logf("sim: warning: %s", s)
	}
	if r.Failure != nil && c.settings.KeepGoing {
		c.t.Logf("sim: %d of %d runs broke a property; made were %s", c.tally.broken, r.Runs, c.totals())
	}
	if r.Failure == nil && r.Runs > 0 && !c.settings.replayFlag {
		c.t.Logf("sim: nothing broke in %s", c.totals())
	}
	searched := (r.Failure == nil || c.settings.KeepGoing) && !c.settings.replayFlag
	if searched && testing.Verbose() {
		c.printCoverage()
	}
	if lines := r.Rights.Words(); searched && len(lines) > 0 {
		c.t.Logf("sim: rights that no run has used:\n%s", strings.Join(lines, "\n"))
	}
	if table := struckTable(r.Faults); c.settings.Verbose && table != "" && !c.settings.replayFlag {
		c.t.Logf("sim: faults injected, by class of requests and watch events:\n%s", table)
	}
}

// printHidden prints the warnings that go test without -v would hide: in the package's directory it
// shows what a passing test writes to its output.
func (c *explorer) printHidden(err error) {
	if c.settings.Drift != driftFails {
		for _, d := range c.report.Drifted {
			fmt.Printf("sim: warning: the story %s\n", driftSentence(d))
		}
	}
	for _, d := range c.report.Outdated {
		if c.settings.Drift != driftFails || d.Now != story.Passes {
			fmt.Printf("sim: warning: the story %s\n", d.Sentence())
		}
	}
	for _, u := range c.tally.unmodelled {
		fmt.Printf("sim: warning: %s: %s\n", c.report.Name, unmodelledWarning(u))
	}
	if s := c.evidence().tooFewRuns(); s != "" {
		fmt.Printf("sim: warning: %s\n", s)
	}
	if err != nil {
		return
	}
	if c.settings.KeepGoing && !c.settings.replayFlag {
		fmt.Printf("sim: %s: 0 of %d runs broke a property\n", c.report.Name, c.report.Runs)
	}
	for _, d := range c.report.Divergences {
		fmt.Printf("sim: warning: %s: %s\n", c.report.Name, d.Sentence())
	}
}

// evidence says how much the runs show.
func (c *explorer) evidence() *evidence { return &evidence{c.settings, c.tally, c.runs.left} }

// printCoverage prints what was tried at which lines, and which lines were not reached.
func (c *explorer) printCoverage() {
	c.t.Helper()
	r := c.recorder.result(0)
	for _, text := range []string{reports.Sites(r), reports.Unreached(r)} {
		if text != "" {
			c.t.Logf("sim: %s", text)
		}
	}
}

// printEvents prints every event of the run that failed, or was replayed.
func (c *explorer) printEvents() {
	h := c.report.Replayed
	if c.report.Failure != nil {
		h = c.report.Failure.History
	}
	if h == nil || !c.settings.Verbose {
		return
	}
	for i := range h.Events {
		c.settings.Host.Logf("%s", h.Events[i].String())
	}
}

// totals are how much was tried, in a sentence.
func (c *explorer) totals() string {
	r := c.report
	var b strings.Builder
	fmt.Fprintf(&b, "%d runs in %v", r.Runs, r.Elapsed.Round(10*time.Millisecond))
	if !r.Complete {
		fmt.Fprintf(&b, " (then the CPU time of -sim.for was used up)")
	}
	failed := 0
	for _, o := range c.tally.outcomes {
		failed += o.Failed
	}
	fmt.Fprintf(&b, ": %d steps, %d requests, %d reconciles of which %d failed, %v of virtual time; %d runs made twice",
		r.Steps, r.Requests, r.Reconciles, failed, r.Virtual.Round(time.Second), r.Doubled)
	for _, f := range r.Faults {
		fmt.Fprintf(&b, "; %s injected %d times at %d opportunities", f.Fault, f.Injected, f.Opportunities)
	}
	return b.String()
}
