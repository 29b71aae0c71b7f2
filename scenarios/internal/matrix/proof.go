// This file holds how many runs prove a passing cell: as many as it takes to inject the faults of
// its case often enough.

package matrix

import (
	"fmt"
	"hash/fnv"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/result"
)

// What a passing cell needs.
const (
	ofFixed  = 300 // injections of each class of faults into the fixed variant
	ofOthers = 100 // and into another

	withoutFaults = 20   // runs of a case that lists no faults
	withFaults    = 50   // runs of another case, at least
	ofEveryFault  = 2000 // runs of a case in which only the fixed variant is run
	maxRuns       = 2000 // runs after which a cell says how often its faults were injected
	enoughToSee   = 100  // runs after which a class that was not injected counts as never injected
)

// class matches the constructor of a fault, with which its text begins.
var class = regexp.MustCompile(`^\w*`)

// lacks returns how many more runs a cell needs, as far as these runs show: their number, and the
// injections.
func (k *cell) lacks(runs int, injected map[string]int) int {
	need := k.Needed
	for _, n := range classes(injected) {
		switch {
		case n == 0:
			need = max(need, enoughToSee)
		case n < k.Each:
			// Few injections say little of their rate.
			need = max(need, min(int(math.Ceil(float64(runs)*float64(k.Each)/float64(n))), 3*runs))
		}
	}
	return max(0, min(need, max(maxRuns, k.Needed))-runs)
}

// needsRuns reports whether the runs of a passing cell do not prove it, or were made with other
// code.
func (k *cell) needsRuns() bool { return k.Open || k.Digest != k.Now || k.unproved() }

// unproved reports whether a passing cell has fewer runs than it needs.
func (k *cell) unproved() bool { return k.lacks(k.Runs, k.Injected) > 0 }

// few returns how often the classes were injected that were injected too seldom, for the page, and
// whether more runs are needed.
func (k *cell) few() string {
	var out []string
	by := classes(k.Injected)
	for _, class := range slices.Sorted(maps.Keys(by)) {
		if n := by[class]; n > 0 && n < k.Each {
			out = append(out, fmt.Sprintf("%s %d", class, n))
		}
	}
	if k.unproved() {
		out = append(out, "…")
	}
	return strings.Join(out, ", ")
}

// made is what the runs of a cell showed, and in how many campaigns they were made.
type made struct {
	result.Report
	campaigns int
}

// prove makes the runs that a passing cell needs, in campaigns of different seeds. It continues
// with the runs on file, and stops at the first failure, and at the limit of CPU time.
func (p *prover[V]) prove(t testing.TB, c Case[V], v V, k *cell) (all made) {
	if !k.Open && k.Digest == k.Now {
		all.Runs, all.Steps, all.campaigns = k.Runs, k.Steps, k.Campaigns
		for fault, n := range k.Injected {
			all.Faults = append(all.Faults, result.FaultCount{Fault: fault, Injected: n})
		}
	}
	for {
		n := k.lacks(all.Runs, injections(all.Report))
		if n == 0 || *limit > 0 && all.Spent >= *limit {
			return all
		}
		all.campaigns++
		seed := fnv.New64()
		fmt.Fprint(seed, t.Name(), all.campaigns)
		all.Report = sum(all.Report, p.explore(t, p.table.scenario(c, v), sim.Seed(seed.Sum64()), sim.Runs(n),
			sim.For(max(0, *limit-all.Spent))))
		if all.Err() != nil {
			return all
		}
	}
}

// sum adds what a campaign counts to that of the ones before.
func sum(before, r result.Report) result.Report {
	r.Runs, r.Steps, r.Orders = r.Runs+before.Runs, r.Steps+before.Steps, r.Orders+before.Orders
	r.Spent, r.Elapsed = r.Spent+before.Spent, r.Elapsed+before.Elapsed
	r.Faults = slices.Clone(r.Faults)
	for _, f := range before.Faults {
		i := slices.IndexFunc(r.Faults, func(o result.FaultCount) bool { return o.Fault == f.Fault })
		if i < 0 {
			r.Faults = append(r.Faults, f)
			continue
		}
		r.Faults[i].Injected += f.Injected
	}
	return r
}

// injections returns how often each fault was injected.
func injections(r result.Report) map[string]int {
	out := map[string]int{}
	for _, f := range r.Faults {
		out[f.Fault] += f.Injected
	}
	return out
}

// classes sums injections up by class.
func classes(injected map[string]int) map[string]int {
	out := map[string]int{}
	for fault, n := range injected {
		out[class.FindString(fault)] += n
	}
	return out
}

// never returns the faults that were not injected, if there are enough runs to see that.
func never(runs int, injected map[string]int) (out []string) {
	for _, fault := range slices.Sorted(maps.Keys(injected)) {
		if injected[fault] == 0 && runs >= enoughToSee {
			out = append(out, fault)
		}
	}
	return out
}
