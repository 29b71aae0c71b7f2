// Package demo shows the reference scenarios to a reader: for each variant one failure that the
// search finds, or that it passes. The tests called TestDemo in the scenarios' packages call it;
// make demo runs them.
package demo

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/wavetank/wavetank/internal/atomicfile"
	"github.com/wavetank/wavetank/reports"
	"github.com/wavetank/wavetank/scenarios/internal/matrix"
	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/result"
)

// The limits of a search for a failure, and of the runs of a variant that passes.
const (
	forSearch = time.Minute
	forPass   = 15 * time.Second
	runs      = 100
)

// Show searches one case of each variant, prints a line for each, and adds them to the results on
// file. The page begins with the thread. Its fix that is not enough is the partial variant.
// Without DEMO in the environment Show only replays a story.
func Show[V ~string](t *testing.T, table matrix.Table[V], partial V) {
	t.Helper()
	if os.Getenv("DEMO") == "" && !matrix.Replaying() {
		t.Skip("it is a demonstration, which make demo runs")
	}
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	cases, err := table.Typical()
	if err != nil {
		t.Fatal(err)
	}
	s := show{scenario: filepath.Base(here), out: newOutput(filepath.Join(root, "reports", "out"), filepath.Base(here)),
		failures: map[string]*result.Failure{}}
	if !matrix.Replaying() {
		s.out.clear(t)
	}
	for i, v := range table.Variants {
		t.Run(string(v), func(t *testing.T) {
			c := cases[i]
			if matrix.Replaying() {
				sim.Explore(t, c.Scenario(v))
				return
			}
			row := Row{Scenario: s.scenario, Variant: string(v), Case: c.Name, Property: c.Property}
			s.one(t, row, c.Outcome(v) == matrix.Fails, c.Scenario(v), c.Scenario(table.Fixed))
		})
	}
	if matrix.Replaying() {
		return
	}
	summary, err := table.Summary(s.scenario)
	if err != nil {
		t.Fatal(err)
	}
	defer s.out.alone(t)()
	s.out.write(t, s.scenario, s.rows)
	if err := s.writeThread(summary, string(partial), string(table.Fixed)); err != nil {
		t.Fatal(err)
	}
	s.out.index(t, summary)
}

// show is what has been shown of one scenario.
type show struct {
	scenario string
	out      output
	rows     []Row
	failures map[string]*result.Failure // by variant
}

// one shows one variant, which must fail or pass.
func (s *show) one(t *testing.T, row Row, fails bool, scenario, fixed func(*sim.World)) {
	limits := []sim.ExploreOption{sim.Runs(runs), sim.For(forPass)}
	if fails {
		limits = []sim.ExploreOption{sim.Runs(0), sim.For(forSearch)}
	}
	r := sim.Explore(t, scenario, append(limits, sim.Stories(s.out.stories), sim.ReportTo(s.out.pages))...)
	row.Outcome, row.Runs, row.Seconds = "passed", r.Runs, r.Elapsed.Seconds()
	if f := r.Failure; f != nil {
		row.Outcome, row.Steps, row.Faults = "failed", f.Story.After.Steps, f.Story.After.Faults
		row.StoryFile = strings.TrimPrefix(filepath.ToSlash(f.File), root+"/")
		s.replay(t, f, scenario, fixed)
		s.failures[row.Variant] = f
	}
	fmt.Printf("%-16s %-16s %s %5d runs %5.1f s  %-64s %s\n", row.Scenario, row.Variant, row.Outcome, row.Runs,
		row.Seconds, row.Property, cmp.Or(strings.TrimPrefix(row.StoryFile, "reports/out/"), "–"))
	s.rows = append(s.rows, row)
	switch f := r.Failure; {
	case fails != (f != nil):
		t.Errorf("%s %s in %q", row.Variant, row.Outcome, row.Case)
	case f != nil && f.Property != row.Property:
		t.Errorf("%s broke %q (%s), not %q", row.Variant, f.Property, f.Message, row.Property)
	case f == nil && r.Err() != nil:
		t.Error(r.Err())
	}
}

// replay replays a story from its file, and on the fixed variant; a page shows the two runs side by
// side.
func (s *show) replay(t *testing.T, found *result.Failure, scenario, fixed func(*sim.World)) {
	again := sim.Explore(t, scenario, sim.Replay(found.File)).Failure
	if again == nil || again.Message != found.Message || again.History.Hash() != found.History.Hash() {
		t.Errorf("%s does not replay", found.File)
	}
	r := sim.Explore(t, fixed, sim.Replay(found.File))
	if r.Failure != nil {
		t.Errorf("the fixed variant fails with the choices of %s: %s", found.File, r.Failure.Text())
		return
	}
	html, err := reports.SideBySide(reports.Run{Story: found.Story, File: found.File, History: found.History},
		reports.Run{Name: "the fixed variant, with the same choices", History: r.Replayed})
	if err == nil {
		err = atomicfile.Write(strings.TrimSuffix(found.Page, ".html")+reports.BesideSuffix, html)
	}
	if err != nil {
		t.Errorf("the page that shows both could not be made: %v", err)
	}
}
