// This file exists to hold a table to its word: quickly in every go test, at length when the page is written.

package verdicts

import (
	"bytes"
	"cmp"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	differ "github.com/google/go-cmp/cmp"

	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/story"
)

var (
	write  = flag.Bool("verdicts.write", false, "search every cell anew and write the results, their page and the stories")
	more   = flag.Bool("verdicts.more", false, "look again at the cells that have held in too few runs, replay those that fall, and write")
	prune  = flag.Bool("verdicts.choose", false, "choose anew which of the stories to keep, and write")
	runs   = flag.Int("verdicts.runs", 0, "runs of each cell that holds: 3 unless told, 2000 when the page is written")
	limit  = flag.Duration("verdicts.for", 0, "most real time for each cell that holds; 0 means no limit")
	commit = flag.String("verdicts.commit", "", "the commit that the page is to name")
)

// Enough is in how many runs a cell must hold when the page is written.
const Enough = 2000

// enoughToStrike is in how many runs every fault of a question must have been injected for the cell to say anything of it.
const enoughToStrike = 100

// few is how often go test tries a cell that holds; enough for the table not to rot between two campaigns.
const few = 3

// search bounds how long a fall is looked for: what is there is usually found in a few runs.
const search = 10 * time.Minute

// Test holds the word of a story, or writes it down. It must be called from a test called TestVerdicts in the scenario's
// folder, because stories name the test that replays them.
func Test[V ~string](t *testing.T, table Table[V]) {
	cells, err := table.cells()
	if err != nil {
		t.Fatal(err)
	}
	seen, err := readResults()
	if err != nil {
		t.Fatal(err)
	}
	p := prover[V]{table: table, cells: merge(cells, seen), shared: map[performance[V]]sim.Report{}}
	if *prune {
		p.chooseAndWrite(t)
		return
	}
	if !Replaying() && !*write && !*more {
		t.Run("page", func(t *testing.T) {
			table.there(t)
			fresh(t, p.cells, table.ending(), cmp.Or(table.AtLeast, 50))
		})
	}
	if *more {
		p.write(t) // the table may say more of what was observed than it did
	}
	for i, column := range table.Columns {
		t.Run(column.Name, func(t *testing.T) {
			for j, v := range table.Variants {
				t.Run(string(v), func(t *testing.T) { p.one(t, column, v, &p.cells[i*len(table.Variants)+j]) })
			}
		})
	}
	if *write {
		p.chooseAndWrite(t)
	}
}

type prover[V ~string] struct {
	table  Table[V]
	cells  []cell
	shared map[performance[V]]sim.Report // campaigns that speak for several cells
}

// performance is a scene with one variant in it.
type performance[V ~string] struct {
	scene   *Scene[V]
	variant V
}

// Replaying says whether somebody wants to see one story: then the test must be found and do nothing else.
func Replaying() bool { return flag.Lookup("sim.replay").Value.String() != "" }

// one is the test of a cell.
func (p *prover[V]) one(t *testing.T, column Column[V], v V, c *cell) {
	answer := column.Answer(v)
	switch {
	case Replaying() && answer == Holds:
		sim.Explore(t, p.table.campaign(column, v))
	case Replaying():
		sim.Explore(t, column.Scenario(v))
	case answer == Silent, *more && answer == Holds && !c.wanting():
	case *write && answer == Falls:
		if err := forget(t.Name()); err != nil {
			t.Fatal(err)
		}
		c.observe(t, sim.Explore(t, column.Scenario(v), sim.Runs(0), sim.For(search), sim.Stories(catalogue)), column.Broken)
		p.write(t)
	case *write, *more && answer == Holds:
		c.observe(t, p.hold(t, column, v, Enough), "")
		p.write(t)
	case answer == Falls:
		if err := p.replay(t, column, v, c); err != nil {
			t.Error(err)
		} else if *more {
			c.Commit = *commit
			p.write(t)
		}
	default:
		r := p.hold(t, column, v, few)
		if err := r.Err(); err != nil {
			t.Error(err)
		}
	}
}

// hold tries a cell that holds, unless another one of its scene has been tried.
func (p *prover[V]) hold(t *testing.T, column Column[V], v V, enough int) sim.Report {
	key := performance[V]{column.Scene, v}
	r, told := p.shared[key]
	if !told {
		r = sim.Explore(t, p.table.campaign(column, v), sim.Runs(cmp.Or(*runs, enough)), sim.For(*limit))
	}
	if key.scene != nil {
		p.shared[key] = r
	}
	return r
}

// wanting says whether a cell that holds has not been seen to, or not for long enough.
func (c cell) wanting() bool {
	return c.Runs < cmp.Or(*runs, Enough) || c.Status == open
}

// observe writes down what came of searching a cell: it broke the sentence, or nothing if that is "".
func (c *cell) observe(t *testing.T, r sim.Report, sentence string) {
	t.Helper()
	c.Runs, c.Steps, c.Commit, c.Status = r.Runs, r.Steps, *commit, c.claim
	c.Story, c.Default, c.Faults = "", false, 0
	switch f := r.Failure; {
	case sentence != "" && f == nil:
		c.Status = open
		t.Errorf("nothing was found in %d runs", r.Runs)
	case sentence != "" && f.Property != sentence:
		c.Status = open
		t.Errorf("it broke %q (%s), not %q", f.Property, f.Message, sentence)
	case sentence != "":
		c.Steps, c.Faults, c.Story = f.Story.After.Steps, f.Story.After.Faults, filepath.Base(f.File)
		if c.Default = len(f.Story.Tape) == 0; c.Default {
			c.Story = ""
		}
	case r.Err() != nil:
		c.Status = open
		t.Error(r.Err())
	case r.Runs >= enoughToStrike:
		for _, fault := range r.Faults {
			if fault.Injected == 0 {
				c.Status = open
				t.Errorf("%s, which the question lists, was never injected in %d runs", fault.Fault, r.Runs)
			}
		}
	}
	fmt.Printf("%s  %s  %d runs, %d steps, %.0f s", c.Observed, c.name(), c.Runs, c.Steps, r.Elapsed.Seconds())
	if f := r.Failure; f != nil {
		fmt.Printf("; %q: %s", f.Property, f.Message)
	}
	fmt.Println()
}

// write writes the results and their page.
func (p *prover[V]) write(t *testing.T) {
	t.Helper()
	text := render(folder(t), p.cells, p.table.ending())
	err := errors.Join(os.WriteFile(results, encode(p.cells), 0o666), os.WriteFile(page, []byte(text), 0o666))
	if err != nil {
		t.Fatal(err)
	}
}

// chooseAndWrite ends a search of all cells: of the stories that it found, few are kept.
func (p *prover[V]) chooseAndWrite(t *testing.T) {
	if err := p.choose(t); err != nil {
		t.Error(err)
	}
	p.write(t)
}

// forget removes the stories that a test keeps, so that it searches anew.
func forget(test string) error {
	all, err := stories()
	if err != nil {
		return err
	}
	for path, s := range all {
		if s.Test == test {
			if err := os.Remove(path); err != nil {
				return err
			}
		}
	}
	return nil
}

// stories are all that the folder keeps, by path.
func stories() (map[string]*story.Story, error) {
	all := map[string]*story.Story{}
	paths, err := story.List(catalogue)
	if err != nil {
		return nil, err
	}
	for _, path := range paths {
		if all[path], err = story.Read(path); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// fresh holds the results, the page and the stories against the table.
func fresh(t *testing.T, cells []cell, ending string, atLeast int) {
	again := "; run make verdicts STORY=" + folder(t)
	var told []string
	for _, c := range cells {
		switch {
		case c.Status == open && c.Runs > 0:
			t.Errorf("%q is open: expected %s, observed %s%s", c.name(), c.Expected, c.Observed, again)
		case c.Status == open:
			t.Errorf("%q has not been observed%s", c.name(), again)
		case c.Observed == Holds && c.Runs < atLeast:
			t.Errorf("%q has held in %d runs only%s", c.name(), c.Runs, again)
		case c.Story != "":
			told = append(told, filepath.Join(catalogue, c.Story))
		}
	}
	kept, err := stories()
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(told)
	if d := differ.Diff(slices.Compact(told), slices.Sorted(maps.Keys(kept))); d != "" {
		t.Errorf("the stories in %s are not those of the results (-results +folder)%s\n%s", catalogue, again, d)
	}
	for path, s := range kept {
		if !slices.ContainsFunc(cells, func(c cell) bool { return c.owns(s, path) }) {
			t.Errorf("%s is a story of %s, which is no case of this table or has another story%s", path, s.Test, again)
		}
		if n := bytes.Count(s.Encode(), []byte("\n")); n > longestStory {
			t.Errorf("%s has %d lines; %d are allowed%s", path, n, longestStory, again)
		}
	}
	for path, want := range map[string][]byte{results: encode(cells), page: []byte(render(folder(t), cells, ending))} {
		got, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if d := differ.Diff(string(want), string(got)); d != "" {
			t.Errorf("%s is stale (-table +file)%s\n%s", path, again, d)
		}
	}
}

// folder is the name of the scenario's folder.
func folder(t *testing.T) string {
	t.Helper()
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Base(here)
}
