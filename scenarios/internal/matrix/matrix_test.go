// This file tests that stale, missing and open cells are reported.

package matrix

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/internal/story"
	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/fault"
	"github.com/wavetank/wavetank/sim/result"
)

type toy string

// survive is a workload that only the good survive.
func survive() *Workload[toy] { return &Workload[toy]{New: goodOnly} }

func goodOnly(v toy, _ []string, _ ...fault.Fault) func(*sim.World) {
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

// newCase is a row of a table.
func newCase(name string, w *Workload[toy], property, fail string, remarks ...Remark) Case[toy] {
	return Case[toy]{Name: name, Workload: w, Property: property, Fail: fail, Remarks: remarks}
}

func toys() Table[toy] {
	return Table[toy]{Variants: []toy{"bad", "odd", "good"}, Fixed: "good", Cases: []Case[toy]{
		newCase("is good", survive(), "it is good", "bad", Omit("odd", ""), Note("bad", "nobody had looked")),
	}}
}

// A cell carries the table's note, or the reason why it is not run.
func TestCellsOfATable(t *testing.T) {
	table := toys()
	table.Cases[0].Remarks = []Remark{Note("bad", "it is so by nature"), Omit("all but bad good", "it is neither")}
	cells, err := table.cells(nil)
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
	if _, err := table.cells(nil); err == nil {
		t.Error("two cases of one name are accepted")
	}
	table.Cases = []Case[toy]{newCase("is good", survive(), "it is good", "all but god")}
	if _, err := table.cells(nil); err == nil {
		t.Error("a variant that does not exist is accepted")
	}
}

// A cell is searched, recorded, read and repeated, and what has changed since is found.
func TestAFailureIsRecordedAndRepeated(t *testing.T) {
	t.Chdir(t.TempDir())
	table := toys()
	cells, err := table.cells(nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := range cells {
		c := &cells[i]
		if c.Outcome == NotRun {
			continue
		}
		if !c.Open {
			t.Errorf("%s has not been observed and is not open", c.name())
		}
		scenario := table.Cases[0].Scenario(table.Variants[i])
		if err := c.observe(sim.Explore(t, scenario, sim.Runs(3), sim.Stories(catalogue)), 1); err != nil {
			t.Fatal(err)
		}
	}
	bad, good := cells[0], cells[2]
	if good.Open || good.Runs != 3 || good.Story != "" || !bad.Default || bad.Story != "" {
		t.Errorf("observed were %+v and %+v", good, bad)
	}
	for name, text := range map[string]string{
		"thread.md": "[a thread](https://example.com)\n",
		"page.md": "Somebody\nis bad.\n\nSo it is.\n\n" + promisesHead +
			"| | lag: StaleCache | deaths: Crash, Restart | requeues: RacingRequeue |\n|---|---|---|---|\n" +
			"| it is good | – it has no cache | is good | is good |\n\n## Situations\n\n" +
			"| it is seen | is good; `TestNothing` |\n| it will be bad | is good: bad ✗ | confirmed |\n" +
			"| so will the other | is good: good ✗ | confirmed |\n| and more | is odd |\n",
	} {
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	cells[2].Injected = map[string]int{"Crash(a)": 3, "Restart(a)": 4, "StaleCache(1s)": 9}
	page, err := table.render("toys", cells)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{
		"The thread: [a thread](https://example.com). Somebody is bad.", "| bad |  | 1 of 1 cases |", "So it is.",
		"| it is good | is good | ✗° | – | ✓ 3 (Crash 3, Restart 4, StaleCache 9, …) |", "## Situations",
		"| it is good | – it has no cache | is good: 7 in 3 |  |", "| it is seen | is good; `TestNothing` |",
		"1 of 1 passing cells were run with the controller and the scenario as they are now, 1 of them in fewer " +
			"runs than they need. The runs were made on these commits, see results.json: .",
	} {
		if !strings.Contains(page, line+"\n") {
			t.Errorf("the page has no line %q: %s", line, page)
		}
	}
	wrong := strings.Join(table.checkTables(cells), "\n")
	if want := `"is good" does not inject what "requeues: RacingRequeue" lists`; !strings.Contains(wrong, want) {
		t.Errorf("nothing says that %s: %s", want, wrong)
	}
	for _, by := range []string{"`TestNothing`", "is good: good ✗", "is odd"} {
		if !strings.Contains(wrong, fmt.Sprintf("is shown by %q", by)) {
			t.Errorf("nothing says that %s shows nothing: %s", by, wrong)
		}
	}
	if strings.Contains(wrong, "bad ✗") {
		t.Error(wrong)
	}
	p := prover[toy]{table: table, cells: cells}
	p.write(t)
	seen, err := readResults()
	if err != nil {
		t.Fatal(err)
	}
	got, err := table.cells(seen)
	if err != nil {
		t.Fatal(err)
	}
	if !got[0].Default || got[0].Open || got[2].Runs != 3 {
		t.Errorf("read back were %+v", got)
	}

	if err := p.replay(t, table.Cases[0], "bad", &bad); err != nil {
		t.Error(err)
	}
	check := Check(table, func(scenario func(*sim.World), opts ...sim.ExploreOption) result.Report {
		return sim.Explore(t, scenario, opts...)
	})
	for _, v := range []toy{"bad", "good"} {
		if err := check(t, "is good", v); err != nil {
			t.Errorf("the spec of %s: %v", v, err)
		}
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
	if got, err = table.cells(seen); err != nil || !got[0].Open {
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
		{Name: "a", Workload: shared, Property: "A", Fail: "bad"},
		{Name: "alone", Workload: survive(), Property: "it is good"},
		{Name: "b", Workload: shared, Property: "B"},
		{Name: "c", Workload: shared, Property: "C"},
	}}
	p := prover[toy]{table: table, shared: map[campaign[toy]]made{}}
	for _, c := range table.Cases {
		for _, v := range table.Variants {
			if c.Outcome(v) == Passes {
				if r := p.pass(t, c, v, &cell{}); v == "good" && r.Err() != nil {
					t.Error(r.Err())
				}
			}
		}
	}
	if d := cmp.Diff([]string{"good: A, B, C", "bad: B, C"}, slices.Compact(checked)); d != "" {
		t.Error(d)
	}
}

// Results of another version say how to get new ones, and so do those that are no JSON.
func TestResultsOfAnotherVersionAreRefused(t *testing.T) {
	t.Chdir(t.TempDir())
	for text, want := range map[string]string{
		`{"format": 1, "results": []}`: "has format 1, not 2; remove it and run make matrices",
		`[{"case": "is good"}]`:        "cannot be read",
	} {
		if err := os.WriteFile(results, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		if _, err := readResults(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: want %q, got %v", text, want, err)
		}
	}
}

// What no longer fits the table is found, and each complaint says what to run.
func TestStaleFilesAreFound(t *testing.T) {
	t.Chdir(t.TempDir())
	table := toys()
	for name, text := range map[string][]byte{
		"thread.md": []byte("[a thread](https://example.com)"), "page.md": []byte("It is bad.\n\nSo it is.\n"),
		catalogue + "/is-good--bad.txtar": (&story.Story{Test: "TestMatrix/is_good/bad", Kind: "always",
			Property: "it was good"}).Encode(),
		catalogue + "/is-nice--bad.txtar": (&story.Story{Test: "TestMatrix/is_nice/bad", Kind: "always",
			Property: "it is good"}).Encode(),
	} {
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o777), os.WriteFile(name, text, 0o666)); err != nil {
			t.Fatal(err)
		}
	}
	bad := Result{Case: "is good", Variant: "bad", Property: "it is good", Runs: 1, Story: "is-good--bad.txtar"}
	cells, err := table.cells(map[string]Result{bad.name(): bad})
	if err != nil {
		t.Fatal(err)
	}
	p := prover[toy]{table: table, cells: cells}
	complaints := strings.Join(p.stale("toys"), "\n")
	for _, want := range []string{
		`"is good: good" has not been run; run make matrices STORY=toys`,
		`is-good--bad.txtar is a story of TestMatrix/is_good/bad and "it was good", not of its cell`,
		"is-nice--bad.txtar", "the stories in testdata/catalogue are not those of the results",
		"open results.json: no such file",
	} {
		if !strings.Contains(complaints, want) {
			t.Errorf("no complaint says %q: %s", want, complaints)
		}
	}
}

// The demonstration shows the failure that is found soonest, and of the fixed variant the hardest
// case.
func TestTypicalCases(t *testing.T) {
	t.Chdir(t.TempDir())
	table := toys()
	easy, easier, alone := table.Cases[0], table.Cases[0], table.Cases[0]
	easy.Name, easier.Name = "easy", "easier"
	alone.Name, alone.Fail, alone.Remarks = "alone", "", []Remark{OnlyFixed(table.Fixed)}
	alone.Faults = func() []fault.Fault { return nil }
	table.Cases = append(table.Cases, easy, easier, alone)
	cells, err := table.cells(nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := range cells {
		cells[i].Runs, cells[i].Default = 10-i, i == 0
	}
	if err := os.WriteFile(results, encode(cells), 0o666); err != nil {
		t.Fatal(err)
	}
	cases, err := table.Typical()
	if err != nil {
		t.Fatal(err)
	}
	if cases[0].Name != "easier" || cases[2].Name != "alone" {
		t.Errorf("shown are %q and %q", cases[0].Name, cases[2].Name)
	}
}

// A fault that some variants never meet is a note; one that none of them meets is a mistake.
func TestFaultsThatAreNeverInjected(t *testing.T) {
	row := []cell{{Outcome: NotRun}, {Outcome: Passes, Result: Result{Never: []string{"A", "B"}}}, {Outcome: Passes,
		Result: Result{Never: []string{"B"}}}}
	if d := cmp.Diff([]string{"B"}, neverAtAll(row)); d != "" {
		t.Error(d)
	}
	injected := map[string]int{"Crash(a)": 2, "Crash(b)": 0, "Pause(a)": 0}
	if few := never(enoughToSee-1, injected); few != nil {
		t.Errorf("few runs tell that %v are never injected", few)
	}
	if d := cmp.Diff([]string{"Crash(b)", "Pause(a)"}, never(enoughToSee, injected)); d != "" {
		t.Error(d)
	}
}

// Runs that were made with other code, or without the faults of their case, are marked.
func TestMarksOfStaleRuns(t *testing.T) {
	t.Chdir(t.TempDir())
	c := cell{Outcome: Passes, Now: digest(), Faulted: true, Each: 1, Result: Result{Runs: 300, Digest: digest(),
		Injected: map[string]int{"Crash": 1}}}
	marks := []string{c.mark()}
	if err := os.WriteFile("a.go", []byte("package a // and a comment"), 0o666); err != nil {
		t.Fatal(err)
	}
	c.Now = digest()
	marks = append(marks, c.mark())
	c.Injected = nil
	marks = append(marks, c.mark())
	if err := os.WriteFile("a.go", []byte("package  a"), 0o666); err != nil {
		t.Fatal(err)
	}
	c.Digest = digest()
	marks = append(marks, c.mark())
	if !c.needsRuns() == (c.Digest != c.Now) {
		t.Error("runs that are old are not told from others")
	}
	c.Injected, c.Each = map[string]int{"Crash(a)": 1, "Crash(b)": 1, "Pause(a)": 2, "Relist": 7}, 7
	marks = append(marks, c.mark())
	c.Runs = maxRuns
	marks = append(marks, c.mark())
	d := cmp.Diff([]string{"✓ 300", "✓ 300†", "○ 300†", "○ 300", "✓ 300 (Crash 2, Pause 2, …)",
		"✓ 2000 (Crash 2, Pause 2)"}, marks)
	if d != "" {
		t.Error(d)
	}
}
