package mutants

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var benchFindings = flag.Int("mutants.findings", 0, "campaigns on each mutant whose findings are shrunk and replayed")

// A finding on a mutant of a released operator shrinks, and its story violates the same property at
// the same step in another process.
func TestFindingsOnMutantsReplay(t *testing.T) {
	if *benchFindings == 0 {
		t.Skip("make mutants-replay replays findings on released operators")
	}
	dir, err := filepath.Abs(cmp.Or(*benchDir, t.TempDir()))
	if err != nil {
		t.Fatal(err)
	}
	modules := map[string]string{}
	findings, mutants := 0, 0
	for _, m := range BenchMutants {
		if !regexp.MustCompile(*benchName).MatchString(m.Name) {
			continue
		}
		t.Run(m.Name, func(t *testing.T) {
			bin, found := built(t, m, dir, modules), 0
			for seed := range *benchFindings {
				strategy := []string{"random", "burst", "swarm"}[seed%3]
				if replayed(t, m, bin, strategy, seed+1) {
					found++
				}
			}
			t.Logf("%d findings", found)
			findings, mutants = findings+found, mutants+min(found, 1)
		})
	}
	t.Logf("%d findings on %d mutants", findings, mutants)
}

// replayed makes a campaign and replays what it finds. It reports whether there was a finding.
func replayed(t *testing.T, m Bench, bin, strategy string, seed int) bool {
	t.Helper()
	reports := t.TempDir()
	c := hunt(t, m, bin, strategy, seed, "-sim.shrink", "5s", "-sim.explain", "0", "-sim.report", reports)
	if c.property == "" {
		return false
	}
	file := filepath.Join(t.TempDir(), "story.txtar")
	if err := os.WriteFile(file, found(t, reports).Encode(), 0o644); err != nil {
		t.Fatal(err)
	}
	out, _ := promises(t, m, bin, "-sim.replay", file)
	if want := fmt.Sprintf("%q broke at step %d\n", c.property, c.step); c.flaky || !strings.Contains(out, want) {
		t.Errorf("seed %d, %s: flaky %t; the replay does not print %q:\n%s", seed, strategy, c.flaky, want, out)
	}
	return true
}
