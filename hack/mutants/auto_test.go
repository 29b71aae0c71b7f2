package mutants

import (
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

var autoRuns = flag.Int("mutants.auto", 0, "measure package auto: runs of TestAuto on each mutant")

// Where the measurement is kept, and the part of the page that shows it.
const (
	autoFile  = "testdata/auto.json"
	autoPage  = "../../docs/auto.md"
	autoBegin = "<!-- Made by make bench-auto-mutants. Do not edit. -->\n"
	autoEnd   = "<!-- End of the table of mutants. -->"
)

// broke are the properties that runs of an operator violate.
type broke struct {
	Runs    int            `json:"runs"`
	Seconds int            `json:"seconds"` // of CPU time
	First   map[string]int `json:"first,omitempty"`
	Count   map[string]int `json:"count,omitempty"`
}

// TestBenchAuto measures which mutants TestAuto of their operator finds: the scenario of package
// auto, without a property of the operator's own. The page is made from the last measurement.
func TestBenchAuto(t *testing.T) {
	all := map[string]broke{} // by mutant, and by operator for the operator without a mistake
	data, err := os.ReadFile(autoFile)
	if err == nil {
		err = json.Unmarshal(data, &all)
	}
	if err != nil {
		t.Fatal(err)
	}
	dir, err := filepath.Abs(cmp.Or(*benchDir, t.TempDir()))
	if err != nil {
		t.Fatal(err)
	}
	modules := map[string]string{}
	for _, m := range append(unchanged(), BenchMutants...) {
		if *autoRuns == 0 || !regexp.MustCompile(*benchName).MatchString(m.Name) {
			continue
		}
		t.Run(m.Name, func(t *testing.T) {
			all[m.Name] = auto(t, m, built(t, m, dir, modules))
			t.Logf("%+v", all[m.Name])
			data, err := json.MarshalIndent(all, "", "  ")
			if err == nil {
				err = os.WriteFile(autoFile, append(data, '\n'), 0o666)
			}
			if err != nil {
				t.Fatal(err)
			}
		})
	}
	page, err := os.ReadFile(autoPage)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, _ := strings.Cut(string(page), autoBegin)
	_, after, ok := strings.Cut(rest, autoEnd)
	if !ok {
		t.Fatalf("%s has no place for the table", autoPage)
	}
	text := before + autoBegin + autoTable(all) + autoEnd + after
	if *autoRuns > 0 {
		if err := os.WriteFile(autoPage, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	} else if text != string(page) {
		t.Errorf("%s differs from %s: make bench-auto-mutants", autoPage, autoFile)
	}
}

// unchanged are the operators without a mistake.
func unchanged() (out []Bench) {
	for _, m := range BenchMutants {
		if !slices.ContainsFunc(out, func(o Bench) bool { return o.Operator == m.Operator }) {
			m.Name, m.Mistake, m.Edits = m.Operator, "", nil
			out = append(out, m)
		}
	}
	return out
}

// auto makes the campaign. The stories that it stores would be replayed on the next mutant, so they
// are removed.
func auto(t *testing.T, m Bench, bin string) broke {
	t.Helper()
	stories := filepath.Join(examples(t, m.Operator), m.Package, "testdata", "sim", "TestAuto")
	if _, err := os.Stat(stories); err == nil {
		t.Fatalf("%s exists; the campaign would begin with its stories: remove it", stories)
	}
	t.Cleanup(func() { _ = os.RemoveAll(stories) })
	reports := t.TempDir()
	text, seconds := ran(t, m, bin, "TestAuto", "-sim.runs", strconv.Itoa(*autoRuns), "-sim.for", "60s",
		"-sim.shrink", "0", "-sim.verify", "0", "-sim.explain", "0", "-sim.keep-going", "-sim.report", reports)
	r := resultIn(t, reports)
	if r == nil {
		t.Fatalf("%s: the campaign left no result:\n%s", m.Name, text)
	}
	out := broke{Runs: r.Runs, Seconds: int(seconds), First: map[string]int{}, Count: map[string]int{}}
	for _, f := range r.Findings {
		if first, ok := out.First[f.Property]; !ok || f.First < first {
			out.First[f.Property] = f.First
		}
		out.Count[f.Property] += f.Count
	}
	return out
}

// found is the property that only the mutant violates, or violates in more than three times as many
// runs as the operator without a mistake; of several the one that was violated first.
func (b broke) found(operator broke) (property string) {
	for _, p := range slices.Sorted(maps.Keys(b.First)) {
		more := b.Count[p]*operator.Runs > 3*operator.Count[p]*b.Runs
		if more && (property == "" || b.First[p] < b.First[property]) {
			property = p
		}
	}
	return property
}

// autoTable has a row for each mutant.
func autoTable(all map[string]broke) string {
	var rows strings.Builder
	n, runs, measured := 0, 0, 0
	for _, m := range BenchMutants {
		b, ok := all[m.Name]
		if !ok {
			fmt.Fprintf(&rows, "| %s | %s | | not measured | |\n", m.Operator, m.Mistake)
			continue
		}
		property, said := b.found(all[m.Operator]), ""
		if property != "" {
			n++
			said = fmt.Sprintf("%q, run %d", property, b.First[property])
		} else if said = autoMissed[m.Name]; said == "" {
			said = "not examined"
		}
		measured, runs = measured+1, max(runs, b.Runs)
		fmt.Fprintf(&rows, "| %s | %s | %s | %s | %d |\n", m.Operator, m.Mistake, map[bool]string{true: "yes",
			false: "no"}[property != ""], said, b.Seconds)
	}
	var clean []string
	for _, m := range unchanged() {
		b := all[m.Operator]
		for _, p := range slices.Sorted(maps.Keys(b.Count)) {
			clean = append(clean, fmt.Sprintf("%s %q in %d of %d runs", m.Operator, p, b.Count[p], b.Runs))
		}
	}
	return fmt.Sprintf("Of %d mistakes in released operators `TestAuto` finds %d, in at most %d runs or 60 s of CPU "+
		"time each. A mistake counts if it violates a property that the operator without it does not violate, or "+
		"violates it in more than three times as many runs. Without a mistake, these properties are violated: %s.\n\n"+
		"| operator | mistake | found | property and run, or what is missing | CPU s |\n"+
		"| --- | --- | --- | --- | ---: |\n%s", measured, n, runs, cmp.Or(strings.Join(clean, "; "), "none"),
		rows.String())
}

// autoMissed says why TestAuto misses a mutant.
var autoMissed = map[string]string{
	"newest-generation-called-synced": "a user's edit in the milliseconds between the operator's read and its status",
	"hash-not-compared":               "a property of its own: the copy is wrong in both runs, and stays so",
	"denied-too-early":                "users who do not wait, and then end states are not compared",
	"only-becoming-ready":             "more runs: the test by hand needs 457",
	"last-status-error-logged":        "more runs: the test by hand needed 658",
	"bindings-unwatched":              "a RoleBinding in the scenario: its ClusterRoleBinding is watched",
	"old-instances-not-told":          "users who change a definition: TestAuto lets them write Apps alone",
	"prune-after-a-failed-apply":      "not measured since \"nothing is deleted and made again\" is judged",
	"delete-by-name":                  "users who replace a child between the operator's list and its delete",
	"finalizer-without-a-second-look": "more runs: \"same end state\" in 5 of 100 runs, and in 3 without the mistake",
}
