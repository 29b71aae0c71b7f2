// This file exists to hold a table to its word: quickly in every go test, at length when the page is written.

package verdicts

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	differ "github.com/google/go-cmp/cmp"

	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/result"
	"github.com/wavetank/wavetank/story"
)

var (
	write  = flag.Bool("verdicts.write", false, "search every cell anew and write VERDICTS.md and the stories of the cells that fall")
	more   = flag.Bool("verdicts.more", false, "look again at the cells that have held in too few runs and replay the stories of those that fall, and write VERDICTS.md")
	runs   = flag.Int("verdicts.runs", 0, "runs of each cell that holds: 3 unless told, 2000 when the page is written")
	timed  = flag.Bool("verdicts.took", false, "search anew what the stories tell that do not say how much CPU time it took, only to write that into them")
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
	seen, err := observations()
	if err != nil {
		t.Fatal(err)
	}
	cells = merge(cells, seen)
	if !Replaying() && !*write && !*more {
		t.Run("page", func(t *testing.T) {
			table.there(t)
			fresh(t, cells, table.ending(), cmp.Or(table.AtLeast, 50))
		})
	}
	if *more {
		writePage(t, cells, table.ending()) // the table may say more of what was observed than it did
	}
	p := prover[V]{table: table, cells: cells, shared: map[performance[V]]result.Report{}}
	for i, column := range table.Columns {
		t.Run(column.Name, func(t *testing.T) {
			for j, v := range table.Variants {
				t.Run(string(v), func(t *testing.T) { p.one(t, column, v, &cells[i*len(table.Variants)+j]) })
			}
		})
	}
}

type prover[V ~string] struct {
	table  Table[V]
	cells  []cell
	shared map[performance[V]]result.Report // campaigns that speak for several cells
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
	case answer == Silent, *more && answer == Holds && !c.wanting(), *timed && answer != Falls:
	case *write && answer == Falls:
		if err := forget(t.Name()); err != nil {
			t.Fatal(err)
		}
		c.observe(t, sim.Explore(t, column.Scenario(v), sim.Runs(0), sim.For(search), sim.Stories(catalogue)), column.Broken)
		writePage(t, p.cells, p.table.ending())
	case *write, *more && answer == Holds:
		c.observe(t, p.hold(t, column, v, Enough), "")
		writePage(t, p.cells, p.table.ending())
	case *timed:
		if err := timeAnew(t, c, column.Scenario(v)); err != nil {
			t.Error(err)
		}
	case answer == Falls:
		if err := retell(t, c, column.Scenario(v), column.Scenario(p.table.Cure)); err != nil {
			t.Error(err)
		} else if *more {
			c.Commit = *commit
			writePage(t, p.cells, p.table.ending())
		}
	default:
		r := p.hold(t, column, v, few)
		if err := r.Err(); err != nil {
			t.Error(err)
		}
	}
}

// hold tries a cell that holds, unless another one of its scene has been tried.
func (p *prover[V]) hold(t *testing.T, column Column[V], v V, enough int) result.Report {
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
func (c *cell) observe(t *testing.T, r result.Report, sentence string) {
	t.Helper()
	c.Runs, c.Steps, c.Story, c.Commit, c.Status = r.Runs, r.Steps, "", *commit, c.claim
	switch f := r.Failure; {
	case sentence != "" && f == nil:
		c.Status = open
		t.Errorf("nothing was found in %d runs", r.Runs)
	case sentence != "" && f.Property != sentence:
		c.Status = open
		t.Errorf("it broke %q (%s), not %q", f.Property, f.Message, sentence)
	case sentence != "":
		c.Steps, c.Story = f.Story.After.Steps, filepath.Base(f.File)
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
	fmt.Printf("%s  %s  %d runs, %d steps, %.0f s", c.Observed, c.Name, c.Runs, c.Steps, r.Elapsed.Seconds())
	if f := r.Failure; f != nil {
		fmt.Printf("; %q: %s", f.Property, f.Message)
	}
	fmt.Println()
}

// timeAnew writes into a cell's story what it takes to find it.
func timeAnew(t *testing.T, c *cell, faulty func(*sim.World)) error {
	s, err := story.Read(filepath.Join(catalogue, c.Story))
	if err != nil || s.Took > 0 {
		return err
	}
	f := sim.Explore(t, faulty, sim.Runs(0), sim.For(search), sim.Shrink(0)).Failure
	if f == nil || f.Property != s.Property {
		return fmt.Errorf("%q was not found again", s.Property)
	}
	fmt.Printf("%s  %v for %s; now %s\n", c.Name, f.Took, s.Seed, f.Story.Seed)
	s.Took = f.Took
	_, err = s.Write(catalogue)
	return err
}

func writePage(t *testing.T, cells []cell, ending string) {
	t.Helper()
	if err := os.WriteFile(page, []byte(render(folder(t), cells, ending)), 0o666); err != nil {
		t.Fatal(err)
	}
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

// fresh holds the page and the catalogue against the table.
func fresh(t *testing.T, cells []cell, ending string, atLeast int) {
	again := "; run make verdicts STORY=" + folder(t)
	var told []string
	for _, c := range cells {
		switch {
		case c.Status == open && c.Runs > 0:
			t.Errorf("%q is open: expected %s, observed %s%s", c.Name, c.Expected, c.Observed, again)
		case c.Status == open:
			t.Errorf("%q has not been observed%s", c.Name, again)
		case c.Observed == Holds && c.Runs < atLeast:
			t.Errorf("%q has held in %d runs only%s", c.Name, c.Runs, again)
		case c.Observed == Falls:
			told = append(told, filepath.Join(catalogue, c.Story))
		}
	}
	kept, err := story.List(catalogue)
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(told)
	slices.Sort(kept)
	if d := differ.Diff(told, kept); d != "" {
		t.Errorf("the stories in %s are not those of the page (-page +folder)%s\n%s", catalogue, again, d)
	}
	got, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	if d := differ.Diff(render(folder(t), cells, ending), string(got)); d != "" {
		t.Errorf("%s is stale (-table +page)%s\n%s", page, again, d)
	}
}

// retell says why the story of a cell no longer tells what it told: it must break the variant under the same sentence,
// by as many faults, and leave the cure alone.
func retell(t *testing.T, c *cell, faulty, cured func(*sim.World)) error {
	again := "; see in the difference what has changed after make verdicts STORY=" + folder(t)
	path := filepath.Join(catalogue, c.Story)
	s, err := story.Read(path)
	if err != nil {
		return err
	}
	broken := sim.Explore(t, faulty, sim.Replay(path)).Failure
	switch {
	case s.Test != t.Name():
		return fmt.Errorf("%s is the story of %s", path, s.Test)
	case broken == nil:
		return fmt.Errorf("the story does not break %q any more%s", s.Property, again)
	case broken.Property != s.Property:
		return fmt.Errorf("the story now breaks %q (%s), not %q%s", broken.Property, broken.Message, s.Property, again)
	case broken.Story.After.Faults != s.After.Faults:
		return fmt.Errorf("%d faults strike in the story, not %d as it says%s", broken.Story.After.Faults, s.After.Faults, again)
	}
	if f := sim.Explore(t, cured, sim.Replay(path)).Failure; f != nil {
		return fmt.Errorf("the story breaks the full cure: %s", f.Text())
	}
	return nil
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
