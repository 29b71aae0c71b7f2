// Package demo shows a story to a reader: what was expected of each variant, what the search found,
// the shortest run in which it goes wrong, that this run repeats itself, and how to see it again.
// The tests called TestDemo in the scenarios' packages call it; make demo runs them.
package demo

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/wavetank/wavetank/reports"
	"github.com/wavetank/wavetank/scenarios/internal/matrix"
	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/result"
)

// Claim is what the project says of one variant in one situation.
type Claim struct {
	// Variant as the story names it.
	Variant string
	// When says in which situation, for people.
	When     string
	Scenario func(*sim.World)
	// Caught is the sentence that the variant must be caught breaking; empty if it must hold.
	Caught string
	// Runs in which it must hold; in as many, at most, it must be caught.
	Runs int
	// Cured is the same situation for the variant that is shown beside the caught one; nil for
	// none. It must hold.
	Cured func(*sim.World)
}

func (c Claim) expected() string {
	if c.Caught != "" {
		return "caught"
	}
	return "held"
}

// replays is how often a story must repeat itself.
const replays = 10

// Show puts the claims of a story to the test, prints what came of it, and adds it to the results
// on file. Without DEMO in the environment it does so only to replay a story.
func Show(t *testing.T, story string, claims ...Claim) {
	t.Helper()
	replaying := matrix.Replaying()
	if os.Getenv("DEMO") == "" && !replaying {
		t.Skip("it is a demonstration; make demo runs it, and the other tests of this package ask more")
	}
	s := &show{story: story, out: newOutput(t, story)}
	if !replaying {
		s.out.clear(t)
	}
	for _, c := range claims {
		t.Run(c.Variant+", "+c.When, func(t *testing.T) {
			if replaying {
				sim.Explore(t, c.Scenario)
				return
			}
			s.claim(t, c)
		})
	}
	if !replaying {
		s.table()
		defer s.out.alone(t)()
		s.out.write(t, story, s.rows)
		fmt.Printf("pages:   %s\n", s.out.fromRoot(s.out.index(t)))
	}
}

// show is one showing.
type show struct {
	story  string
	out    output
	claims []Claim
	rows   []Row
}

func (s *show) claim(t *testing.T, c Claim) {
	fmt.Printf("\n%s\n%s when %s: expected to be %s\n\n", strings.Repeat("─", 100), c.Variant, c.When, c.expected())
	limit := time.Duration(0)
	if c.Caught != "" {
		limit = time.Minute
	}
	kept := []sim.ExploreOption{sim.Stories(s.out.stories), sim.ReportTo(s.out.pages)}
	r := sim.Explore(t, c.Scenario, append(kept, sim.Runs(c.Runs), sim.For(limit))...)
	row := Row{Story: s.story, Variant: c.Variant, Expected: c.expected(), Observed: "held"}
	row.Runs, row.Seconds = r.Runs, r.Elapsed.Seconds()
	if f := r.Failure; f != nil {
		row.Observed = "caught"
		before, after := f.Story.Before, f.Story.After
		row.StepsBefore, row.StepsAfter, row.FaultsAfter = before.Steps, after.Steps, after.Faults
		row.StoryFile = s.out.fromRoot(f.File)
		fmt.Print(f.Text())
		fmt.Printf("caught in run %d, %.1f s with shrinking\n", r.Runs, r.Elapsed.Seconds())
		again(t, c, f)
		s.beside(t, c, f)
	} else {
		proof(&r)
	}
	s.claims, s.rows = append(s.claims, c), append(s.rows, row)
	switch f := r.Failure; {
	case row.Observed != row.Expected:
		t.Errorf("%s when %s was %s, not %s", c.Variant, c.When, row.Observed, row.Expected)
	case f != nil && f.Property != c.Caught:
		t.Errorf("%s when %s broke %q (%s), not %q", c.Variant, c.When, f.Property, f.Message, c.Caught)
	case f == nil && r.Err() != nil:
		t.Error(r.Err())
	case f == nil && !r.Complete:
		t.Errorf("only %d of %d runs were made", r.Runs, c.Runs)
	}
}

// again replays a story from its file.
func again(t *testing.T, c Claim, found *result.Failure) {
	same := 0
	for range replays {
		f := sim.Explore(t, c.Scenario, sim.Replay(found.File)).Failure
		if f != nil && f.Message == found.Message && f.History.Hash() == found.History.Hash() {
			same++
		}
	}
	fmt.Printf("replayed %d times from its file: the same history and the same failure %d times\n", replays, same)
	if same != replays {
		t.Errorf("%d of %d replays tell another story", replays-same, replays)
	}
}

// beside replays a story on the fixed variant and writes a page with the two runs side by side.
func (s *show) beside(t *testing.T, c Claim, found *result.Failure) {
	if c.Cured == nil {
		return
	}
	r := sim.Explore(t, c.Cured, sim.Replay(found.File))
	if r.Failure != nil {
		t.Errorf("the cure breaks in the story of %s: %s", c.Variant, r.Failure.Text())
		return
	}
	fmt.Printf("the cured variant holds with the same choices\n")
	html, err := reports.Compare(reports.Run{Story: found.Story, File: found.File, History: found.History},
		reports.Run{Name: "the cured variant, with the same choices", History: r.Replayed})
	if err == nil {
		err = os.WriteFile(strings.TrimSuffix(found.Page, ".html")+reports.BesideSuffix, html, 0o666)
	}
	if err != nil {
		t.Errorf("the page that shows both could not be made: %v", err)
	}
}

// proof prints how much was tried: a campaign in which no fault was injected would prove nothing.
func proof(r *result.Report) {
	fmt.Printf("held in %d runs: %d steps, %d reconciles and %v of virtual time in %.1f s\n",
		r.Runs, r.Steps, r.Reconciles, r.Virtual.Round(time.Minute), r.Elapsed.Seconds())
	if len(r.Faults) > 0 {
		fmt.Printf("    %-42s %13s %9s %9s\n", "fault", "opportunities", "injected", "observed")
	}
	for _, f := range r.Faults {
		fmt.Printf("    %-42s %13d %9d %9d\n", f.Fault, f.Opportunities, f.Injected, f.Observed)
	}
	for _, p := range r.Sometimes {
		fmt.Printf("    in %4d runs %s\n", p.Reached, p.Sentence)
	}
}

// table sums up.
func (s *show) table() {
	fmt.Printf("\n%s\n%-8s %-42s %-9s %-9s %6s %8s  %s\n", strings.Repeat("─", 100),
		"variant", "when", "expected", "observed", "runs", "seconds", "shortest story")
	for i, row := range s.rows {
		length := "-"
		if row.Observed == "caught" {
			length = fmt.Sprintf("%d steps, %d faults", row.StepsAfter, row.FaultsAfter)
		}
		fmt.Printf("%-8s %-42s %-9s %-9s %6d %8.1f  %s\n",
			row.Variant, s.claims[i].When, row.Expected, row.Observed, row.Runs, row.Seconds, length)
	}
	fmt.Printf("\nresults: %s\n", cmp.Or(s.out.fromRoot(s.out.results), s.out.results))
}

// relative is a path relative to the package: replay commands name no directories of a machine.
func relative(t *testing.T, path string) string {
	t.Helper()
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	rel, err := filepath.Rel(here, path)
	if err != nil {
		t.Fatal(err)
	}
	return rel
}
