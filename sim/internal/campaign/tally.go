package campaign

import (
	"slices"

	"github.com/wavetank/wavetank/internal/story"
	"github.com/wavetank/wavetank/sim/internal/run"
	"github.com/wavetank/wavetank/sim/result"
)

// tally counts what the runs of a campaign have done: for its report, and for its warnings.
type tally struct {
	report     *result.Report
	counted    func() // called after each run
	outcomes   []run.Outcomes
	refused    []run.Refused
	unmodelled []run.Unmodelled
	ignored    []run.Ignored
	waits      []run.Waits
	unobserved []string // controllers
	strayed    bool     // something connected to the real network, perhaps not in a run
	searched   int      // runs made in search of failures, those of earlier processes included; kept stories are not
	idle       int      // searched runs in which no process was started
	broken     int      // runs that have failed
}

// countSearched adds a run that was made in search of failures to the report.
func (t *tally) countSearched(res *run.Result) {
	t.searched++
	if res.Processes == 0 {
		t.idle++
	}
	t.count(res)
}

// count adds a run to the report.
func (t *tally) count(res *run.Result) {
	r := t.report
	if res.Ending.Failed() || len(res.Passed) > 0 {
		t.broken++
	}
	r.Runs++
	r.Steps += res.Steps
	r.Reconciles += res.Reconciles
	r.Requests += res.Requests
	r.Virtual += res.Virtual
	for _, o := range res.Outcomes {
		t.outcomes = run.AddOutcomes(t.outcomes, o)
	}
	for _, o := range res.Refused {
		t.refused = run.AddRefused(t.refused, o)
	}
	for _, w := range res.Waits {
		t.waits = run.AddWaits(t.waits, w)
	}
	for _, u := range res.Unmodelled {
		t.unmodelled = run.AddUnmodelled(t.unmodelled, u)
	}
	for _, u := range res.Ignored {
		t.ignored = run.AddIgnored(t.ignored, u)
	}
	t.strayed = t.strayed || res.Strayed
	for _, name := range res.Unobserved {
		if !slices.Contains(t.unobserved, name) {
			t.unobserved = append(t.unobserved, name)
		}
	}
	r.Faults = story.AddFaults(r.Faults, res.Faults) // which there are may depend on choices
	r.Sites = story.AddSites(r.Sites, res.Sites)
	for _, o := range res.Objects {
		n := result.ObjectCount{Object: o.Ref.String(), Controller: o.Controller, Runs: 1, Required: res.Required}
		if n.Succeeded = 1; !o.Succeeded {
			n.Succeeded, n.Failure, n.Missing = 0, o.Failure, o.Missing
		}
		r.Objects = story.AddObjects(r.Objects, []result.ObjectCount{n})
	}
	r.Rights = r.Rights.And(res.Rights)
	r.Sometimes = story.AddProbes(r.Sometimes, res.Sometimes)
	t.counted()
}

// restore adds what an earlier process has counted.
func (t *tally) restore(old *story.Result) {
	r := t.report
	r.Runs, r.Steps, r.Reconciles, r.Requests = old.Runs, old.Steps, old.Reconciles, old.Requests
	r.Virtual, r.Objects, r.Sites, r.Rights = old.Virtual, old.Objects, old.Sites, r.Rights.And(old.Rights)
	r.Faults, r.Sometimes = story.AddFaults(r.Faults, old.Faults), story.AddProbes(r.Sometimes, old.Sometimes)
	t.searched = old.Runs
	for _, n := range old.Strategies {
		t.broken += n.Finds
	}
}
