// This file measures the search: every strategy on every planted bug, for several base seeds. make
// bench-search runs it and keeps what it writes in docs/search.md. Without -search.write it is
// skipped, for it takes long.

package planted

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/wavetank/wavetank/sim"
	reported "github.com/wavetank/wavetank/sim/result"
)

var (
	searchWrite  = flag.String("search.write", "", "measure the search and write the page to this file")
	searchSeeds  = flag.Int("search.seeds", 5, "base seeds for each strategy and bug")
	searchCap    = flag.Int("search.cap", 1000, "runs after which a strategy has not found a bug")
	searchOnly   = flag.String("search.only", "", "only bugs whose name matches")
	searchCommit = flag.String("search.commit", "", "the commit that is measured, for the page")
)

// searched are the strategies that are compared. A plan that knows no chance needs one seed only.
var searched = []struct {
	name  string
	fixed bool
}{
	{"portfolio", false}, {"burst", false}, {"aimed", false}, {"swarm", false}, {"random", false}, {"rapid", false},
	{"sweep", true}, {"exhaustive", true},
}

// find is one campaign.
type find struct {
	bug      *Bug
	strategy string
	by       string // the portfolio says who
	found    bool
	runs     int
	took     time.Duration
}

// shrunk is one find of the portfolio before and after shrinking.
type shrunk struct {
	bug                                              *Bug
	choices, faults, steps, lines, disturbances, sec [2]float64
	took                                             time.Duration
	runs                                             int
}

type measured struct {
	bugs    []Bug
	finds   []find
	shrunk  []shrunk
	proofs  []proof
	elapsed time.Duration
}

// proof is an exhaustive search with a bound: whether so many disturbances are enough.
type proof struct {
	bug   *Bug
	bound int
	what  string
}

// of are the campaigns of one strategy on one bug.
func (m *measured) of(strategy, bug string) (out []find) {
	for _, f := range m.finds {
		if f.strategy == strategy && f.bug.Name == bug {
			out = append(out, f)
		}
	}
	return out
}

func TestBenchSearch(t *testing.T) {
	if *searchWrite == "" {
		t.Skip("make bench-search measures the search")
	}
	only := regexp.MustCompile(*searchOnly)
	m := &measured{bugs: slices.DeleteFunc(Bugs(), func(b Bug) bool { return !only.MatchString(b.Name) })}
	began := busy(t)
	for i := range m.bugs {
		b := &m.bugs[i]
		for _, s := range searched {
			for seed := range *searchSeeds {
				if s.fixed && seed > 0 {
					break
				}
				m.finds = append(m.finds, m.hunt(t, b, s.name, uint64(seed+1)))
			}
		}
		m.prove(t, b)
		t.Logf("%3.0f s: %s", (busy(t) - began).Seconds(), b.Name)
	}
	m.elapsed = busy(t) - began
	if err := os.WriteFile(*searchWrite, []byte(m.page()), 0o644); err != nil {
		t.Fatal(err)
	}
}

// hunt is one campaign: found or not within the cap. What the portfolio finds is found again and
// shrunk.
func (m *measured) hunt(t *testing.T, b *Bug, strategy string, seed uint64) find {
	options := []sim.ExploreOption{sim.Strategy(strategy), sim.Seed(seed), sim.Runs(*searchCap), sim.For(0),
		sim.Verify(0), sim.Bound(1)}
	began := busy(t)
	r := sim.Explore(t, b.Scenario(false), append(options, sim.Shrink(0))...)
	f := find{bug: b, strategy: strategy, runs: r.Runs, took: busy(t) - began, found: r.Failure != nil &&
		r.Failure.Property == b.Property}
	if r.Failure == nil {
		return f
	}
	if !f.found {
		t.Errorf("%s, %s, seed %d: %s", b.Name, strategy, seed, r.Failure.Text())
		return f
	}
	f.by = r.Failure.Strategy
	if strategy != "portfolio" {
		return f
	}
	began = busy(t)
	again := sim.Explore(t, b.Scenario(false), options...)
	if again.Failure == nil || again.Failure.Property != b.Property || again.Failure.Flaky {
		t.Errorf("%s: seed %d does not repeat itself", b.Name, seed)
		return f
	}
	s := shrunk{bug: b, took: max(busy(t)-began-f.took, 0), runs: again.Failure.Shrinking.Runs}
	for i, part := range []*reported.Failure{r.Failure, again.Failure} {
		l := part.Story.After
		s.choices[i], s.faults[i], s.steps[i] = float64(l.Choices), float64(l.Faults), float64(l.Steps)
		s.lines[i], s.sec[i] = float64(len(part.Story.History)), part.At.Seconds()
		s.disturbances[i] = float64(disturbances(part.Story.Choices))
	}
	m.shrunk = append(m.shrunk, s)
	return f
}

// proofCap bounds the runs of a proof.
const proofCap = 40000

// prove makes every run with fewer disturbances than the bug is deep.
func (m *measured) prove(t *testing.T, b *Bug) {
	for bound := 1; bound < b.Depth; bound++ {
		began := busy(t)
		r := sim.Explore(t, b.Scenario(false), sim.Strategy("exhaustive"), sim.Bound(bound), sim.Runs(proofCap),
			sim.For(0), sim.Verify(0), sim.Shrink(0))
		what := r.Explored
		if r.Failure != nil {
			what = fmt.Sprintf("REFUTED: found in run %d", r.Runs)
		}
		m.proofs = append(m.proofs, proof{b, bound, fmt.Sprintf("%s; in %.0f s", what, (busy(t) - began).Seconds())})
	}
}

// busy is how long this process has kept a CPU busy: unlike real time, it does not depend on what
// else the machine does.
func busy(t *testing.T) time.Duration {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// machine says what this was measured on.
func machine() string {
	cpu := "an unnamed CPU"
	info, _ := os.ReadFile("/proc/cpuinfo")
	for _, line := range strings.Split(string(info), "\n") {
		if k, v, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(k) == "model name" {
			cpu = strings.TrimSpace(v)
			break
		}
	}
	return cpu
}

// TestShrinking makes one campaign for each bug, as flags say: make bench-shrinking runs it.
func TestShrinking(t *testing.T) {
	for _, b := range Bugs() {
		t.Run(b.Name, func(t *testing.T) {
			if r := sim.Explore(t, b.Scenario(false)); r.Failure != nil && r.Failure.Property != b.Property {
				t.Errorf("found something else: %s", r.Failure.Text())
			}
		})
	}
}
