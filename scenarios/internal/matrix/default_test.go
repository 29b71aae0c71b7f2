package matrix

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wavetank/wavetank/internal/story"
)

// Of the cases in which a variant fails on the default schedule, the first has a story. It has no
// choices, and a later test replays it.
func TestADefaultFailureHasAStory(t *testing.T) {
	t.Chdir(t.TempDir())
	table := toys()
	table.Cases = append(table.Cases, newCase("stays good", survive(), "it is good", "bad", Omit("odd", "")))
	p, err := newProver(table, nil)
	if err != nil {
		t.Fatal(err)
	}
	*texts = true
	defer func() { *texts = false }()
	for i, name := range []string{"is-good--bad.txtar", ""} {
		c := &table.row(p.cells, i)[0]
		c.Default, c.Open = true, false
		if err := p.replay(t, table.Cases[i], "bad", c); err != nil {
			t.Fatal(err)
		}
		if c.Story != name {
			t.Errorf("case %d has story %q, not %q", i, c.Story, name)
		}
	}
	*texts = false
	first := &p.cells[0]
	path := filepath.Join(catalogue, first.Story)
	s, err := story.Read(path)
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Choices) > 0 || s.Seed != "the default schedule" || !strings.HasSuffix(s.Replay, " -sim.replay="+path) ||
		s.Why == nil || s.Property != "it is good" || s.Test != "TestMatrix/is_good/bad" {
		t.Errorf("%+v", s)
	}
	if got, want := first.mark(), "[✗°]("+path+")"; got != want {
		t.Errorf("the page has %s, not %s", got, want)
	}
	if err := p.replay(t, table.Cases[0], "bad", first); err != nil {
		t.Error(err)
	}
	s.Confirmed = "kube-apiserver v1.37.1, 2026-11-27"
	if err := os.WriteFile(path, s.Encode(), 0o666); err != nil {
		t.Fatal(err)
	}
	found := *s
	found.Confirmed = ""
	if err := p.keepDefault(first, &found); err != nil {
		t.Fatal(err)
	}
	if again, err := story.Read(path); err != nil || again.Confirmed != s.Confirmed {
		t.Errorf("it is confirmed by %q: %v", again.Confirmed, err)
	}
	if file, err := first.path(t); err != nil || file != path {
		t.Errorf("%s is replayed, not %s: %v", file, path, err)
	}
}
