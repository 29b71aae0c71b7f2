// This file holds what concerns stories: which are stored, under which names, and whether they
// still make their variants fail.

package matrix

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/wavetank/wavetank/internal/atomicfile"
	"github.com/wavetank/wavetank/internal/story"
	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/result"
)

const (
	maxStory   = 300 // lines of a file; two stories have 160 and 171 choices of the order of requests
	maxHistory = 60  // lines of the history in a file; a replay shows all
)

var unfit = regexp.MustCompile(`[^a-zA-Z0-9]+`)

// storyName is the file name of a cell's own story.
func (c *cell) storyName() string {
	name := strings.ToLower(strings.Trim(unfit.ReplaceAllString(c.Case, "-"), "-"))
	return name + "--" + unfit.ReplaceAllString(c.Variant, "-") + ".txtar"
}

// test is the test that replays a story of the cell. A campaign's name may add a number to it.
func (c *cell) test() string {
	return strings.ReplaceAll("TestMatrix/"+c.Case+"/"+c.Variant, " ", "_")
}

// owns reports whether a failing cell names a story that was found for it.
func (c *cell) owns() bool { return c.Outcome == Fails && c.Story == c.storyName() }

// path returns the file whose choices make a cell fail. For the default schedule it writes a file
// without choices, unless there is a story that stays.
func (c *cell) path(t testing.TB) (string, error) {
	if c.Story != "" && !(c.Default && (*write || *texts)) {
		return filepath.Join(catalogue, c.Story), nil
	}
	if err := c.unexplained(); err != nil {
		return "", err
	}
	none := &story.Story{Test: t.Name(), Kind: "always", Property: c.Property}
	path := filepath.Join(t.TempDir(), c.storyName())
	return path, atomicfile.Write(path, none.Encode())
}

// replay replays a failing cell. The variant must violate the property of its case, with as many
// injections as the result has, and the fixed variant must pass.
func (p *prover[V]) replay(t testing.TB, asked Case[V], v V, c *cell) error {
	var opts []sim.ExploreOption
	if !c.owns() {
		opts = append(opts, sim.ReportTo("")) // the timeline with the story's name is that of its own cell
	}
	path, err := c.path(t)
	var f *result.Failure
	if c.Open {
		err = fmt.Errorf("its failure has not been recorded")
	}
	if err == nil {
		f, err = p.play(t, asked, v, path, opts...)
	}
	switch {
	case err != nil:
	case f.Story.After.Faults != c.Faults:
		err = fmt.Errorf("%d faults were injected, not %d as %s says", f.Story.After.Faults, c.Faults, results)
	case c.Default && (*write || *texts):
		err = p.keepDefault(c, f.Story)
	case *texts && c.owns():
		err = rewrite(path, f.Story)
	}
	if err != nil {
		return fmt.Errorf("%s: %w; run make matrices STORY=%s, and see from the difference what has changed",
			path, err, folder(t))
	}
	return nil
}

// shows reports whether a failure on the default schedule has a story: the first one of each
// variant in the table does, and those that a class of bugs shows.
func (p *prover[V]) shows(c *cell) bool {
	i := slices.IndexFunc(p.cells, func(o cell) bool { return o.Default && o.Variant == c.Variant })
	shown := i >= 0 && p.cells[i].Case == c.Case
	classes, _ := filepath.Glob("../classes/*.md") // the pattern is well-formed
	for _, path := range classes {
		text, err := os.ReadFile(path)
		shown = shown || err == nil && strings.Contains(string(text), "/"+catalogue+"/"+c.storyName())
	}
	return shown
}

// keepDefault writes the story of a failure on the default schedule, if it has one.
func (p *prover[V]) keepDefault(c *cell, s *story.Story) error {
	if c.Story = ""; !p.shows(c) {
		return nil
	}
	c.Story = c.storyName()
	path := filepath.Join(catalogue, c.Story)
	s.Seed, s.Replay = "the default schedule", s.Replay+" -sim.replay="+path
	s.Test = c.test()
	s.Abridge(maxHistory)
	if was, err := story.Read(path); err == nil {
		s.Confirmed = was.Confirmed
	}
	if err := os.MkdirAll(catalogue, 0o777); err != nil {
		return err
	}
	return atomicfile.Write(path, s.Encode())
}

// play replays choices on a variant, which must fail, and on the fixed one, which must pass.
func (p *prover[V]) play(t testing.TB, c Case[V], v V, path string, opts ...sim.ExploreOption) (
	*result.Failure, error,
) {
	f := p.explore(t, c.Scenario(v), append(opts, sim.Replay(path))...).Failure
	switch {
	case f == nil:
		return nil, fmt.Errorf("%s does not break %q", v, c.Property)
	case f.Property != c.Property:
		return nil, fmt.Errorf("%s breaks %q (%s), not %q", v, f.Property, f.Message, c.Property)
	}
	if fixed := p.explore(t, c.Scenario(p.table.Fixed), sim.Replay(path)).Failure; fixed != nil {
		return nil, fmt.Errorf("the fixed variant fails: %s", fixed.Text())
	}
	return f, nil
}

// rewrite gives a stored story the text that its replay has now. Its choices, and how they were
// found, stay.
func rewrite(path string, now *story.Story) error {
	s, err := story.Read(path)
	if err != nil {
		return err
	}
	s.Site, s.Message, s.After, s.Versions = now.Site, now.Message, now.After, now.Versions
	s.History, s.Led, s.Idle, s.Why = now.History, now.Led, now.Idle, now.Why
	s.Abridge(maxHistory)
	return atomicfile.Write(path, s.Encode())
}

// borrow looks for choices that make a cell fail, among none at all and the stories of other cells
// of the same property. It returns the failure and the story's name, or nil.
func (p *prover[V]) borrow(t *testing.T, c Case[V], v V, k *cell) (*result.Failure, string) {
	candidates := []cell{{Result: Result{Default: true, Case: c.Name, Variant: string(v), Property: c.Property}}}
	for i := range p.cells {
		if of := &p.cells[i]; of != k && of.owns() && !of.Default && of.Property == c.Property {
			candidates = append(candidates, *of)
		}
	}
	for _, of := range candidates {
		path, err := of.path(t)
		if err != nil {
			continue
		}
		if f, err := p.play(t, c, v, path, sim.ReportTo("")); err == nil {
			return f, of.Story
		}
	}
	return nil, ""
}

// keep moves the story of a cell from the folder in which it was found to the others.
func (c *cell) keep(found string) error {
	if c.Story == "" {
		return nil
	}
	from, path := filepath.Join(found, c.Story), filepath.Join(catalogue, c.storyName())
	s, err := story.Read(from)
	if err == nil {
		err = os.MkdirAll(catalogue, 0o777)
	}
	if err != nil {
		return err
	}
	s.Abridge(maxHistory)
	s.Test, _, _ = strings.Cut(s.Test, "~") // which numbers the searches of a test
	s.Test, s.Replay, c.Story = c.test(), strings.Replace(s.Replay, from, path, 1), c.storyName()
	return atomicfile.Write(path, s.Encode())
}

// sweep removes the stories that no cell names.
func (p *prover[V]) sweep() error {
	paths, err := story.List(catalogue)
	for _, path := range paths {
		named := slices.ContainsFunc(p.cells, func(c cell) bool { return c.Story == filepath.Base(path) })
		if err == nil && !named {
			err = os.Remove(path)
		}
	}
	return err
}

// Failure repeats the failure of a variant in a case. It also returns the name of the story, or ""
// for the default schedule.
func Failure[V ~string](t *testing.T, table Table[V], name string, v V) (f *result.Failure, file string) {
	t.Helper()
	p, err := newProver(table, nil)
	if err == nil {
		c := p.cell(name, v)
		var path string
		if path, err = c.path(t); err == nil {
			f, err = p.play(t, table.Case(name), v, path, sim.ReportTo(""))
		}
		file = c.Story
	}
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return f, file
}
