// These tests make runs of every operator of the suite. None may raise an alarm. What
// make bench-correct measures is kept in testdata/measured.json, and docs/false-alarms.md is made
// from it.

package correct

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/wavetank/wavetank/sim"
)

var (
	benchRuns   = flag.Int("correct.runs", 0, "measure: how many runs of each operator to make at most")
	benchFor    = flag.Duration("correct.for", time.Minute, "the CPU time after which a measurement makes no more runs")
	benchOnly   = flag.String("correct.only", "", "the operators to measure, as a regular expression")
	autoRuns    = flag.Int("correct.auto", 4, "runs of each operator under package auto")
	benchCommit = flag.String("correct.commit", "", "the commit that is measured, for the page")
)

// Where the measurement is kept, and the pages that it writes and reads.
const (
	benchFile  = "testdata/measured.json"
	benchPage  = "../../docs/false-alarms.md"
	searchPage = "../../docs/search.md"
)

// measured is what was seen of one operator.
type measured struct {
	Commit string `json:"commit"`
	Runs   int    `json:"runs"`
	Steps  int    `json:"steps"`
	Faults int    `json:"faults"` // injected
	Alarms int    `json:"alarms"` // runs that failed
	// What failed, by property, and what the campaign warned of.
	Causes   []string `json:"causes,omitempty"`
	Warnings []string `json:"warnings,omitempty"`
}

func TestTheTableIsComplete(t *testing.T) {
	seen := map[string]bool{}
	for _, o := range Operators() {
		if seen[o.Name] || o.Style == "" || o.play == nil {
			t.Errorf("%+v is incomplete or there twice", o)
		}
		seen[o.Name] = true
	}
	if len(seen) < 24 {
		t.Errorf("there are %d operators", len(seen))
	}
}

// A few runs of each operator, for every change. The figures are those of make bench-correct.
//
//make:campaigns
func TestCorrectOperatorsRaiseNoAlarm(t *testing.T) {
	for _, o := range Operators() {
		t.Run(o.Name, func(t *testing.T) {
			if err := sim.Explore(t, o.Scenario(), sim.Runs(4), sim.For(0), sim.Verify(1)).Err(); err != nil {
				t.Error(err)
			}
		})
	}
}

// Nor do the properties of package auto raise one, with the users of auto.
//
//make:campaigns
func TestCorrectOperatorsUnderAuto(t *testing.T) {
	for _, o := range Operators() {
		t.Run(o.Name, func(t *testing.T) {
			r := sim.Explore(t, o.ByAuto(), sim.Runs(*autoRuns), sim.For(0), sim.Verify(0), sim.KeepGoing())
			for _, f := range r.Findings {
				t.Errorf("%q in %d of %d runs:\n%s", f.Property, f.Count, r.Runs, f.Story)
			}
		})
	}
}

// The measurement is made when runs are asked for, and fails if there are alarms. The page is what
// was measured last.
func TestBenchCorrect(t *testing.T) {
	all := map[string]measured{}
	if data, err := os.ReadFile(benchFile); err == nil {
		if err := json.Unmarshal(data, &all); err != nil {
			t.Fatal(err)
		}
	}
	only := regexp.MustCompile(*benchOnly)
	for _, o := range Operators() {
		if *benchRuns > 0 && only.MatchString(o.Name) {
			t.Run(o.Name, func(t *testing.T) { // whose name is the base seed
				m := measure(t, o)
				all[o.Name] = m
				if t.Logf("%+v", m); m.Alarms > 0 {
					t.Errorf("%d alarms: %q", m.Alarms, m.Causes)
				}
			})
			keep(t, all) // a measurement that is interrupted is not lost
		}
	}
	if *benchRuns > 0 {
		return
	}
	page, err := os.ReadFile(benchPage)
	if err != nil {
		t.Fatal(err)
	}
	if string(page) != text(t, all) {
		t.Errorf("%s is not what %s says: make bench-correct", benchPage, benchFile)
	}
}

func measure(t *testing.T, o Operator) measured {
	r := sim.Explore(t, o.Scenario(), sim.Runs(*benchRuns), sim.For(*benchFor), sim.Verify(10), sim.Shrink(0),
		sim.KeepGoing())
	m := measured{Commit: *benchCommit, Runs: r.Runs, Steps: r.Steps, Warnings: r.Warnings}
	for _, f := range r.Faults {
		m.Faults += f.Injected
	}
	for _, f := range r.Findings {
		m.Alarms += f.Count
		m.Causes = append(m.Causes, fmt.Sprintf("%s: %d", f.Property, f.Count))
	}
	return m
}

// keep writes the measurement and the page.
func keep(t *testing.T, all map[string]measured) {
	data, err := json.MarshalIndent(all, "", "  ")
	if err == nil {
		err = os.WriteFile(benchFile, append(data, '\n'), 0o666)
	}
	if err == nil {
		err = os.WriteFile(benchPage, []byte(text(t, all)), 0o666)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// text is the page.
func text(t *testing.T, all map[string]measured) string {
	var b, rows, said strings.Builder
	operators, runs, alarms := 0, 0, 0
	for _, o := range Operators() {
		m, ok := all[o.Name]
		if !ok {
			t.Errorf("%s has not been measured: make bench-correct", o.Name)
			continue
		}
		operators, runs, alarms = operators+1, runs+m.Runs, alarms+m.Alarms
		fmt.Fprintf(&rows, "| %s | %s | %d | %d | %d | %d | %d |\n", o.Name, o.Style, m.Runs, m.Steps, m.Faults,
			m.Alarms, len(m.Warnings))
		for _, cause := range m.Causes {
			fmt.Fprintf(&said, "- %s, alarm: %s\n", o.Name, cause)
		}
		for _, warning := range m.Warnings {
			fmt.Fprintf(&said, "- %s, warning: %s\n", o.Name, warning)
		}
	}
	raised := fmt.Sprintf("%d alarms", alarms)
	if alarms == 1 {
		raised = "1 alarm"
	}
	fmt.Fprintf(&b, intro, operators, runs, raised, found(t))
	b.WriteString("| operator | style | runs | steps | faults injected | alarms | warnings |\n" +
		"| --- | --- | ---: | ---: | ---: | ---: | ---: |\n" + rows.String())
	if said.Len() > 0 {
		b.WriteString("\n## What the alarms and warnings say\n\n" + said.String())
	}
	return b.String()
}

const intro = `# False alarms

<!-- Made by make bench-correct. Do not edit. -->

A search should find bugs, and report nothing about an operator that has none. %d correct operators
([fuzz/correct](../fuzz/correct/correct.go)) made %d runs and raised %s. In comparison, %s.

Each operator is written as its authors would write it. Its scenario declares every fault that fits, the
default properties, and the properties of [properties.md](properties.md) that the operator is expected to have. An
alarm is a run that fails: either the operator has a bug that was not known, or Wavetank has one.

`

// found is what docs/search.md says about the planted bugs.
func found(t *testing.T) string {
	page, err := os.ReadFile(searchPage)
	if err != nil {
		t.Fatal(err)
	}
	row := regexp.MustCompile(`(?m)^\| portfolio \| (\d+) \| (\d+) \| (\d+) \| (\d+) \|`).FindSubmatch(page)
	if row == nil {
		t.Fatalf("%s has no row of the portfolio", searchPage)
	}
	return fmt.Sprintf("the default strategy finds %s planted bugs from every base seed and misses %s at times, in a "+
		"median of %s runs ([search.md](search.md))", row[1], row[2], row[4])
}
