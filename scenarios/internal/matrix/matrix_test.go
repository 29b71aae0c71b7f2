// This file tests that stale, missing and open cells are reported.

package matrix

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/fault"
	"github.com/wavetank/wavetank/sim/result"
)

type toy string

// survive is a scenario that only the good survive.
func survive(v toy, _ ...fault.Fault) func(*sim.World) {
	return func(w *sim.World) {
		w.Always("it is good", func(*history.History) error {
			if v == "bad" {
				return errors.New("it is bad")
			}
			return nil
		})
		w.Sleep(time.Second)
	}
}

func toys() Table[toy] {
	return Table[toy]{Variants: []toy{"bad", "odd", "good"}, Fixed: "good", Cases: []Case[toy]{{
		Name: "is good", New: survive, Property: "it is good", Fail: []toy{"bad"}, Skip: []toy{"odd"},
		Notes: map[toy]string{"bad": "nobody had looked"},
	}}}
}

// A cell carries the table's note, or the reason why it is not run.
func TestCellsOfATable(t *testing.T) {
	table := toys()
	table.Cases[0].Notes = map[toy]string{"bad": "it is so by nature"}
	table.Cases[0].NotRun = map[toy]string{"odd": "it is neither"}
	cells, err := table.cells()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range cells {
		got = append(got, c.Outcome+" "+c.Note)
	}
	if d := cmp.Diff([]string{"✗ it is so by nature", "– it is neither", "✓ "}, got); d != "" {
		t.Error(d)
	}
	table.Cases = append(table.Cases, table.Cases[0])
	if _, err := table.cells(); err == nil {
		t.Error("two cases of one name are accepted")
	}
}

// A cell is searched, recorded, read and repeated, and what has changed since is found.
func TestAFailureIsRecordedAndRepeated(t *testing.T) {
	t.Chdir(t.TempDir())
	table := toys()
	cells, err := table.cells()
	if err != nil {
		t.Fatal(err)
	}
	for i := range merge(cells, nil) {
		c := &cells[i]
		if c.Outcome == NotRun {
			continue
		}
		if !c.Open {
			t.Errorf("%s has not been observed and is not open", c.name())
		}
		scenario, property := table.Cases[0].Scenario(table.Variants[i]), ""
		if c.Outcome == Fails {
			property = "it is good"
		}
		c.observe(t, sim.Explore(t, scenario, sim.Runs(3), sim.Stories(catalogue)), property)
	}
	bad, good := cells[0], cells[2]
	if good.Open || good.Runs != 3 || good.Story != "" || !bad.Default || bad.Story != "" {
		t.Errorf("observed were %+v and %+v", good, bad)
	}
	table.Predictions = []Prediction[toy]{
		{"it will be bad", "is good", "bad", true},
		{"so will the other", "is good", "good", true},
	}
	table.Upstream, table.UpstreamNote = "bad", "So it is."
	ending := table.ending()
	for _, line := range []string{
		"| it will be bad | is good: bad | confirmed |", "| so will the other | is good: good | refuted |",
		"So it is.", "bad fails these cases: is good.",
	} {
		if !strings.Contains(ending, line) {
			t.Errorf("the page does not end with %q, but with %s", line, ending)
		}
	}
	p := prover[toy]{table: table, cells: cells}
	p.write(t)
	seen, err := readResults()
	if err != nil {
		t.Fatal(err)
	}
	again, err := table.cells()
	if err != nil {
		t.Fatal(err)
	}
	got := merge(again, seen)
	if !got[0].Default || got[0].Open || got[2].Runs != 3 {
		t.Errorf("read back were %+v", got)
	}

	if err := p.replay(t, table.Cases[0], "bad", &bad); err != nil {
		t.Error(err)
	}
	blamesFixed := prover[toy]{table: Table[toy]{Fixed: "bad"}}
	injected := bad
	injected.Faults = 1
	for want, err := range map[string]error{
		"does not break":                p.replay(t, table.Cases[0], "good", &bad),
		"the fixed variant fails":       blamesFixed.replay(t, table.Cases[0], "bad", &bad),
		"0 faults were injected, not 1": p.replay(t, table.Cases[0], "bad", &injected),
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
	seen[bad.name()] = Result{Case: bad.Case, Variant: bad.Variant, Passed: true, Runs: 2000}
	if got = merge(again, seen); !got[0].Open {
		t.Error("a cell that passed and must fail is not open")
	}
}

// Cases of one workload share the runs of a variant that passes them. A failing cell has its own
// runs.
func TestPassingCellsOfAWorkloadShareTheirRuns(t *testing.T) {
	var checked []string
	shared := &Workload[toy]{New: func(v toy, properties []string, _ ...fault.Fault) func(*sim.World) {
		return func(w *sim.World) {
			checked = append(checked, string(v)+": "+strings.Join(properties, ", "))
			w.Sleep(time.Second)
		}
	}}
	table := Table[toy]{Variants: []toy{"bad", "good"}, Fixed: "good", Cases: []Case[toy]{
		{Name: "a", Workload: shared, Property: "A", Fail: []toy{"bad"}},
		{Name: "alone", New: survive, Property: "it is good"},
		{Name: "b", Workload: shared, Property: "B"},
		{Name: "c", Workload: shared, Property: "C"},
	}}
	p := prover[toy]{table: table, shared: map[campaign[toy]]result.Report{}}
	for _, c := range table.Cases {
		for _, v := range table.Variants {
			if c.Outcome(v) == Passes {
				if r := p.hold(t, c, v, 1); v == "good" && r.Err() != nil {
					t.Error(r.Err())
				}
			}
		}
	}
	if d := cmp.Diff([]string{"good: A, B, C", "bad: B, C"}, slices.Compact(checked)); d != "" {
		t.Error(d)
	}
}
