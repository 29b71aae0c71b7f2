package result

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/internal/story"
)

// Report is what a campaign found.
type Report struct {
	Name    string        // of the campaign: the test's, with ~2 and so on for others in the same test
	Seed    uint64        // base seed
	Runs    int           // runs made, the failing one included, those for shrinking not
	Elapsed time.Duration // real time, shrinking included
	// Spent is the CPU time that this process spent on runs, or the real time where the system
	// reports no CPU time. Shrinking is not included.
	Spent time.Duration
	// Steps, Reconciles and Requests (to the API servers and to the outside) are those of all runs
	// together, Virtual their virtual time.
	Steps      int
	Reconciles int
	Requests   int
	Virtual    time.Duration
	Doubled    int // runs that were made twice and compared
	Faults     []FaultCount
	Sometimes  []Probe
	Objects    []ObjectCount // that users made
	Sites      []SiteCount   // lines of the programs that send requests
	// Calls are writes in the source of the programs' reconcilers; nil unless -sim.coverage asks
	// for them.
	Calls []SourceCall
	// Rights are those of processes with sim.AsDeployed; nil if there is none.
	Rights   *story.Rights
	Complete bool // all runs that were asked for were made
	// Failure is the first run that failed; nil if none did.
	Failure *Failure
	// Replayed is the history of the story that was played last, whether it failed or not; nil if
	// none was.
	Replayed *history.History
	// Confirmations are the verdicts of a real API server on stories, with -sim.confirm alone.
	Confirmations []Confirmation
	// Estimates are what -sim.free has found, with -sim.confirm alone.
	Estimates []Estimate
	// Findings are all failures by cause: more than one only with sim.KeepGoing.
	Findings []Finding
	// Drifted are the kept stories that passed although not all of their faults were injected, as
	// the code no longer asks for what they were injected at: they may test nothing any more.
	Drifted []story.Drift
	// Outdated are the kept stories that say what is no longer so, as when a property got another
	// sentence. What their runs violate fails the test when the search has ended.
	Outdated []story.Outdated
	// Divergences are the causes for which doubled runs differ now and then, or only in the text of
	// an error.
	Divergences []story.Divergence
	Strategies  []StrategyCount
	// Orders is in how many different orders events came, where those that do not depend on one
	// another are in none: see [history.History.Order].
	Orders int
	// Explored says, for the exhaustive strategy, what was covered and what was not.
	Explored string
	// Missed says, in a sentence each, what fails the test although no run failed: a Sometimes that
	// no run reached, in a scenario of package auto an object that never succeeded, and with
	// -sim.drift=fail a kept story that tests nothing any more or is outdated.
	Missed []string
	// Warnings say, in a sentence each, what makes a campaign say less than it seems to:
	//
	//   - it ended with fewer than 20 runs, or before a Sometimes was reached;
	//   - a declared fault had no opportunity, or was never injected: at 200 of them, or in 20
	//     runs;
	//   - every reconcile of a process failed: 10 of them, or all those of 20 runs;
	//   - a controller's last reconcile failed whenever the world was quiescent, for each object of
	//     a user in each run;
	//   - all requests of one sort of a process were refused: 100 of them;
	//   - 10 lags of a stale cache ended before the wait of a program for it did, and none after;
	//   - no process was started in any run;
	//   - a controller cannot be observed;
	//   - something connected over TCP during a run, perhaps outside of it;
	//   - a cluster would act upon objects of a built-in kind, and nothing in the world does;
	//   - the code never reaches the requests that the faults of a stored story are injected at;
	//   - a kept story is outdated;
	//   - two runs of one choice sequence differ now and then, or in the text of an error.
	//
	// A campaign that found a failure gets no warning of what it did not try.
	Warnings []string
}

// Err is what sim.Check would fail the test with; nil if it would pass.
func (r Report) Err() error {
	if r.Failure == nil {
		if r.Missed == nil {
			return nil
		}
		return errors.New(strings.Join(r.Missed, "\n"))
	}
	text := r.Failure.Text()
	for _, missed := range r.Missed {
		text += fmt.Sprintf("    %s\n", missed)
	}
	if causes := story.Causes(r.Findings); len(causes) > 1 {
		text += fmt.Sprintf("    %d causes in %d runs, the most harmful first:\n", len(causes), r.Runs)
		for _, f := range causes {
			text += fmt.Sprintf("    %5d runs: %s (shortest story: %d steps; first in run %d, by %s)\n",
				f.Count, f.Cause, f.Steps, f.First, f.Strategy)
			text += told(f)
		}
	}
	return errors.New(text)
}

// told is what a finding's story says, in two lines.
func told(f story.Finding) string {
	s, err := story.Decode([]byte(f.Story))
	if err != nil {
		return ""
	}
	message, _, _ := strings.Cut(s.Message, "\n")
	return fmt.Sprintf("                %s\n                %s\n", message, s.Replay)
}
