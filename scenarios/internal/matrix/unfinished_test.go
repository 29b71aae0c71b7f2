// This file tests what results say that were not written to the end.

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
	"pgregory.net/rapid"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/internal/story"
	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/fault"
	"github.com/wavetank/wavetank/sim/result"
)

// A failure that cannot be repeated is refused at once, and the error says what to run. It was
// searched for minutes.
func TestAFailureWithoutAStoryIsRefused(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	table := toys()
	bad := Result{Case: "is good", Variant: "bad", Property: "it is good", Runs: 1}
	cells, err := table.cells(map[string]Result{bad.name(): bad})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(results, encode(cells), 0o666); err != nil {
		t.Fatal(err)
	}
	p := prover[toy]{table: table, cells: cells, explorer: func(func(*sim.World), ...sim.ExploreOption) result.Report {
		t.Error("it is searched")
		return result.Report{}
	}}
	check := Check(table, p.explorer)
	for asked, got := range map[string]string{
		"the cell's": fmt.Sprint(p.replay(t, table.Cases[0], "bad", &cells[0])),
		"the spec's": fmt.Sprint(check(t, "is good", "bad")),
		"the page's": strings.Join(p.stale(filepath.Base(dir)), "\n"),
	} {
		for _, want := range []string{`has no story of "is good: bad" and does not say that it fails on the default`,
			"run make matrices STORY=" + filepath.Base(dir)} {
			if !strings.Contains(got, want) {
				t.Errorf("%s error does not say %q: %s", asked, want, got)
			}
		}
	}
}

// lottery is a scenario in which the bad and the odd fail by one number each.
func lottery(v toy, _ ...fault.Fault) func(*sim.World) {
	return func(w *sim.World) {
		n := sim.Draw(w, "n", rapid.IntRange(0, 3))
		w.Always("it is good", func(*history.History) error {
			if v == "bad" && n == 1 || v == "odd" && n == 2 {
				return errors.New("it is bad")
			}
			return nil
		})
		w.Sleep(time.Second)
	}
}

func lotteries() *Workload[toy] {
	return &Workload[toy]{New: func(v toy, _ []string, _ ...fault.Fault) func(*sim.World) { return lottery(v) }}
}

// A cell takes the story of another one that makes it fail, and stories that no cell names go.
func TestACellBorrowsAStory(t *testing.T) {
	t.Chdir(t.TempDir())
	table := toys()
	table.Cases = []Case[toy]{
		newCase("first", lotteries(), "it is good", "bad odd"),
		newCase("second", lotteries(), "it is good", "bad", Omit("odd", "")),
	}
	cells, err := table.cells(nil)
	if err != nil {
		t.Fatal(err)
	}
	p := prover[toy]{table: table, cells: cells}
	for _, i := range []int{0, 1} {
		found := t.TempDir()
		if err := p.cells[i].observe(sim.Explore(t, lottery(table.Variants[i]), sim.Stories(found)), 1); err != nil {
			t.Fatal(err)
		}
		if err := p.cells[i].keep(found); err != nil {
			t.Fatal(err)
		}
	}
	p.table.Fixed = "bad" // no story can be borrowed, as the fixed variant must pass
	if f, file := p.borrow(t, table.Cases[1], "bad", &p.cells[3]); f != nil {
		t.Errorf("%s is borrowed, with which the fixed variant fails", file)
	}
	p.table.Fixed = "good"
	if err := p.fail(t, table.Cases[1], "bad", &p.cells[3]); err != nil {
		t.Error(err)
	}
	got := []string{p.cells[0].Story, p.cells[1].Story, p.cells[3].Story}
	if d := cmp.Diff([]string{"first--bad.txtar", "first--odd.txtar", "first--bad.txtar"}, got); d != "" {
		t.Error(d)
	}
	p.cells[1].Story = ""
	if err := p.sweep(); err != nil {
		t.Error(err)
	}
	after, err := story.List(catalogue)
	if want := filepath.Join(catalogue, "first--bad.txtar"); err != nil || !slices.Equal(after, []string{want}) {
		t.Errorf("%v are left, %v", after, err)
	} else if s, err := story.Read(want); err != nil || !strings.HasSuffix(s.Replay, "-sim.replay="+want) ||
		s.Test != "TestMatrix/first/bad" {
		t.Errorf("%s is of %s and replayed with %q, %v", want, s.Test, s.Replay, err)
	}
}

// The text of a stored story is written again from its replay, and nothing else of it.
func TestTextsAreRewritten(t *testing.T) {
	t.Chdir(t.TempDir())
	table := toys()
	table.Cases[0].Workload = lotteries()
	cells, err := table.cells(nil)
	if err != nil {
		t.Fatal(err)
	}
	p, found := prover[toy]{table: table, cells: cells}, t.TempDir()
	c := &p.cells[0]
	if err := c.observe(sim.Explore(t, lottery("bad"), sim.Stories(found)), 1); err != nil {
		t.Fatal(err)
	}
	if err := c.keep(found); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(catalogue, c.Story)
	want, err := story.Read(path)
	if err != nil {
		t.Fatal(err)
	}
	old := *want
	old.Message, old.History = "it was bad", slices.Repeat([]string{"00:00.000  nothing"}, 2*maxHistory)
	if err := os.WriteFile(path, old.Encode(), 0o666); err != nil {
		t.Fatal(err)
	}
	*texts = true
	defer func() { *texts = false }()
	p.one(t, table.Cases[0], "bad", c)
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want.Encode()), string(got)); d != "" {
		t.Error(d)
	}
}
