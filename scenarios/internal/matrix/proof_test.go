// This file tests how many runs prove a passing cell.

package matrix

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/fault"
	"github.com/wavetank/wavetank/sim/result"
)

// The fixed variant needs more injections than the others, and the most runs where it is alone. A
// case without faults needs fewer runs.
func TestWhatACellNeeds(t *testing.T) {
	table := toys()
	faulted, alone := table.Cases[0], table.Cases[0]
	faulted.Name, faulted.Fail, faulted.Faults = "faulted", "", func() []fault.Fault { return nil }
	alone.Name, alone.Faults, alone.Fail, alone.Remarks = "alone", faulted.Faults, "", []Remark{OnlyFixed(table.Fixed)}
	table.Cases = append(table.Cases, faulted, alone)
	cells, err := table.cells(nil)
	if err != nil {
		t.Fatal(err)
	}
	var got [][]int
	for _, c := range cells {
		if c.Outcome == Passes {
			got = append(got, []int{c.Needed, c.Each})
		}
	}
	if d := cmp.Diff([][]int{{20, 300}, {50, 100}, {50, 300}, {2000, 300}}, got); d != "" {
		t.Error(d)
	}
}

// A cell lacks runs until each class of its faults was injected often enough. A class that was
// never injected asks for no more runs than it takes to see that.
func TestRunsThatACellLacks(t *testing.T) {
	type counts = map[string]int
	for _, c := range []struct {
		why      string
		runs     int
		injected counts
		want     int
	}{
		{"it has not been run", 0, nil, 50},
		{"there is nothing to inject", 50, nil, 0},
		{"each was injected often enough", 50, counts{"Crash": 300, "Pause": 301}, 0},
		{"one was injected at half the rate that it takes", 50, counts{"Crash": 150, "Pause": 301}, 50},
		{"a low rate is not trusted after few runs", 50, counts{"Crash": 1}, 100},
		{"one was never injected in few runs", 50, counts{"Crash": 300, "Pause": 0}, 50},
		{"one was never injected in more runs", 100, counts{"Crash": 300, "Pause": 0}, 0},
		{"it is not run for ever", 1900, counts{"Crash": 10}, 100},
		{"the most runs were made", 2000, counts{"Crash": 10}, 0},
	} {
		k := cell{Needed: 50, Each: 300}
		if got := k.lacks(c.runs, c.injected); got != c.want {
			t.Errorf("%s: it lacks %d runs, not %d", c.why, got, c.want)
		}
	}
}

// The runs of a cell are made in campaigns until they prove it, one fails, or they have used the
// CPU time. Then they are continued the next time, unless the code has changed.
func TestRunsUntilACellIsProved(t *testing.T) {
	defer func() { *limit = 0 }()
	for _, c := range []struct {
		why       string
		was       Result
		fails     int // this campaign
		limit     time.Duration
		campaigns int
		runs      int
		more      bool
	}{
		{why: "proved", campaigns: 3, runs: 300},
		{why: "failed", fails: 2, campaigns: 2, runs: 150, more: true},
		{why: "limited", limit: 2 * time.Minute, campaigns: 2, runs: 150, more: true},
		{why: "continued", was: Result{Runs: 250, Steps: 250, Campaigns: 5, Passed: true, Property: "it is good",
			Injected: map[string]int{"Crash(a)": 250}}, campaigns: 1, runs: 300},
		{why: "begun again", was: Result{Runs: 250, Passed: true, Property: "it is good", Digest: "older"},
			campaigns: 3, runs: 300},
	} {
		*limit = c.limit
		campaigns := 0
		p := prover[toy]{table: toys(), explorer: func(_ func(*sim.World), opts ...sim.ExploreOption) result.Report {
			runs := []int{50, 100, 150}[campaigns]
			campaigns++
			r := result.Report{Runs: runs, Steps: runs, Spent: time.Minute,
				Faults: []result.FaultCount{{Fault: "Crash(a)", Injected: runs / 2},
					{Fault: "Crash(b)", Injected: runs / 2}}}
			if campaigns == c.fails {
				r.Missed = []string{"it failed"}
			}
			return r
		}}
		k := cell{Needed: 50, Each: 300, Outcome: Passes, Open: c.was.Runs == 0, Result: c.was}
		k.Passed = true
		r := p.prove(t, p.table.Cases[0], "good", &k)
		if campaigns != c.campaigns || r.Runs != c.runs || r.Steps != c.runs ||
			r.campaigns != c.was.Campaigns+campaigns {
			t.Errorf("%s: %d campaigns and %d runs in %d, %v", c.why, campaigns, r.Runs, r.campaigns, r.Err())
		}
		if d := cmp.Diff(map[string]int{"Crash": c.runs}, classes(injections(r.Report))); d != "" {
			t.Error(c.why, d)
		}
		if err := k.observe(r.Report, r.campaigns); (err != nil) != (c.fails > 0) {
			t.Errorf("%s: %v", c.why, err)
		}
		if k.needsRuns() != c.more || (k.Runs == 0) != (c.fails > 0) {
			t.Errorf("%s: %d runs are recorded, and more are needed: %v", c.why, k.Runs, k.needsRuns())
		}
	}
}

// The campaigns of a cell make other runs than the ones before, and other cells make others.
func TestCampaignsOfACellDiffer(t *testing.T) {
	table := toys()
	seen, again := map[int]bool{}, 0
	table.Cases[0].Workload = &Workload[toy]{New: func(toy, []string, ...fault.Fault) func(*sim.World) {
		return func(w *sim.World) {
			n := sim.Draw(w, "n", rapid.IntRange(1, 1<<60))
			again += count(n > 1<<20 && seen[n])
			seen[n] = true
		}
	}}
	for _, name := range []string{"one", "another"} {
		t.Run(name, func(t *testing.T) {
			p := prover[toy]{table: table, explorer: func(s func(*sim.World), opts ...sim.ExploreOption) result.Report {
				r := sim.Explore(t, s, append(opts, sim.Strategy("random"), sim.Verify(0))...)
				r.Faults = []result.FaultCount{{Fault: "Crash(a)", Injected: r.Runs / 2}}
				return r
			}}
			if r := p.prove(t, table.Cases[0], "good", &cell{Needed: 20, Each: 20}); r.Runs != 40 || r.Err() != nil {
				t.Errorf("%d runs: %v", r.Runs, r.Err())
			}
		})
	}
	if again > 8 || len(seen) < 40 { // some numbers are likelier than others
		t.Errorf("of 80 runs, %d draw what one before has drawn, and %d numbers are drawn", again, len(seen))
	}
}
