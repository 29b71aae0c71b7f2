// This file tests that stale, missing and open cells are reported.

package verdicts

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

// tell is a scenario that only the good survive.
func tell(v toy, _ ...fault.Fault) func(*sim.World) {
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
	return Table[toy]{Variants: []toy{"bad", "odd", "good"}, Cure: "good", Columns: []Column[toy]{{
		Name: "is good", Tell: tell, Broken: "it is good", Caught: []toy{"bad"}, Skipped: []toy{"odd"},
		Dossier: "✓ – ✓", Because: map[toy]string{"bad": "nobody had looked"},
	}}}
}

func TestAStatusComparesWhatWasExpected(t *testing.T) {
	table := toys()
	statuses := func() (s []string) {
		cells, err := table.cells()
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range cells {
			s = append(s, c.Status)
		}
		return s
	}
	if d := cmp.Diff([]string{"dossier corrected: nobody had looked", "agrees", "agrees"}, statuses()); d != "" {
		t.Error(d)
	}
	table.Columns[0].Because = nil
	if s := statuses(); s[0] != open {
		t.Errorf("a difference without a reason is %q", s[0])
	}
	table.Columns[0].Unasked = map[toy]string{"good": "it is good anyway"}
	if s := statuses(); s[2] != "not asked: it is good anyway" {
		t.Errorf("a variant that is not asked is %q", s[2])
	}
	table.Columns[0].Unasked = nil
	for _, bad := range []string{"✓ –", "✓ – yes"} {
		table.Columns[0].Dossier = bad
		if _, err := table.cells(); err == nil {
			t.Errorf("the dossier %q is accepted", bad)
		}
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
		if c.Observed == Silent {
			continue
		}
		if c.Status != open {
			t.Errorf("%s has not been observed and is %q", c.name(), c.Status)
		}
		scenario, sentence := table.Columns[0].Scenario(table.Variants[i]), ""
		if c.Observed == Falls {
			sentence = "it is good"
		}
		c.observe(t, sim.Explore(t, scenario, sim.Runs(3), sim.Stories(catalogue)), sentence)
	}
	bad, good := cells[0], cells[2]
	if good.Status != agrees || good.Runs != 3 || good.Story != "" || !bad.Default || bad.Story != "" {
		t.Errorf("observed were %+v and %+v", good, bad)
	}
	table.Foretold = []Prediction[toy]{
		{"it will be bad", "is good", "bad", true},
		{"so will the other", "is good", "good", true},
	}
	table.Upstream, table.Settled = "bad", "So it is."
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
	if !got[0].Default || got[0].Status != "dossier corrected: nobody had looked" || got[2].Runs != 3 {
		t.Errorf("read back were %+v", got)
	}

	if err := p.replay(t, table.Columns[0], "bad", &bad); err != nil {
		t.Error(err)
	}
	blamesFixed := prover[toy]{table: Table[toy]{Cure: "bad"}}
	struck := bad
	struck.Faults = 1
	for want, err := range map[string]error{
		"does not break":                p.replay(t, table.Columns[0], "good", &bad),
		"the fixed variant fails":       blamesFixed.replay(t, table.Columns[0], "bad", &bad),
		"0 faults were injected, not 1": p.replay(t, table.Columns[0], "bad", &struck),
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
	seen[bad.name()] = Result{Case: bad.Case, Variant: bad.Variant, Passed: true, Runs: 2000}
	if got = merge(again, seen); got[0].Status != open {
		t.Errorf("a cell that was seen to hold and must fall is %q", got[0].Status)
	}
}

// Columns of one scene share the runs of a variant that answers them; where it falls, it is asked
// that question alone.
func TestPassingCellsOfASceneShareTheirRuns(t *testing.T) {
	var asked []string
	scene := &Scene[toy]{Tell: func(v toy, sentences []string, _ ...fault.Fault) func(*sim.World) {
		return func(w *sim.World) {
			asked = append(asked, string(v)+": "+strings.Join(sentences, ", "))
			w.Sleep(time.Second)
		}
	}}
	table := Table[toy]{Variants: []toy{"bad", "good"}, Cure: "good", Columns: []Column[toy]{
		{Name: "a", Scene: scene, Broken: "A", Caught: []toy{"bad"}},
		{Name: "alone", Tell: tell, Broken: "it is good"},
		{Name: "b", Scene: scene, Broken: "B"},
		{Name: "c", Scene: scene, Broken: "C"},
	}}
	p := prover[toy]{table: table, shared: map[performance[toy]]result.Report{}}
	for _, c := range table.Columns {
		for _, v := range table.Variants {
			if c.Answer(v) == Holds {
				if r := p.hold(t, c, v, 1); v == "good" && r.Err() != nil {
					t.Error(r.Err())
				}
			}
		}
	}
	if d := cmp.Diff([]string{"good: A, B, C", "bad: B, C"}, slices.Compact(asked)); d != "" {
		t.Error(d)
	}
}
