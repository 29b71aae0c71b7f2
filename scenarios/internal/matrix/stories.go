// This file holds what concerns stories: which are kept, under which names, and whether they still
// make their variants fail.

package matrix

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

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/internal/atomicfile"
	"github.com/wavetank/wavetank/internal/story"
	"github.com/wavetank/wavetank/reports"
	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/result"
)

const (
	longestStory   = 200 // lines of a file
	longestHistory = 60  // lines of the history in a file; a replay shows all
)

var unfit = regexp.MustCompile(`[^a-zA-Z0-9]+`)

// storyName is the file name of a cell's own story.
func (c *cell) storyName() string {
	name := strings.ToLower(strings.Trim(unfit.ReplaceAllString(c.Case, "-"), "-"))
	return name + "--" + unfit.ReplaceAllString(c.Variant, "-") + ".txtar"
}

// owns reports whether a story was found for this cell and its result names that story.
func (c *cell) owns(s *story.Story, path string) bool {
	test := strings.ReplaceAll("TestMatrix/"+c.Case+"/"+c.Variant, " ", "_")
	own := c.Story == filepath.Base(path) && c.Story == c.storyName()
	return own && c.Outcome == Fails && s.Test == test && s.Property == c.Property
}

// path returns the file whose choices make a cell fail. For the default schedule it writes a file
// without choices.
func (c *cell) path(t testing.TB) (string, error) {
	if c.Story != "" {
		return filepath.Join(catalogue, c.Story), nil
	}
	if err := c.unexplained(); err != nil {
		return "", err
	}
	none := &story.Story{Test: t.Name(), Kind: "always", Property: c.Property}
	path := filepath.Join(t.TempDir(), c.storyName())
	return path, atomicfile.Write(path, none.Encode())
}

// replay replays a failing cell. The variant must break the property of its case, with as many
// injections as the result says, and the fixed variant must pass.
func (p *prover[V]) replay(t testing.TB, asked Case[V], v V, c *cell) error {
	const hint = "; run make matrices STORY=%s, and see from the difference what has changed"
	if c.Open {
		return fmt.Errorf("its failure has not been recorded"+hint, folder(t))
	}
	path, err := c.path(t)
	if err != nil {
		return fmt.Errorf("%w"+hint, err, folder(t))
	}
	var opts []sim.ExploreOption
	if c.Story != c.storyName() {
		opts = append(opts, sim.ReportTo("")) // the timeline with the story's name is that of its own cell
	}
	f, unreached, err := p.play(t, asked, v, path, opts...)
	switch {
	case err != nil:
	case f.Story.After.Faults != c.Faults:
		err = fmt.Errorf("%d faults were injected, not %d as %s says", f.Story.After.Faults, c.Faults, results)
	case *write:
		c.Unreached = unreached
	case *texts && c.Story == c.storyName():
		err = rewrite(path, f.Story)
	case !slices.Equal(unreached, c.Unreached):
		err = fmt.Errorf("%s is not injected %v, and %s says so of %v", p.table.Fixed, unreached, results, c.Unreached)
	}
	if err != nil {
		return fmt.Errorf("%s: %w"+hint, path, err, folder(t))
	}
	return nil
}

// play replays choices on a variant, which must fail, and on the fixed one, which must pass. It
// also returns the classes of faults that only the former was injected.
func (p *prover[V]) play(t testing.TB, c Case[V], v V, path string, opts ...sim.ExploreOption) (
	f *result.Failure, unreached []string, err error,
) {
	f = p.explore(t, c.Scenario(v), append(opts, sim.Replay(path))...).Failure
	switch {
	case f == nil:
		return nil, nil, fmt.Errorf("%s does not break %q", v, c.Property)
	case f.Property != c.Property:
		return nil, nil, fmt.Errorf("%s breaks %q (%s), not %q", v, f.Property, f.Message, c.Property)
	}
	fixed := p.explore(t, c.Scenario(p.table.Fixed), sim.Replay(path))
	if fixed.Failure != nil {
		return nil, nil, fmt.Errorf("the fixed variant fails: %s", fixed.Failure.Text())
	}
	reached := injected(fixed.Replayed)
	for _, class := range injected(f.History) {
		if !slices.Contains(reached, class) {
			unreached = append(unreached, class)
		}
	}
	return f, unreached, nil
}

// injected returns the classes of faults that were injected in a run, sorted.
func injected(h *history.History) (out []string) {
	for i := range h.Events {
		if e := &h.Events[i]; e.Injection != nil {
			out = append(out, e.Injection.Class)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// class is the constructor of a fault, with which its text begins.
func class(fault string) string { return word.FindString(fault) }

var word = regexp.MustCompile(`^\w*`)

// candidate is a failing cell with its own story, if it has one.
type candidate[V ~string] struct {
	*story.Story
	file  string
	cell  *cell
	asked Case[V]
	v     V
}

// kind is a property and the classes of faults that broke it. One story is kept of each kind.
func (c candidate[V]) kind() string {
	return c.Property + ", " + strings.Join(reports.Faults(c.Story), " and ")
}

// lines counts the lines of the story's file.
func (c candidate[V]) lines() int { return bytes.Count(c.Encode(), []byte("\n")) }

// choose keeps the shortest story of each kind, and those of cells that no other story makes fail.
// It writes into each cell which story makes it fail, renames the chosen stories and removes the
// others. An error leaves all cells and files as they are.
func (p *prover[V]) choose(t *testing.T) (err error) {
	before := slices.Clone(p.cells)
	defer func() {
		if err != nil {
			copy(p.cells, before)
		}
	}()
	failing, err := p.candidates()
	if err != nil {
		return err
	}
	var chosen []candidate[V]
	kinds := map[string]bool{}
	for _, c := range failing {
		if c.Story != nil && !kinds[c.kind()] && c.lines() <= longestStory {
			kinds[c.kind()] = true
			chosen = append(chosen, c)
		}
	}
	for _, c := range failing {
		own := func(k candidate[V]) bool { return k.cell == c.cell }
		if slices.ContainsFunc(chosen, own) || p.borrow(t, c, chosen) {
			continue
		}
		if c.Story == nil {
			return fmt.Errorf("no story makes %q fail; run make matrices STORY=%s", c.cell.name(), folder(t))
		}
		chosen = append(chosen, c)
	}
	return rename(chosen)
}

// names are the file names of the cells' own stories.
func (p *prover[V]) names() map[string]bool {
	out := map[string]bool{}
	for i := range p.cells {
		out[p.cells[i].storyName()] = true
	}
	return out
}

// unnamed reports whether there is a story under the name with which it was found: whoever found it
// was stopped before choosing.
func (p *prover[V]) unnamed() bool {
	named := p.names()
	return slices.ContainsFunc(p.cells, func(c cell) bool { return c.Story != "" && !named[c.Story] })
}

// candidates returns the cells that fail by choices: those with stories of their own, the shortest
// first, then the rest.
func (p *prover[V]) candidates() (out []candidate[V], err error) {
	named := p.names()
	for i := range p.cells {
		c := &p.cells[i]
		if c.Outcome != Fails || c.Default {
			continue
		}
		n := len(p.table.Variants)
		k := candidate[V]{cell: c, asked: p.table.Cases[i/n], v: p.table.Variants[i%n]}
		if c.Story == c.storyName() || c.Story != "" && !named[c.Story] {
			k.file = filepath.Join(catalogue, c.Story)
			if k.Story, err = story.Read(k.file); err != nil {
				return nil, err
			}
			k.Story.Abridge(longestHistory)
		}
		out = append(out, k)
	}
	slices.SortStableFunc(out, func(a, b candidate[V]) int {
		if a.Story == nil || b.Story == nil {
			return strings.Compare(b.file, a.file) // no file comes last
		}
		return cmp.Or(len(a.Choices)-len(b.Choices), a.After.Steps-b.After.Steps, a.lines()-b.lines())
	})
	return out, nil
}

// rewrite gives a stored story the text that its replay has now. Its choices, and how they were
// found, stay.
func rewrite(path string, now *story.Story) error {
	s, err := story.Read(path)
	if err != nil {
		return err
	}
	s.Site, s.Message, s.After, s.Versions = now.Site, now.Message, now.After, now.Versions
	s.History, s.Led = now.History, now.Led
	s.Abridge(longestHistory)
	return atomicfile.Write(path, s.Encode())
}

// borrow looks for a chosen story of the same property that makes a cell fail, and writes it into
// the cell.
func (p *prover[V]) borrow(t *testing.T, c candidate[V], chosen []candidate[V]) bool {
	for _, k := range chosen {
		if k.asked.Property != c.asked.Property {
			continue
		}
		if f, unreached, err := p.play(t, c.asked, c.v, k.file); err == nil {
			c.cell.Story, c.cell.Unreached = k.cell.storyName(), unreached
			c.cell.Steps, c.cell.Faults = f.Story.After.Steps, f.Story.After.Faults
			return true
		}
	}
	return false
}

// rename replaces all stories of the folder by the chosen ones, under their names.
func rename[V ~string](chosen []candidate[V]) error {
	paths, err := story.List(catalogue)
	if err != nil {
		return err
	}
	kept := map[string]bool{}
	for _, c := range chosen {
		c.cell.Story = c.cell.storyName()
		c.Replay = strings.Replace(c.Replay, filepath.Base(c.file), c.cell.Story, 1)
		path := filepath.Join(catalogue, c.cell.Story)
		if err := atomicfile.Write(path, c.Encode()); err != nil {
			return err
		}
		kept[path] = true
	}
	for _, path := range paths {
		if kept[path] {
			continue
		}
		if err := os.Remove(path); err != nil {
			return err
		}
	}
	return nil
}

// Failure repeats the failure of a variant in a case. It also returns the name of the story, or ""
// for the default schedule.
func Failure[V ~string](t *testing.T, table Table[V], name string, v V) (f *result.Failure, file string) {
	t.Helper()
	seen, err := readResults()
	if err != nil {
		t.Fatal(err)
	}
	p, asked := prover[V]{table: table}, table.Case(name)
	c := &cell{Result: seen[name+": "+string(v)]}
	path, err := c.path(t)
	if err != nil {
		t.Fatal(err)
	}
	if f, _, err = p.play(t, asked, v, path, sim.ReportTo("")); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return f, c.Story
}
