// This file exists for the stories under testdata/catalogue: which are kept, under which names, and whether they still
// make their variants fail.

package verdicts

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/wavetank/wavetank/reports"
	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/story"
)

const (
	longestStory   = 200 // lines of a file
	longestHistory = 60  // lines of the history in it; a replay shows all of them
	headOfHistory  = 15  // lines that are kept of the beginning of a longer one
)

var unfit = regexp.MustCompile(`[^a-zA-Z0-9]+`)

// storyName is the file name of a cell's own story.
func (c *cell) storyName() string {
	return strings.ToLower(strings.Trim(unfit.ReplaceAllString(c.Case, "-"), "-")) + "--" + unfit.ReplaceAllString(c.Variant, "-") + ".txtar"
}

// owns says whether a story was found for this cell and is the one that makes it fail.
func (c *cell) owns(s *story.Story, path string) bool {
	test := strings.ReplaceAll("TestVerdicts/"+c.Case+"/"+c.Variant, " ", "_")
	return s.Test == test && c.Story == filepath.Base(path) && c.Story == c.storyName()
}

// path is the file whose choices make a cell fail. For the default schedule, that is a file without choices.
func (c *cell) path(t *testing.T) (string, error) {
	if c.Story != "" {
		return filepath.Join(catalogue, c.Story), nil
	}
	none := &story.Story{Test: t.Name(), Temper: "always", Property: c.Property}
	path := filepath.Join(t.TempDir(), c.storyName())
	return path, os.WriteFile(path, none.Encode(), 0o666)
}

// replay plays a cell's choices. The variant must fail with the property of the case and by as many faults as the result
// says, and the fixed one must pass.
func (p *prover[V]) replay(t *testing.T, column Column[V], v V, c *cell) error {
	if c.Story == "" && !c.Default {
		return searched(t, column, v)
	}
	path, err := c.path(t)
	if err != nil {
		return err
	}
	f, err := p.play(t, column, v, path)
	if err == nil && f.Story.After.Faults != c.Faults {
		err = fmt.Errorf("%d faults were injected, not %d as %s says", f.Story.After.Faults, c.Faults, results)
	}
	if err != nil {
		return fmt.Errorf("%s: %w; see in the difference what has changed after make verdicts STORY=%s", path, err, folder(t))
	}
	return nil
}

// searched searches a failure of which no story is kept, as its choices are too many. An ordinary go test leaves that to
// make reprove.
func searched[V ~string](t *testing.T, column Column[V], v V) error {
	if *runs == 0 {
		t.Logf("no story of it is kept; make reprove searches %q", column.Broken)
		return nil
	}
	f := sim.Explore(t, column.Scenario(v), sim.Runs(0), sim.For(search), sim.Shrink(0)).Failure
	if f == nil || f.Property != column.Broken {
		return fmt.Errorf("%q was not found to break in %v", column.Broken, search)
	}
	return nil
}

// play plays choices to a variant and to the fixed one.
func (p *prover[V]) play(t *testing.T, column Column[V], v V, path string) (*sim.Failure, error) {
	f := sim.Explore(t, column.Scenario(v), sim.Replay(path)).Failure
	switch {
	case f == nil:
		return nil, fmt.Errorf("%s does not break %q", v, column.Broken)
	case f.Property != column.Broken:
		return nil, fmt.Errorf("%s breaks %q (%s), not %q", v, f.Property, f.Message, column.Broken)
	}
	if fixed := sim.Explore(t, column.Scenario(p.table.Cure), sim.Replay(path)).Failure; fixed != nil {
		return nil, fmt.Errorf("the full cure fails: %s", fixed.Text())
	}
	return f, nil
}

// candidate is a story that was found for a cell.
type candidate[V ~string] struct {
	*story.Story
	file   string
	cell   *cell
	column Column[V]
	v      V
}

// class is what one story is kept of: a property and the sorts of faults that break it.
func (c candidate[V]) class() string {
	return c.Property + ", " + reports.Entry{Story: c.Story}.Pattern()
}

// lines is the length of the story's file.
func (c candidate[V]) lines() int { return bytes.Count(c.Encode(), []byte("\n")) }

// choose keeps the shortest story of each class, and those of cells that no story of another cell makes fail. It gives them
// their names, says in the results which one is whose, and removes the others.
func (p *prover[V]) choose(t *testing.T) error {
	failing, err := p.candidates()
	if err != nil {
		return err
	}
	var chosen []candidate[V]
	classes := map[string]bool{}
	for _, c := range failing {
		if c.Story != nil && !classes[c.class()] && c.lines() <= longestStory {
			classes[c.class()] = true
			chosen = append(chosen, c)
		}
	}
	for _, c := range failing {
		own := func(k candidate[V]) bool { return k.cell == c.cell }
		if slices.ContainsFunc(chosen, own) || p.borrow(t, c, chosen) {
			continue
		}
		c.cell.Story = ""
		switch {
		case c.Story == nil:
			return fmt.Errorf("no story makes %q fail any more; search it with make verdicts STORY=%s", c.cell.name(), folder(t))
		case c.lines() <= longestStory:
			chosen = append(chosen, c)
		}
	}
	return rename(chosen)
}

// candidates are the cells that do not fail by default, with their own stories, the shortest first. The stories of some are
// those of other cells.
func (p *prover[V]) candidates() (out []candidate[V], err error) {
	named := map[string]bool{}
	for i := range p.cells {
		named[p.cells[i].storyName()] = true
	}
	for i := range p.cells {
		c := &p.cells[i]
		if c.Observed != Falls || c.Default {
			continue
		}
		k := candidate[V]{cell: c, column: p.table.Columns[i/len(p.table.Variants)], v: p.table.Variants[i%len(p.table.Variants)]}
		if c.Story == c.storyName() || c.Story != "" && !named[c.Story] {
			k.file = filepath.Join(catalogue, c.Story)
			if k.Story, err = story.Read(k.file); err != nil {
				return nil, err
			}
			k.abridge()
		}
		out = append(out, k)
	}
	slices.SortStableFunc(out, func(a, b candidate[V]) int {
		if a.Story == nil || b.Story == nil {
			return strings.Compare(b.file, a.file) // those without a story come last
		}
		return cmp.Or(len(a.Tape)-len(b.Tape), a.After.Steps-b.After.Steps, a.lines()-b.lines())
	})
	return out, nil
}

// abridge leaves out the middle of a long history.
func (c *candidate[V]) abridge() {
	if len(c.History) <= longestHistory {
		return
	}
	left := len(c.History) - longestHistory + 1
	mark := fmt.Sprintf("… %d lines left out; a replay has them all …", left)
	c.History = slices.Concat(c.History[:headOfHistory], []string{mark}, c.History[headOfHistory+left:])
}

// borrow says whether a story that is kept for another cell of the same property makes this one fail, and notes so.
func (p *prover[V]) borrow(t *testing.T, c candidate[V], chosen []candidate[V]) bool {
	for _, k := range chosen {
		if k.column.Broken != c.column.Broken {
			continue
		}
		if f, err := p.play(t, c.column, c.v, k.file); err == nil {
			c.cell.Story, c.cell.Steps, c.cell.Faults = k.cell.storyName(), f.Story.After.Steps, f.Story.After.Faults
			return true
		}
	}
	return false
}

// rename writes the chosen stories under their names, in place of all that are there.
func rename[V ~string](chosen []candidate[V]) error {
	paths, err := story.List(catalogue)
	if err != nil {
		return err
	}
	for _, path := range paths {
		if err := os.Remove(path); err != nil {
			return err
		}
	}
	for _, c := range chosen {
		c.cell.Story = c.cell.storyName()
		c.Replay = strings.Replace(c.Replay, filepath.Base(c.file), c.cell.Story, 1)
		if err := os.WriteFile(filepath.Join(catalogue, c.cell.Story), c.Encode(), 0o666); err != nil {
			return err
		}
	}
	return nil
}

// Failure plays what makes a variant fail in a case, and returns the failure and the name of the story, "" for the default
// schedule.
func Failure[V ~string](t *testing.T, table Table[V], column string, v V) (f *sim.Failure, file string) {
	t.Helper()
	seen, err := readResults()
	if err != nil {
		t.Fatal(err)
	}
	p, asked := prover[V]{table: table}, table.Column(column)
	c := &cell{Result: seen[column+": "+string(v)]}
	path, err := c.path(t)
	if err != nil {
		t.Fatal(err)
	}
	if f, err = p.play(t, asked, v, path); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return f, c.Story
}
