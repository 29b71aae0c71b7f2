// This file measures what package auto finds of the planted bugs, with no property of its own. The
// table of docs/auto.md is made from what it measured.

package planted

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/auto"
)

var (
	autoRuns = flag.Int("auto.runs", 0, "how many runs of each planted operator package auto makes; it measures and "+
		"writes the table in docs/auto.md")
	autoFixed = flag.Int("auto.fixed", 20, "the same for the fixed variants")
	autoOnly  = flag.String("auto.only", "", "the planted bugs to measure again, as a regular expression")
)

// Where the measurement is kept, and the page that shows it.
const (
	autoFile = "testdata/auto.json"
	autoPage = "../../docs/auto.md"
)

// byAuto is a planted operator in the scenario of package auto. Most of these operators keep what
// they know in the ConfigMaps that users write, so that applying those again is no test of them.
func byAuto(b Bug, fixed bool) func(*sim.World) {
	return func(w *sim.World) {
		auto.Scenario(w, auto.Objects(b.Operator(fixed)(w)...), auto.Without("apply is stable"))
	}
}

// tried is what package auto found in an operator.
type tried struct {
	Broke map[string]int `json:"broke,omitempty"` // the properties, and the run in which each broke first
	Runs  int            `json:"runs"`
}

// measuredByAuto is a bug and its fixed variant.
type measuredByAuto struct {
	Flawed tried `json:"flawed"`
	Fixed  tried `json:"fixed"`
}

// found is the first property that only the flawed variant breaks, and the run.
func (m measuredByAuto) found() (property string, run int) {
	for _, p := range slices.Sorted(maps.Keys(m.Flawed.Broke)) {
		if _, both := m.Fixed.Broke[p]; !both && (property == "" || m.Flawed.Broke[p] < run) {
			property, run = p, m.Flawed.Broke[p]
		}
	}
	return property, run
}

// try makes all the runs, as wavetank init does: a property that breaks does not end the search.
func try(t *testing.T, b Bug, fixed bool, runs int) tried {
	r := sim.Explore(t, byAuto(b, fixed), sim.Runs(runs), sim.For(time.Minute), sim.Verify(0), sim.Shrink(0),
		sim.KeepGoing())
	out := tried{map[string]int{}, r.Runs}
	for _, f := range r.Findings {
		if run, known := out.Broke[f.Property]; !known || f.First < run {
			out.Broke[f.Property] = f.First
		}
	}
	return out
}

// The measurement is made when runs are asked for. The page is what was measured last.
func TestAuto(t *testing.T) {
	all := map[string]measuredByAuto{}
	data, err := os.ReadFile(autoFile)
	if err == nil {
		err = json.Unmarshal(data, &all)
	}
	if err != nil {
		t.Fatal(err)
	}
	only := regexp.MustCompile(*autoOnly)
	for _, b := range Bugs() {
		if *autoRuns > 0 && only.MatchString(b.Name) {
			all[b.Name] = measuredByAuto{try(t, b, false, *autoRuns), try(t, b, true, *autoFixed)}
			t.Logf("%s: %+v", b.Name, all[b.Name])
		}
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
		data, err := json.MarshalIndent(all, "", "  ")
		if err == nil {
			err = os.WriteFile(autoFile, append(data, '\n'), 0o666)
		}
		if err == nil {
			err = os.WriteFile(autoPage, []byte(text), 0o666)
		}
		if err != nil {
			t.Fatal(err)
		}
	} else if text != string(page) {
		t.Errorf("%s is not what %s says: make bench-auto", autoPage, autoFile)
	}
}

// The place of the table on the page.
const (
	autoBegin = "<!-- Made by make bench-auto. Do not edit. -->\n"
	autoEnd   = "<!-- End of the table. -->"
)

// autoTable groups the bugs by what finds them, and those that are missed by what they need.
func autoTable(all map[string]measuredByAuto) string {
	found, needs, runs := map[string][]string{}, map[string][]string{}, 0
	n, fixedTries := 0, 0
	for _, b := range Bugs() {
		m, ok := all[b.Name]
		fixedTries, runs = max(fixedTries, m.Fixed.Runs), max(runs, m.Flawed.Runs)
		property, run := m.found()
		switch {
		case !ok:
			needs["not measured yet"] = append(needs["not measured yet"], b.Name)
		case len(m.Flawed.Broke) == 0:
			why := missed[b.Name]
			if why == "" {
				why = "not examined yet"
			}
			needs[why] = append(needs[why], b.Name)
		case property == "":
			why := "its fixed variant breaks the same property: see below"
			needs[why] = append(needs[why], b.Name)
		default:
			n++
			found[property] = append(found[property], fmt.Sprintf("%s (%d)", b.Name, run))
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Of %d planted bugs (`fuzz/planted`) `auto.Scenario` finds %d in at most %d runs each, with no "+
		"property of the scenario's own. A bug counts if it breaks a property that its fixed variant does not break "+
		"in %d runs.\n\n", len(Bugs()), n, runs, fixedTries)
	table(&b, "found by", "bugs (run)", found)
	b.WriteString("\n")
	table(&b, "not found: what is missing", "bugs", needs)
	fixed := map[string][]string{}
	for _, bug := range Bugs() {
		for p := range all[bug.Name].Fixed.Broke {
			fixed[p] = append(fixed[p], bug.Name)
		}
	}
	b.WriteString("\nFixed variants that break a property:\n\n")
	table(&b, "property", "fixed variants", fixed)
	return b.String()
}

func table(b *strings.Builder, left, right string, rows map[string][]string) {
	fmt.Fprintf(b, "| %s | %s |\n| --- | --- |\n", left, right)
	for _, key := range slices.Sorted(maps.Keys(rows)) {
		fmt.Fprintf(b, "| %s | %s |\n", key, strings.Join(rows[key], ", "))
	}
}

// What a bug needs that is not found.
const (
	needsHaste = "a property of its own: it takes users who do not wait, and then end states are not compared"
	needsOrder = "a property of its own: it is about order or waiting, and the end state is right"
	needsValue = "a sample that makes the operator do it, or more runs; a property of its own finds it"
)

// missed says what each bug that is not found needs.
var missed = map[string]string{
	"locks-crossed": needsHaste, "namesake-robbed": needsHaste, "orphan-behind-finalizer": needsHaste,
	"owner-not-seen-yet": needsHaste, "port-given-twice": needsHaste, "reopened-job-deleted": needsHaste,
	"stopped-halfway":         needsHaste,
	"forced-after-a-conflict": needsValue, "successor-goes-back": needsValue, "waits-for-its-cache": needsValue,
	"one-slow-call-starves-all": needsOrder, "ready-for-the-last-colour": needsOrder,
	"sealed-before-drained": needsOrder, "served-back-to-front": needsOrder, "two-behind-the-seal": needsOrder,
	"new-revision-cancelled": needsValue, "two-conflicts-swallowed": needsValue,
	"child-left-by-an-upgrade": "an upgrade, which `auto.Scenario` does not make",
}
