// This file holds the test of a table: a quick check in every go test, a long search when results
// are written.

package matrix

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
	"github.com/wavetank/wavetank/sim/result"
	"github.com/wavetank/wavetank/story"
)

var (
	write  = flag.Bool("matrix.write", false, "search every cell anew; write results, page and stories")
	more   = flag.Bool("matrix.more", false, "run the cells that passed in too few runs, replay failures; write")
	paint  = flag.Bool("matrix.page", false, "write only the page, from the results on file")
	prune  = flag.Bool("matrix.choose", false, "choose anew which of the stories to keep; write")
	runs   = flag.Int("matrix.runs", 0, "runs of each passing cell: by default 3, or 2000 when results are written")
	limit  = flag.Duration("matrix.for", 0, "most real time for each passing cell; 0 means no limit")
	commit = flag.String("matrix.commit", "", "the commit that the results name")
)

// EnoughRuns is the number of runs of a passing cell when results are written.
const EnoughRuns = 2000

// enoughForFaults is the number of runs in which every fault of a case must have been injected at
// least once.
const enoughForFaults = 100

// few is the number of runs of a passing cell in go test.
const few = 3

// search is the time limit of a search for a failure.
const search = 10 * time.Minute

// Test checks a table against the runs, or writes its results. It must be called from a test called
// TestMatrix in the scenario's folder, because stories name the test that replays them.
func Test[V ~string](t *testing.T, table Table[V]) {
	cells, err := table.cells()
	if err != nil {
		t.Fatal(err)
	}
	seen, err := readResults()
	if err != nil {
		t.Fatal(err)
	}
	p := prover[V]{table: table, cells: merge(cells, seen), shared: map[campaign[V]]result.Report{}}
	if *paint {
		p.write(t)
		return
	}
	if *prune {
		p.chooseAndWrite(t)
		return
	}
	if !Replaying() && !*write && !*more {
		t.Run("page", func(t *testing.T) {
			table.checkWanted(t)
			fresh(t, p.cells, table.ending(), cmp.Or(table.MinRuns, 50))
		})
	}
	if *more {
		p.write(t) // the table's text may have changed
	}
	for i, asked := range table.Cases {
		t.Run(asked.Name, func(t *testing.T) {
			for j, v := range table.Variants {
				t.Run(string(v), func(t *testing.T) { p.one(t, asked, v, &p.cells[i*len(table.Variants)+j]) })
			}
		})
	}
	if *write {
		p.chooseAndWrite(t)
	}
}

// prover runs the cells of a table.
type prover[V ~string] struct {
	table  Table[V]
	cells  []cell
	shared map[campaign[V]]result.Report // campaigns of several cells
}

// campaign is a workload with one variant.
type campaign[V ~string] struct {
	workload *Workload[V]
	variant  V
}

// Replaying says whether -sim.replay is set: then a test only replays that story.
func Replaying() bool { return flag.Lookup("sim.replay").Value.String() != "" }

// one is the test of a cell.
func (p *prover[V]) one(t *testing.T, asked Case[V], v V, c *cell) {
	outcome := asked.Outcome(v)
	switch {
	case Replaying() && outcome == Passes:
		sim.Explore(t, p.table.scenario(asked, v))
	case Replaying():
		sim.Explore(t, asked.Scenario(v))
	case outcome == NotRun, *more && outcome == Passes && !c.needsRuns():
	case *write && outcome == Fails:
		if err := forget(t.Name()); err != nil {
			t.Fatal(err)
		}
		r := sim.Explore(t, asked.Scenario(v), sim.Runs(0), sim.For(search), sim.Stories(catalogue))
		c.observe(t, r, asked.Property)
		p.write(t)
	case *write, *more && outcome == Passes:
		c.observe(t, p.hold(t, asked, v, EnoughRuns), "")
		p.write(t)
	case outcome == Fails:
		if err := p.replay(t, asked, v, c); err != nil {
			t.Error(err)
		} else if *more {
			c.Commit = *commit
			p.write(t)
		}
	default:
		r := p.hold(t, asked, v, few)
		if err := r.Err(); err != nil {
			t.Error(err)
		}
	}
}

// hold runs a passing cell, unless another cell of its workload was run with the same variant.
func (p *prover[V]) hold(t *testing.T, asked Case[V], v V, enough int) result.Report {
	key := campaign[V]{asked.Workload, v}
	r, done := p.shared[key]
	if !done {
		r = sim.Explore(t, p.table.scenario(asked, v), sim.Runs(cmp.Or(*runs, enough)), sim.For(*limit))
	}
	if key.workload != nil {
		p.shared[key] = r
	}
	return r
}

// needsRuns says whether a passing cell was run too few times.
func (c cell) needsRuns() bool {
	return c.Runs < cmp.Or(*runs, EnoughRuns) || c.Open
}

// observe records a search in its cell. It must have broken the property; if that is "", nothing.
func (c *cell) observe(t *testing.T, r result.Report, property string) {
	t.Helper()
	c.Runs, c.Steps, c.Commit, c.Open = r.Runs, r.Steps, *commit, false
	c.Story, c.Default, c.Faults = "", false, 0
	switch f := r.Failure; {
	case property != "" && f == nil:
		c.Open = true
		t.Errorf("nothing was found in %d runs", r.Runs)
	case property != "" && f.Property != property:
		c.Open = true
		t.Errorf("it broke %q (%s), not %q", f.Property, f.Message, property)
	case property != "":
		c.Steps, c.Faults, c.Story = f.Story.After.Steps, f.Story.After.Faults, filepath.Base(f.File)
		if c.Default = len(f.Story.Choices) == 0; c.Default {
			c.Story = ""
		}
	case r.Err() != nil:
		c.Open = true
		t.Error(r.Err())
	case r.Runs >= enoughForFaults:
		for _, fault := range r.Faults {
			if fault.Injected == 0 {
				c.Open = true
				t.Errorf("%s, which the case lists, was never injected in %d runs", fault.Fault, r.Runs)
			}
		}
	}
	fmt.Printf("%s  %s  %d runs, %d steps, %.0f s", c.Outcome, c.name(), c.Runs, c.Steps, r.Elapsed.Seconds())
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

// chooseAndWrite ends a search: few of the stories that it found are kept.
func (p *prover[V]) chooseAndWrite(t *testing.T) {
	if err := p.choose(t); err != nil {
		t.Error(err)
	}
	p.write(t)
}

// forget removes the stories of a test, because a test with stories replays them instead of
// searching.
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

// stories returns all stories of the folder, by path.
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

// fresh compares the results, the page and the stories with the table.
func fresh(t *testing.T, cells []cell, ending string, atLeast int) {
	again := "; run make matrices STORY=" + folder(t)
	var named []string
	for _, c := range cells {
		switch {
		case c.Open && c.Runs > 0:
			t.Errorf("%q is %s in the table, and the results say otherwise%s", c.name(), c.Outcome, again)
		case c.Open:
			t.Errorf("%q has not been observed%s", c.name(), again)
		case c.Outcome == Passes && c.Runs < atLeast:
			t.Errorf("%q has passed in %d runs only%s", c.name(), c.Runs, again)
		case c.Story != "":
			named = append(named, filepath.Join(catalogue, c.Story))
		}
	}
	kept, err := stories()
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(named)
	if d := differ.Diff(slices.Compact(named), slices.Sorted(maps.Keys(kept))); d != "" {
		t.Errorf("the stories in %s are not those of the results (-results +folder)%s\n%s", catalogue, again, d)
	}
	for path, s := range kept {
		if !slices.ContainsFunc(cells, func(c cell) bool { return c.owns(s, path) }) {
			t.Errorf("%s names the test %s, which is no cell of this table or has another story%s", path, s.Test, again)
		}
		if n := bytes.Count(s.Encode(), []byte("\n")); n > longestStory {
			t.Errorf("%s has %d lines; %d are allowed%s", path, n, longestStory, again)
		}
	}
	texts := map[string][]byte{results: encode(cells), page: []byte(render(folder(t), cells, ending))}
	for path, want := range texts {
		got, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if d := differ.Diff(string(want), string(got)); d != "" {
			t.Errorf("%s is stale (-table +file)%s\n%s", path, again, d)
		}
	}
}

// folder returns the name of the scenario's folder.
func folder(t *testing.T) string {
	t.Helper()
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Base(here)
}
