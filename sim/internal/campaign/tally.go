package campaign

import (
	"slices"
	"testing"

	"github.com/wavetank/wavetank/internal/story"
	"github.com/wavetank/wavetank/sim/internal/choice"
	"github.com/wavetank/wavetank/sim/internal/run"
	"github.com/wavetank/wavetank/sim/result"
)

// tally is what the warnings of a campaign are made from.
type tally struct {
	outcomes   []run.Outcomes
	refused    []run.Refused
	unmodelled []run.Unmodelled
	ignored    []run.Ignored
	waits      []run.Waits
	unobserved []string // controllers
	left       []string // goroutines that one run left behind
	strayed    bool     // something connected to the real network, perhaps not in a run
	searched   int      // runs made in search of failures, those of earlier processes included; kept stories are not
	idle       int      // searched runs in which no process was started
}

// noting returns a runner that notes what any run has left behind: it may be one that is not
// counted.
func (t *tally) noting(runner run.Runner) run.Runner {
	return func(test *testing.T, o choice.Source, s run.Settings) *run.Result {
		res := runner(test, o, s)
		for _, p := range res.Left {
			if !slices.Contains(t.left, p) {
				t.left = append(t.left, p)
			}
		}
		return res
	}
}

// searched adds a run that was made in search of failures to the report.
func (c *campaign) searched(res *run.Result) {
	c.tally.searched++
	if res.Processes == 0 {
		c.tally.idle++
	}
	c.count(res)
}

// count adds a run to the report.
func (c *campaign) count(res *run.Result) {
	r := &c.report
	r.Runs++
	r.Steps += res.Steps
	r.Reconciles += res.Reconciles
	r.Requests += res.Requests
	r.Virtual += res.Virtual
	for _, o := range res.Outcomes {
		c.tally.outcomes = run.AddOutcomes(c.tally.outcomes, o)
	}
	for _, o := range res.Refused {
		c.tally.refused = run.AddRefused(c.tally.refused, o)
	}
	for _, w := range res.Waits {
		c.tally.waits = run.AddWaits(c.tally.waits, w)
	}
	for _, u := range res.Unmodelled {
		c.tally.unmodelled = run.AddUnmodelled(c.tally.unmodelled, u)
	}
	for _, u := range res.Ignored {
		c.tally.ignored = run.AddIgnored(c.tally.ignored, u)
	}
	c.tally.strayed = c.tally.strayed || res.Strayed
	for _, name := range res.Unobserved {
		if !slices.Contains(c.tally.unobserved, name) {
			c.tally.unobserved = append(c.tally.unobserved, name)
		}
	}
	for _, f := range res.Faults { // which there are may depend on choices
		i := slices.IndexFunc(r.Faults, func(have result.FaultCount) bool { return have.Fault == f.Fault })
		if i < 0 {
			i, r.Faults = len(r.Faults), append(r.Faults, result.FaultCount{Fault: f.Fault})
		}
		r.Faults[i].Opportunities += f.Opportunities
		r.Faults[i].Injected += f.Injected
		r.Faults[i].Observed += f.Observed
		r.Faults[i].Classes = story.AddClasses(r.Faults[i].Classes, f.Classes)
	}
	r.Sites = story.AddSites(r.Sites, res.Sites)
	for _, o := range res.Objects {
		n := result.ObjectCount{Object: o.Ref.String(), Controller: o.Controller, Runs: 1, Required: res.Required}
		if n.Succeeded = 1; !o.Succeeded {
			n.Succeeded, n.Failure, n.Missing = 0, o.Failure, o.Missing
		}
		r.Objects = story.AddObjects(r.Objects, []result.ObjectCount{n})
	}
	r.Rights = r.Rights.And(res.Rights)
	for _, p := range res.Sometimes {
		same := func(have result.Probe) bool { return have.Sentence == p.Sentence && have.Site == p.Site }
		i := slices.IndexFunc(r.Sometimes, same)
		if i < 0 {
			i, r.Sometimes = len(r.Sometimes), append(r.Sometimes, result.Probe{Sentence: p.Sentence, Site: p.Site})
		}
		r.Sometimes[i].Reached += p.Reached
	}
	c.publish()
	c.progress.show(c)
}
