package mutants

import (
	"cmp"
	"errors"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/wavetank/wavetank/internal/causes"
	"github.com/wavetank/wavetank/reports"
	"github.com/wavetank/wavetank/sim/result"
)

var benchCauses = flag.Int("mutants.causes", 0, "base seed of campaigns whose messages are compared with causes")

// knownCauses are the causes of testdata/causes.txt, by mutant.
func knownCauses(t *testing.T) map[string][]causes.Part {
	t.Helper()
	known, err := causes.Read("testdata/causes.txt")
	if err != nil {
		t.Fatal(err)
	}
	return known
}

func TestEveryMutantHasACause(t *testing.T) {
	known := knownCauses(t)
	for _, m := range BenchMutants {
		if len(known[m.Name]) == 0 {
			t.Errorf("testdata/causes.txt does not say what causes the failure of %s", m.Name)
		}
		delete(known, m.Name)
	}
	for name := range known {
		t.Errorf("testdata/causes.txt has %s, which is no mutant", name)
	}
}

// At least 95 % of the messages of findings on mutants of released operators show the cause, and
// 90 % of their paragraphs name it: see docs/causes.md. A finding stays in the directory of
// -mutants.dir. If one is there, no campaign is made, and the message is made from its history.
func TestMessagesOnMutantsNameTheirCauses(t *testing.T) {
	if *benchCauses == 0 {
		t.Skip("make mutants-causes compares messages with what is known of released operators")
	}
	dir, err := filepath.Abs(cmp.Or(*benchDir, t.TempDir()))
	if err != nil {
		t.Fatal(err)
	}
	known, modules := knownCauses(t), map[string]string{}
	var hidden, unnamed []string
	all := 0
	for _, m := range BenchMutants {
		if !regexp.MustCompile(*benchName).MatchString(m.Name) {
			continue
		}
		t.Run(m.Name, func(t *testing.T) {
			f := finding(t, m, dir, modules)
			if f == nil {
				t.Log("not found")
				return
			}
			all++
			paragraph := strings.Join(f.Story.Paragraph(), "\n")
			t.Log(f.Text())
			for _, wrong := range causes.Compare(known[m.Name], f.Text(), paragraph) {
				t.Log(wrong)
			}
			if parts := causes.Missing(known[m.Name], f.Text()); len(parts) > 0 {
				hidden = append(hidden, m.Name)
			}
			if parts := causes.Missing(known[m.Name], paragraph); len(parts) > 0 {
				unnamed = append(unnamed, m.Name)
			}
		})
	}
	t.Logf("%d of %d messages show the cause, not those of %q; %d paragraphs name it, not those of %q",
		all-len(hidden), all, hidden, all-len(unnamed), unnamed)
	if 20*len(hidden) > all || 10*len(unnamed) > all {
		t.Error("too few; -v prints the messages")
	}
}

// finding is what a campaign on a mutant found; nil if it found nothing.
func finding(t *testing.T, m Bench, dir string, modules map[string]string) *result.Failure {
	t.Helper()
	path := filepath.Join(dir, m.Name+reports.RunSuffix)
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		pages, bin := t.TempDir(), built(t, m, dir, modules)
		t.Log(hunt(t, m, bin, "portfolio", *benchCauses, "-sim.shrink", "10s", "-sim.explain", "5s", "-sim.report",
			pages))
		runs, err := filepath.Glob(filepath.Join(pages, "*"+reports.RunSuffix))
		if err != nil {
			t.Fatal(err)
		}
		if len(runs) == 0 {
			return nil
		}
		data, err := os.ReadFile(runs[0])
		if err != nil {
			t.Fatal(err)
		}
		write(t, path, string(data))
		if err := os.Remove(bin); err != nil {
			t.Fatal(err)
		}
	}
	r, err := reports.ReadRun(path)
	if err != nil {
		t.Fatal(err)
	}
	s := r.Story
	cause := reports.CauseOf(r.History, s.Choices)
	s.History, s.Led, s.Idle, s.Why = r.History.Render(), cause.Led, cause.Idle, cause.Sentences
	return &result.Failure{Ending: result.Ending{Kind: result.KindOf(s.Kind), Property: s.Property, Site: s.Site,
		Message: s.Message, Step: s.After.Steps}, Line: cause.Line, Story: s, Shrinking: s.Shrinking}
}
