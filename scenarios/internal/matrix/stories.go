// This file holds what concerns stories: which are kept, under which names, and whether they still
// make their variants fail.

package matrix

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/internal/atomicfile"
	"github.com/wavetank/wavetank/internal/story"
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

// borrow looks for a story of the same property that makes a cell fail, and writes it into the
// cell.
func (p *prover[V]) borrow(t *testing.T, c Case[V], v V, k *cell) bool {
	for i := range p.cells {
		of := &p.cells[i]
		if of == k || of.Outcome != Fails || of.Property != c.Property || of.Story != of.storyName() {
			continue
		}
		file := filepath.Join(catalogue, of.Story)
		if f, unreached, err := p.play(t, c, v, file, sim.ReportTo("")); err == nil {
			runs := k.Runs
			played := Result{
				Case: k.Case, Variant: k.Variant, Property: k.Property, Commit: *commit, Digest: k.Now, Story: of.Story,
				Runs: max(runs, 1), Steps: f.Story.After.Steps, Faults: f.Story.After.Faults, Unreached: unreached}
			*k = cell{
				Outcome: k.Outcome, Needed: k.Needed, Note: k.Note, Faulted: k.Faulted, Now: k.Now,
				Result: played,
			}
			return true
		}
	}
	return false
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
