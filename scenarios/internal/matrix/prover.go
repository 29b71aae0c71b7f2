// This file holds the test of a table: a quick check in every go test, long runs when results are
// written.

package matrix

import (
	"bytes"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	differ "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/wavetank/wavetank/internal/atomicfile"
	"github.com/wavetank/wavetank/internal/causes"
	"github.com/wavetank/wavetank/internal/story"
	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/result"
)

var (
	write  = flag.Bool("matrix.write", false, "make the runs that the results lack; write results, page and stories")
	paint  = flag.Bool("matrix.page", false, "write only the page, from the results on file")
	texts  = flag.Bool("matrix.texts", false, "replay every stored story, and write its text as it reads now")
	runs   = flag.Int("matrix.runs", few, "runs of each passing cell, unless results are written")
	limit  = flag.Duration("matrix.cpu", 0, "CPU time for runs of a passing cell that results lack; 0 for no limit")
	commit = flag.String("matrix.commit", "", "the commit that the results name")
)

const (
	few              = 3                // runs of a passing cell in go test
	maxSearch        = 10 * time.Minute // for a failure
	causesOfFailures = "testdata/causes.txt"
)

// Test checks the page of a table and what messages show of causes, or writes its results. The
// cells are specs, see [Check]. It must be called from a test called TestMatrix in the scenario's
// folder, because stories name the test that replays them.
func Test[V ~string](t *testing.T, table Table[V]) {
	p, err := newProver(table, nil)
	if err != nil && (!*write || p == nil) {
		t.Fatal(err)
	}
	switch {
	case *paint:
		p.write(t)
		return
	case !*write && !*texts && !Replaying():
		t.Run("page", func(t *testing.T) {
			for _, wrong := range p.stale(folder(t)) {
				t.Error(wrong)
			}
		})
		t.Run("causes", p.causes)
		return
	}
	for i, c := range table.Cases {
		t.Run(c.Name, func(t *testing.T) {
			for j, v := range table.Variants {
				t.Run(string(v), func(t *testing.T) { p.one(t, c, v, &table.row(p.cells, i)[j]) })
			}
		})
	}
	if *write || *texts {
		if err := p.sweep(); err != nil {
			t.Error(err)
		}
		p.write(t)
	}
}

// Explorer makes the runs of a scenario, as sim.Explore does in a test.
type Explorer func(scenario func(*sim.World), opts ...sim.ExploreOption) result.Report

// Check returns a function that checks a cell: it repeats the failure of a variant in a case, or
// makes a few runs that must pass.
func Check[V ~string](table Table[V], explore Explorer) func(t testing.TB, name string, v V) error {
	read := sync.OnceValues(func() (*prover[V], error) { return newProver(table, explore) })
	return func(t testing.TB, name string, v V) error {
		p, err := read()
		c := table.Case(name)
		switch {
		case err != nil:
			return err
		case Replaying():
			return explore(c.Scenario(v)).Err()
		case c.Outcome(v) == Passes:
			return p.pass(t, c, v, p.cell(name, v)).Err()
		}
		return p.replay(t, c, v, p.cell(name, v))
	}
}

// Writing reports whether TestMatrix makes the runs that the results lack.
func Writing() bool { return *write }

// Replaying reports whether -sim.replay is set: then a test only replays that story.
func Replaying() bool { return flag.Lookup("sim.replay").Value.String() != "" }

// prover runs the cells of a table.
type prover[V ~string] struct {
	table    Table[V]
	cells    []cell
	shared   map[campaign[V]]made // runs of several cells
	explorer Explorer             // makes the runs; sim.Explore if nil
}

// campaign is a workload with one variant.
type campaign[V ~string] struct {
	workload *Workload[V]
	variant  V
}

// newProver returns a prover with the results in the working directory. If these cannot be read, it
// has none.
func newProver[V ~string](table Table[V], explorer Explorer) (*prover[V], error) {
	seen, unread := readResults()
	cells, err := table.cells(seen)
	if err != nil {
		return nil, err
	}
	return &prover[V]{table, cells, map[campaign[V]]made{}, explorer}, unread
}

func (p *prover[V]) explore(t testing.TB, scenario func(*sim.World), opts ...sim.ExploreOption) result.Report {
	if p.explorer != nil {
		return p.explorer(scenario, opts...)
	}
	return sim.Explore(t.(*testing.T), scenario, opts...)
}

// cell is the cell of a case that exists.
func (p *prover[V]) cell(name string, v V) *cell {
	return &p.cells[slices.IndexFunc(p.cells, func(k cell) bool { return k.Case == name && k.Variant == string(v) })]
}

// one replays a story of a cell, or makes the runs that the cell lacks.
func (p *prover[V]) one(t *testing.T, c Case[V], v V, k *cell) {
	var err error
	switch {
	case Replaying() && k.Outcome == Passes:
		sim.Explore(t, p.table.scenario(c, v))
	case Replaying():
		sim.Explore(t, c.Scenario(v))
	case *texts:
		if k.owns() || k.Default && p.shows(k) {
			err = p.replay(t, c, v, k)
		}
	case k.Outcome == Fails && p.replay(t, c, v, k) != nil:
		err = p.fail(t, c, v, k)
		p.write(t)
	case k.Outcome == Passes && k.needsRuns():
		made := p.pass(t, c, v, k)
		err = k.observe(made.Report, made.campaigns)
		p.write(t)
	}
	if err != nil {
		t.Error(err)
	}
}

// fail takes the default schedule or a story of another cell if that makes this one fail. Otherwise
// it searches in a folder without stories, because stored stories would be replayed first.
func (p *prover[V]) fail(t *testing.T, c Case[V], v V, k *cell) error {
	found := t.TempDir()
	if f, file := p.borrow(t, c, v, k); f != nil {
		if err := k.observe(result.Report{Runs: 1, Failure: f}, 0); err != nil {
			return err
		}
		k.Story = file
	} else if err := k.observe(sim.Explore(t, c.Scenario(v), sim.Runs(0), sim.For(maxSearch),
		sim.Stories(found)), 0); err != nil {
		return err
	} else if err := k.keep(found); err != nil {
		return err
	}
	return p.replay(t, c, v, k)
}

// pass runs a passing cell, unless another cell of its workload was run with the same variant.
func (p *prover[V]) pass(t testing.TB, c Case[V], v V, k *cell) made {
	key := campaign[V]{c.Workload, v}
	if r, done := p.shared[key]; done {
		return r
	}
	var r made
	if *write {
		r = p.prove(t, c, v, k)
	} else {
		r.Report = p.explore(t, p.table.scenario(c, v), sim.Runs(*runs), sim.For(0))
	}
	p.shared[key] = r
	return r
}

// observe records runs in their cell. It is an error if they do not show its outcome. A passing
// cell whose runs failed counts as not run.
func (k *cell) observe(r result.Report, campaigns int) (err error) {
	was := k.Result
	k.Result = Result{Case: k.Case, Variant: k.Variant, Property: k.Property, Passed: k.Passed, Runs: r.Runs,
		Steps: r.Steps, Commit: *commit, Digest: k.Now}
	f := r.Failure
	switch {
	case k.Passed && r.Err() != nil:
		err = r.Err()
		k.Result = Result{Case: was.Case, Variant: was.Variant, Property: was.Property, Passed: was.Passed}
	case k.Passed:
		k.Injected = injections(r)
		k.Never, k.Campaigns = never(r.Runs, k.Injected), campaigns
	case f == nil:
		err = fmt.Errorf("nothing was found in %d runs", r.Runs)
	case f.Property != k.Property:
		err = fmt.Errorf("it broke %q (%s), not %q", f.Property, f.Message, k.Property)
	default:
		k.Steps, k.Faults = f.Story.After.Steps, f.Story.After.Faults
		if k.Default = len(f.Story.Choices) == 0; !k.Default {
			k.Story = filepath.Base(f.File)
		}
	}
	k.Open = err != nil
	fmt.Printf("%s  %s  %d runs, %d steps, %.0f s of CPU time, %.0f s, %v\n", k.Outcome, k.name(), r.Runs, r.Steps,
		r.Spent.Seconds(), r.Elapsed.Seconds(), err)
	return err
}

// write writes the results and their page.
func (p *prover[V]) write(t *testing.T) {
	t.Helper()
	text, err := p.table.render(folder(t), p.cells)
	if err == nil {
		err = atomicfile.Write(results, encode(p.cells))
	}
	if err == nil {
		err = atomicfile.Write(page, []byte(text))
	}
	if err != nil {
		t.Fatal(err)
	}
}

// stale compares the results, the page and the stories of the folder with the table. It returns
// what is wrong, and what to run.
func (p *prover[V]) stale(folder string) []string {
	out := p.table.checkTables(p.cells)
	complain := func(format string, args ...any) {
		out = append(out, fmt.Sprintf(format, args...)+"; run make matrices STORY="+folder)
	}
	named := map[string]bool{}
	for i := range p.cells {
		c := &p.cells[i]
		if err := c.wrong(); err != nil {
			complain("%v", err)
		}
		if c.Story != "" {
			named[filepath.Join(catalogue, c.Story)] = true
		}
	}
	for i, c := range p.table.Cases {
		for _, fault := range neverAtAll(p.table.row(p.cells, i)) {
			complain("%q lists %s, which is injected into no variant", c.Name, fault)
		}
	}
	kept, err := story.List(catalogue)
	if err != nil {
		return append(out, err.Error())
	}
	slices.Sort(kept)
	if d := differ.Diff(slices.Sorted(maps.Keys(named)), kept, cmpopts.EquateEmpty()); d != "" {
		complain("the stories in %s are not those of the results (-results +folder):\n%s", catalogue, d)
	}
	text, err := p.table.render(folder, p.cells)
	if err != nil {
		return append(out, err.Error())
	}
	for path, want := range map[string]string{results: string(encode(p.cells)), page: text} {
		if got, err := os.ReadFile(path); err != nil {
			complain("%v", err)
		} else if d := differ.Diff(want, string(got)); d != "" {
			const text = "%s is stale (-table +file); run make matrices PAGES=1 STORY=%s\n%s"
			out = append(out, fmt.Sprintf(text, path, folder, d))
		}
	}
	return out
}

// wrong returns what is wrong with the result of a cell, and with its story.
func (c *cell) wrong() error {
	switch {
	case c.Outcome == NotRun:
		return nil
	case c.Open && c.Runs > 0:
		return fmt.Errorf("%q is %s in the table, and the results say otherwise", c.name(), c.Outcome)
	case c.Open:
		return fmt.Errorf("%q has not been run", c.name())
	case !c.owns():
		return c.unexplained()
	}
	path := filepath.Join(catalogue, c.Story)
	s, err := story.Read(path)
	if err != nil {
		return err
	}
	if s.Test != c.test() || s.Property != c.Property {
		return fmt.Errorf("%s is a story of %s and %q, not of its cell", path, s.Test, s.Property)
	}
	if n := bytes.Count(s.Encode(), []byte("\n")); n > maxStory {
		return fmt.Errorf("%s has %d lines; %d are allowed", path, n, maxStory)
	}
	return nil
}

// neverAtAll returns the faults that were never injected into any variant of a case.
func neverAtAll(row []cell) []string {
	row = slices.DeleteFunc(slices.Clone(row), func(c cell) bool { return c.Outcome == NotRun })
	return slices.DeleteFunc(slices.Clone(row[0].Never), func(fault string) bool {
		return slices.ContainsFunc(row, func(c cell) bool { return !slices.Contains(c.Never, fault) })
	})
}

// causes replays the stories whose causes are written down. Message and paragraph must show each
// part, unless the file says that they do not.
func (p *prover[V]) causes(t *testing.T) {
	known, err := causes.Read(causesOfFailures)
	if err != nil {
		t.Fatal(err)
	}
	for i := range p.cells {
		k := &p.cells[i]
		name := strings.TrimSuffix(k.storyName(), ".txtar")
		cause := known[name]
		if delete(known, name); len(cause) == 0 {
			continue
		}
		path, err := k.path(t)
		if err != nil {
			t.Fatal(err)
		}
		scenario := p.table.Case(k.Case).Scenario(V(k.Variant))
		f := p.explore(t, scenario, sim.Replay(path), sim.ReportTo("")).Failure
		if f == nil {
			t.Errorf("%s does not fail", path)
			continue
		}
		for _, wrong := range causes.Compare(cause, f.Text(), strings.Join(f.Story.Paragraph(), "\n")) {
			t.Errorf("%s: %s; the message is\n%s", path, wrong, f.Text())
		}
	}
	for name := range known {
		t.Errorf("%s has %s, which is no story of a cell", causesOfFailures, name)
	}
}

// folder returns the name of the scenario's folder.
func folder(t testing.TB) string {
	t.Helper()
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Base(here)
}
