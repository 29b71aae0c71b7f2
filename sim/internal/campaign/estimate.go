package campaign

import (
	"slices"
	"strings"
	"time"

	"github.com/wavetank/wavetank/internal/story"
	"github.com/wavetank/wavetank/sim/internal/choice"
	"github.com/wavetank/wavetank/sim/internal/run"
	"github.com/wavetank/wavetank/sim/result"
)

// This file estimates how often a user would meet a bug: runs at a real API server that are not
// held to the order of the story.

// maxFree is how long such a run may take.
const maxFree = 30 * time.Second

// lagsOfUsers are how late watch events are in the runs of a story with a stale cache.
var lagsOfUsers = []time.Duration{5 * time.Millisecond, 50 * time.Millisecond, 500 * time.Millisecond, 2 * time.Second}

// staleCache is the class of the fault that delays watch events.
const staleCache = "StaleCache"

// estimate makes runs of a story's workload. It adds the table to the report.
func (c *confirmer) estimate(path string, s *story.Story) {
	c.runs.doing.Store(&activity{what: "the workload of " + path + ", at a real API server"})
	began := time.Now()
	e := c.estimated(s)
	e.File, e.Took = path, time.Since(began)
	c.report.Estimates = append(c.report.Estimates, e)
	outcome := "estimated"
	if e.Why != "" {
		outcome = "cannot be estimated"
	}
	c.settings.reportReplayed(outcome)
	c.settings.Host.Logf("%s", e.Text())
}

func (c *confirmer) estimated(s *story.Story) (e result.Estimate) {
	if e.Why = unshowable(s); e.Why != "" {
		return e
	}
	faults := faultsOf(s.Choices)
	lagging := slices.Contains(faults, staleCache)
	faults = slices.DeleteFunc(faults, func(class string) bool { return class == staleCache })
	rows := []result.EstimateRow{{}}
	if lagging {
		for _, lag := range lagsOfUsers {
			rows = append(rows, result.EstimateRow{Lag: lag, Faults: faults})
		}
	} else if len(faults) > 0 {
		rows = append(rows, result.EstimateRow{Faults: faults})
	}
	opportunities := map[string]int{}
	for i := range rows {
		row := &rows[i]
		for row.Runs < max(c.settings.Attempts, 1) {
			seed := choice.Mix(c.report.Seed, i<<16+row.Runs)
			source := &chance{drawn: choice.Play(choice.Sequence(s.Choices).Drawn()), classes: faults,
				at: atRandom(row.Faults, opportunities, seed), seen: map[string]int{}}
			settings := c.runs.settings
			settings.Real = &run.Real{Kubeconfig: c.settings.Confirm, Paced: true,
				Free: &run.Free{Lag: row.Lag, Limit: maxFree}}
			res := c.runs.executeWith(source, settings)
			if e.Server, e.Why = res.Course.Version+otherMinor(res.Course.Version), cannotBe(res); e.Why != "" {
				return e
			}
			for class, n := range source.seen {
				opportunities[class] = max(opportunities[class], n)
			}
			count(row, res, s)
		}
	}
	e.Rows = rows
	return e
}

// count adds a run to its row.
func count(row *result.EstimateRow, res *run.Result, s *story.Story) {
	row.Runs++
	row.Reconciles += res.Reconciles
	switch {
	case stillFails(s, res.Ending):
		row.Violated++
	case res.Ending.Failed():
		row.Otherwise++
	case res.Course.OverTime:
		row.OverTime++
	}
}

// faultsOf are the classes of the faults that a story injects, each as often as it does.
func faultsOf(choices choice.Sequence) (out []string) {
	for _, ch := range choices {
		if ch.Kind == story.Inject {
			class, _, _ := strings.Cut(ch.Of, "(")
			out = append(out, class)
		}
	}
	return out
}

// strike is the opportunity at which a fault is injected, and how.
type strike struct {
	n   int
	how uint64
}

// atRandom draws an opportunity for each of the faults.
func atRandom(faults []string, opportunities map[string]int, seed uint64) map[string][]strike {
	out := map[string][]strike{}
	for i, class := range faults {
		n := choice.Mix(seed, 2*i) % uint64(max(opportunities[class], 1))
		out[class] = append(out[class], strike{int(n), choice.Mix(seed, 2*i+1)})
	}
	return out
}

// chance is the choice source of a free run: values are drawn as in the story, and faults are
// injected at given opportunities.
type chance struct {
	drawn   choice.Source
	classes []string
	at      map[string][]strike
	seen    map[string]int // opportunities so far
}

// Choose implements [choice.Source].
func (c *chance) Choose(p choice.Point) int {
	class, _, _ := strings.Cut(p.Of, "(")
	switch {
	case p.Kind == story.Arm && slices.Contains(c.classes, class):
		return p.N - 1
	case p.Kind == story.Inject && slices.Contains(c.classes, class):
		n := c.seen[class]
		c.seen[class]++
		for _, s := range c.at[class] {
			if s.n == n {
				return 1 + int(s.how%uint64(p.N-1))
			}
		}
		return 0
	}
	return c.drawn.Choose(p)
}
