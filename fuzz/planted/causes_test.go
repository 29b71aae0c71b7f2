package planted

import (
	"flag"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/wavetank/wavetank/internal/causes"
	"github.com/wavetank/wavetank/sim"
)

// knownCauses are the causes of testdata/causes.txt, by bug.
func knownCauses(t *testing.T) map[string][]causes.Part {
	t.Helper()
	known, err := causes.Read("testdata/causes.txt")
	if err != nil {
		t.Fatal(err)
	}
	return known
}

func TestEveryPlantedBugHasACause(t *testing.T) {
	known := knownCauses(t)
	for _, b := range Bugs() {
		if len(known[b.Name]) == 0 {
			t.Errorf("testdata/causes.txt does not say what causes %s", b.Name)
		}
		delete(known, b.Name)
	}
	for name := range known {
		t.Errorf("testdata/causes.txt has %s, which is not planted", name)
	}
}

// If a cache is up to date when it is read, the child is found. The explanation names the line of
// the read, and measures that.
func TestTheExplanationMakesAReadFresh(t *testing.T) {
	if err := flag.Set("sim.explain", "1m"); err != nil { // the campaign of a program explains only if it is asked to
		t.Fatal(err)
	}
	at := slices.IndexFunc(Bugs(), func(b Bug) bool { return b.Name == "orphan-behind-finalizer" })
	f := sim.Explore(t, Bugs()[at].Scenario(false), sim.Runs(1000), sim.For(0)).Failure
	if f == nil {
		t.Fatal("not found")
	}
	got := strings.Join(f.Story.Paragraph(), "\n")
	for _, want := range []string{
		`Before that step it read that cache at planted/operator\.go:\d+ ` +
			`\(list Secret in default at \S+: 0 objects\)\.`,
		`With the cache up to date when parents/1 read it at planted/operator\.go:\d+ \(list Secret in default, ` +
			`\S+\), 0 of 20 continuations violate it\.`,
	} {
		if !regexp.MustCompile(want).MatchString(got) {
			t.Errorf("%q is missing:\n%s", want, got)
		}
	}
}
