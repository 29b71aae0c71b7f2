// This file holds the test of a table: a quick check in every go test, long runs when results are
// written.

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
	"strings"
	"testing"
	"time"

	differ "github.com/google/go-cmp/cmp"

	"github.com/wavetank/wavetank/internal/atomicfile"
	"github.com/wavetank/wavetank/internal/story"
	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/result"
)

var (
	write  = flag.Bool("matrix.write", false, "make the runs that the results lack; write results, page and stories")
	paint  = flag.Bool("matrix.page", false, "write only the page, from the results on file")
	texts  = flag.Bool("matrix.texts", false, "replay every stored story, and write its text as it reads now")
	runs   = flag.Int("matrix.runs", 0, "runs of each passing cell: by default 3, or as many as its result needs")
	limit  = flag.Duration("matrix.for", 0, "most real time for each passing cell; 0 means no limit")
	commit = flag.String("matrix.commit", "", "the commit that the results name")
)

// enoughForFaults is the number of runs after which a fault that was not injected counts as never
// injected.
const enoughForFaults = 100

// few is the number of runs of a passing cell in go test.
const few = 3

// search is the time limit of a search for a failure.
const search = 10 * time.Minute

// Test checks the page of a table and what messages show of causes, or writes its results. The
// cells are specs, see [NewCells]. It must be called from a test called TestMatrix in the
// scenario's folder, because stories name the test that replays them.
func Test[V ~string](t *testing.T, table Table[V]) {
	cells, err := table.cells()
	if err != nil {
		t.Fatal(err)
	}
	seen, err := readResults()
	if err != nil && !*write {
		t.Fatal(err)
	}
	p := prover[V]{table: table, cells: merge(cells, seen), shared: map[campaign[V]]result.Report{}}
	rounds := []int{0}
	switch {
	case *paint:
		for _, err := range p.unexplained() {
			t.Errorf("%v; run make matrices STORY=%s", err, folder(t))
		}
		if !t.Failed() {
			p.write(t)
		}
		return
	case *write: // failures first, then the cells that need the fewest runs
		rounds = []int{0, ofOthers, ofFixed, ofEveryFault}
	case !Replaying() && !*texts:
		t.Run("page", func(t *testing.T) {
			for _, wrong := range append(table.checkTables(), p.stale(folder(t))...) {
				t.Error(wrong)
			}
		})
		t.Run("causes", p.causes)
		return
	}
	for _, round := range rounds {
		for i, c := range table.Cases {
			row := table.row(p.cells, i)
			if *write && !slices.ContainsFunc(row, func(k cell) bool { return k.round() == round }) {
				continue
			}
			t.Run(c.Name, func(t *testing.T) {
				for j, v := range table.Variants {
					if k := &row[j]; !*write || k.round() == round {
						t.Run(string(v), func(t *testing.T) { p.one(t, c, v, k) })
					}
				}
			})
		}
	}
	if *write {
		if err := p.sweep(); err != nil {
			t.Error(err)
		}
		p.write(t)
	}
}

// round is the runs that a passing cell needs, 0 for a failing one, and -1 for one with nothing to
// do.
func (k *cell) round() int {
	switch {
	case k.Outcome == Fails:
		return 0
	case k.Outcome == Passes && k.needsRuns():
		return k.Needed
	}
	return -1
}

// prover runs the cells of a table.
type prover[V ~string] struct {
	table  Table[V]
	cells  []cell
	shared map[campaign[V]]result.Report // campaigns of several cells
	// explorer makes the runs if a test does not.
	explorer Explorer
}

// Explorer makes the runs of a scenario, as sim.Explore does in a test.
type Explorer func(scenario func(*sim.World), opts ...sim.ExploreOption) result.Report

func (p *prover[V]) explore(t testing.TB, scenario func(*sim.World), opts ...sim.ExploreOption) result.Report {
	if p.explorer != nil {
		return p.explorer(scenario, opts...)
	}
	return sim.Explore(t.(*testing.T), scenario, opts...)
}

// campaign is a workload with one variant.
type campaign[V ~string] struct {
	workload *Workload[V]
	variant  V
}

// Replaying reports whether -sim.replay is set: then a test only replays that story.
func Replaying() bool { return flag.Lookup("sim.replay").Value.String() != "" }

// one replays a story of a cell, or makes the runs that the cell lacks.
func (p *prover[V]) one(t *testing.T, c Case[V], v V, k *cell) {
	switch outcome := c.Outcome(v); {
	case Replaying() && outcome == Passes:
		sim.Explore(t, p.table.scenario(c, v))
	case Replaying():
		sim.Explore(t, c.Scenario(v))
	case outcome == NotRun:
	case *texts:
		if k.Story == k.storyName() {
			if err := p.replay(t, c, v, k); err != nil {
				t.Error(err)
			}
		}
	case outcome == Fails:
		p.fail(t, c, v, k)
	case k.needsRuns():
		k.observe(t, p.pass(t, c, v, k.Needed), "")
		p.write(t)
	}
}

// fail repeats the failure of a cell. If that cannot be done, it takes a story of another cell that
// makes this one fail, or searches for one in a folder without stories, because stories are
// replayed instead.
func (p *prover[V]) fail(t *testing.T, c Case[V], v V, k *cell) {
	if p.replay(t, c, v, k) == nil {
		return
	}
	if !p.borrow(t, c, v, k) {
		found := t.TempDir()
		k.observe(t, sim.Explore(t, c.Scenario(v), sim.Runs(0), sim.For(search), sim.Stories(found)), c.Property)
		if err := k.keep(found); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.replay(t, c, v, k); err != nil {
		t.Error(err)
	}
	p.write(t)
}

// pass runs a passing cell, unless another cell of its workload was run with the same variant.
func (p *prover[V]) pass(t testing.TB, c Case[V], v V, enough int) result.Report {
	key := campaign[V]{c.Workload, v}
	r, done := p.shared[key]
	if !done {
		r = p.explore(t, p.table.scenario(c, v), sim.Runs(cmp.Or(*runs, enough)), sim.For(*limit))
	}
	p.shared[key] = r
	return r
}

// needsRuns reports whether a passing cell was run too few times, or with other code.
func (k *cell) needsRuns() bool {
	return k.Open || k.Runs < cmp.Or(*runs, k.Needed) || k.Digest != k.Now
}

// observe records a search in its cell. It must have broken the property; if that is "", nothing.
func (k *cell) observe(t *testing.T, r result.Report, property string) {
	t.Helper()
	k.Runs, k.Steps, k.Commit, k.Digest, k.Open = r.Runs, r.Steps, *commit, k.Now, false
	k.Story, k.Default, k.Faults, k.Injected, k.Never = "", false, 0, nil, nil
	f := r.Failure
	switch {
	case property != "" && f == nil:
		k.Open = true
		t.Errorf("nothing was found in %d runs", r.Runs)
	case property != "" && f.Property != property:
		k.Open = true
		t.Errorf("it broke %q (%s), not %q", f.Property, f.Message, property)
	case property != "":
		k.Steps, k.Faults, k.Story = f.Story.After.Steps, f.Story.After.Faults, filepath.Base(f.File)
		if k.Default = len(f.Story.Choices) == 0; k.Default {
			k.Story = ""
		}
	case r.Err() != nil:
		k.Open = true
		t.Error(r.Err())
	default:
		k.injections(r)
	}
	fmt.Printf("%s  %s  %d runs, %d steps, %.0f s", k.Outcome, k.name(), k.Runs, k.Steps, r.Elapsed.Seconds())
	if f != nil {
		fmt.Printf("; %q: %s", f.Property, f.Message)
	}
	fmt.Println()
}

// injections records how often each class of fault was injected, and which faults never were.
func (k *cell) injections(r result.Report) {
	k.Injected, k.Never = map[string]int{}, nil
	for _, fault := range r.Faults {
		if fault.Injected > 0 {
			k.Injected[class(fault.Fault)] += fault.Injected
		} else if r.Runs >= enoughForFaults {
			k.Never = append(k.Never, fault.Fault)
		}
	}
}

// write writes the results and their page.
func (p *prover[V]) write(t *testing.T) {
	t.Helper()
	text, err := p.table.render(folder(t), p.cells)
	if err == nil {
		err = errors.Join(atomicfile.Write(results, encode(p.cells)), atomicfile.Write(page, []byte(text)))
	}
	if err != nil {
		t.Fatal(err)
	}
}

// keep moves the story of a cell from the folder in which it was found to the others.
func (k *cell) keep(found string) error {
	if k.Story == "" {
		return nil
	}
	from, path := filepath.Join(found, k.Story), filepath.Join(catalogue, k.storyName())
	s, err := story.Read(from)
	if err != nil {
		return err
	}
	s.Abridge(longestHistory)
	s.Replay, k.Story = strings.Replace(s.Replay, from, path, 1), k.storyName()
	return errors.Join(os.MkdirAll(catalogue, 0o777), atomicfile.Write(path, s.Encode()))
}

// sweep removes the stories that no cell names.
func (p *prover[V]) sweep() error {
	paths, err := story.List(catalogue)
	for _, path := range paths {
		if !slices.ContainsFunc(p.cells, func(c cell) bool { return c.Story == filepath.Base(path) }) {
			err = errors.Join(err, os.Remove(path))
		}
	}
	return err
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

// stale compares the results, the page and the stories of the folder with the table. It returns
// what is wrong, and what to run.
func (p *prover[V]) stale(folder string) (out []string) {
	complain := func(format string, args ...any) {
		out = append(out, fmt.Sprintf(format, args...)+"; run make matrices STORY="+folder)
	}
	var named []string
	for _, err := range p.unexplained() {
		complain("%v", err)
	}
	for _, c := range p.cells {
		switch {
		case c.Open && c.Runs > 0:
			complain("%q is %s in the table, and the results say otherwise", c.name(), c.Outcome)
		case c.Open:
			complain("%q has not been run", c.name())
		case c.Outcome == Passes && c.Runs < c.Needed:
			complain("%q has passed in %d runs; it needs %d", c.name(), c.Runs, c.Needed)
		case c.Story != "":
			named = append(named, filepath.Join(catalogue, c.Story))
		}
	}
	for i, c := range p.table.Cases {
		for _, fault := range neverAtAll(p.table.row(p.cells, i)) {
			complain("%q lists %s, which is injected into no variant", c.Name, fault)
		}
	}
	kept, err := stories()
	if err != nil {
		return append(out, err.Error())
	}
	slices.Sort(named)
	if d := differ.Diff(slices.Compact(named), slices.Sorted(maps.Keys(kept))); d != "" {
		complain("the stories in %s are not those of the results (-results +folder):\n%s", catalogue, d)
	}
	for path, s := range kept {
		if !slices.ContainsFunc(p.cells, func(c cell) bool { return c.owns(s, path) }) {
			complain("%s is a story of %s and %q, and no failing cell of the table has both", path, s.Test, s.Property)
		}
		if n := bytes.Count(s.Encode(), []byte("\n")); n > longestStory {
			complain("%s has %d lines; %d are allowed", path, n, longestStory)
		}
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

// unexplained returns an error for each failing cell that cannot be repeated.
func (p *prover[V]) unexplained() (out []error) {
	for _, c := range p.cells {
		if err := c.Result.unexplained(); c.Outcome == Fails && !c.Open && err != nil {
			out = append(out, err)
		}
	}
	return out
}

// neverAtAll returns the faults that were never injected into any variant of a case.
func neverAtAll(row []cell) (out []string) {
	count, run := map[string]int{}, 0
	for _, c := range row {
		if c.Outcome != NotRun {
			run++
		}
		for _, fault := range c.Never {
			count[fault]++
		}
	}
	for fault, n := range count {
		if n == run {
			out = append(out, fault)
		}
	}
	return out
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
