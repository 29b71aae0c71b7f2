// These tests keep the bench honest: every flaw is found, every cure holds, and a search that finds
// nothing is noticed.

package planted

import (
	"flag"
	"net/http"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/internal/causes"
	"github.com/wavetank/wavetank/internal/story"
	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/fault"
	"github.com/wavetank/wavetank/sim/property"
)

// disturbances counts the choices of a story that disturbed the run. A choice that switches a fault
// on for the run, or draws a value, disturbs nothing by itself.
func disturbances(choices []story.Choice) (n int) {
	for _, c := range choices {
		switch c.Kind {
		case story.Arm, story.Seed, story.Names, story.Draw:
		default:
			n++
		}
	}
	return n
}

func TestTheTableIsComplete(t *testing.T) {
	names, patterns, depths := map[string]bool{}, map[string]bool{}, map[int]int{}
	for _, b := range Bugs() {
		if names[b.Name] || b.Pattern == "" || b.Needs == "" || b.Property == "" || b.play == nil {
			t.Errorf("%+v is incomplete or there twice", b)
		}
		names[b.Name], patterns[b.Pattern] = true, true
		depths[b.Depth]++
	}
	if len(names) < 24 || len(patterns) < 20 || depths[1] == 0 || depths[2] == 0 || depths[3] == 0 || len(depths) != 3 {
		t.Errorf("%d bugs, %d patterns, by depth %v", len(names), len(patterns), depths)
	}
	t.Logf("%d bugs of %d patterns, by depth %v", len(names), len(patterns), depths)
}

// The portfolio finds every planted bug within 1,000 runs. No story is shorter than the depth. At
// least 95 % of the messages show the cause, and 90 % of their paragraphs name it: see
// docs/causes.md.
//
//make:campaigns
func TestPlantedBugsAreFound(t *testing.T) {
	known := knownCauses(t)
	if err := flag.Set("sim.explain", "1m"); err != nil { // the campaign of a program explains only if it is asked to
		t.Fatal(err)
	}
	var hidden, unnamed []string
	for _, b := range Bugs() {
		t.Run(b.Name, func(t *testing.T) {
			r := sim.Explore(t, b.Scenario(false), sim.Strategy("portfolio"), sim.Runs(1000), sim.For(0))
			f := r.Failure
			if f == nil {
				t.Fatalf("not found in %d runs: %+v", r.Runs, r.Faults)
			}
			if f.Property != b.Property || f.Flaky {
				t.Fatalf("found something else: %s", f.Text())
			}
			n := disturbances(f.Story.Choices)
			t.Logf("run %d by %s; %v, then %v, of them %d disturbances", r.Runs, f.Strategy, f.Story.Before,
				f.Story.After, n)
			if n < b.Depth {
				t.Errorf("%d disturbances are enough, but the depth is said to be %d: %v", n, b.Depth, f.Story.Choices)
			}
			t.Log(f.Text())
			if parts := causes.Missing(known[b.Name], f.Text()); len(parts) > 0 {
				hidden = append(hidden, b.Name)
				t.Logf("the message does not show %q", parts)
			}
			if parts := causes.Missing(known[b.Name], strings.Join(f.Story.Paragraph(), "\n")); len(parts) > 0 {
				unnamed = append(unnamed, b.Name)
				t.Logf("the paragraph does not name %q", parts)
			}
		})
	}
	all := len(Bugs())
	t.Logf("%d of %d messages show the cause, not those of %q; %d paragraphs name it, not those of %q",
		all-len(hidden), all, hidden, all-len(unnamed), unnamed)
	if 20*len(hidden) > all || 10*len(unnamed) > all {
		t.Error("too few; -v prints the messages")
	}
}

// One disturbance is enough for the bugs of depth 1 and not for the others: every run with one is
// made. That two are not enough for those of depth 3 takes longer to say: see docs/search.md.
func TestDepthsAreWhatTheySay(t *testing.T) {
	for _, b := range Bugs() {
		r := sim.Explore(t, b.Scenario(false), sim.Strategy("exhaustive"), sim.Bound(1), sim.Runs(1000), sim.For(0),
			sim.Shrink(0))
		switch f := r.Failure; {
		case f == nil && (b.Depth == 1 || !r.Complete):
			t.Errorf("%s has depth %d: %s", b.Name, b.Depth, r.Explored)
		case f != nil && (b.Depth > 1 || f.Property != b.Property || f.Strategy != "exhaustive"):
			t.Errorf("%s has depth %d, found by %s: %s", b.Name, b.Depth, f.Strategy, f.Text())
		}
	}
}

// The fixed variants pass, so what fails in the others is the flaw and not the scenario.
func TestFixedVariantsPass(t *testing.T) {
	for _, b := range Bugs() {
		t.Run(b.Name, func(t *testing.T) {
			if r := sim.Explore(t, b.Scenario(true), sim.Runs(fixedRuns), sim.For(0)); r.Err() != nil {
				t.Error(r.Err())
			}
		})
	}
}

// fixedRuns are few, because there are many variants.
const fixedRuns = 40

// robbing is the scenario of the bug that needs a server which is behind.
func robbing(fixed bool) func(*sim.World) {
	return func(w *sim.World) { robbed(&stage{World: w}, fixed) }
}

// The canary must fail. It is a mailer that forgets to look whether it has sent the mail, under a
// fault that hands its key out once more: if a completed campaign of it finds nothing, something
// between the fault and the verdict is dead, and every other green test is worth nothing.
func TestCanary(t *testing.T) {
	for _, s := range searched {
		strategy := s.name
		r := sim.Explore(t, canary, sim.Strategy(strategy), sim.Runs(100), sim.For(0))
		switch {
		case r.Failure == nil && r.Complete:
			t.Errorf("%s completed %d runs of the canary and found nothing: the search is dead", strategy, r.Runs)
		case r.Failure == nil:
			t.Errorf("%s gave up on the canary after %d runs", strategy, r.Runs)
		case r.Failure.Property != "the canary sings once":
			t.Errorf("%s found something else: %s", strategy, r.Failure.Text())
		}
	}
}

func canary(world *sim.World) {
	w := &stage{World: world}
	outside(w)
	operator{each: func(g *reconciler, c ctx, o *corev1.ConfigMap) (result, error) {
		return result{}, g.call(c, http.MethodPost, "/mail/"+o.Name, "")
	}}.start(w, "canary", false)
	w.Inject(fault.RacingRequeue())
	w.Always("the canary sings once", property.AtMostOnce("mail"))
	w.SettleWith(work("a"))
}

// A sometimes that is never reached fails a campaign that was completed, and only such a one.
func TestASometimesNeverReachedFailsTheCampaign(t *testing.T) {
	if testing.Short() {
		t.Skip("-short only reports what was not reached")
	}
	never := func(w *sim.World) {
		effectFirst(&stage{World: w}, true)
		w.Sometimes("pigs fly", func(h *history.History) bool { return has(h, "mail", "pigs") })
	}
	r := sim.Explore(t, never, sim.Runs(10), sim.For(0))
	if err := r.Err(); !r.Complete || r.Failure != nil || err == nil ||
		!strings.Contains(err.Error(), `sometimes "pigs fly" was not reached in 10 runs`) {
		t.Errorf("complete %v, %v", r.Complete, err)
	}
	r = sim.Explore(t, never, sim.Runs(100000), sim.For(1))
	if err := r.Err(); r.Complete || err != nil {
		t.Errorf("a campaign that was cut short: complete %v, %v", r.Complete, err)
	}
}

// A bug that needs a server which is behind for one kind only is found soon though no kind is
// declared: in at most 400 runs from most base seeds.
func TestAServerBehindForOneKindIsFoundSoon(t *testing.T) {
	const seeds, runs = 7, 400
	found := 0
	for seed := range uint64(seeds) {
		r := sim.Explore(t, robbing(false), sim.Seed(seed+1), sim.Runs(runs), sim.For(0), sim.Verify(0),
			sim.Shrink(0))
		t.Logf("seed %d: run %d, %v", seed+1, r.Runs, r.Failure != nil)
		if r.Failure != nil {
			found++
		}
	}
	if found <= seeds/2 {
		t.Errorf("%d of %d base seeds find it in %d runs", found, seeds, runs)
	}
}

// The portfolio finds the bugs that only the cluster's own controllers bring out, none without a
// disturbance, and the fixed variants pass.
//
//make:campaigns
func TestClusterBugsAreFound(t *testing.T) {
	for _, b := range ClusterBugs() {
		t.Run(b.Name, func(t *testing.T) {
			r := sim.Explore(t, b.Scenario(false), sim.Strategy("portfolio"), sim.Runs(1000), sim.For(0))
			f := r.Failure
			if f == nil || f.Property != b.Property || f.Flaky {
				t.Fatalf("%d runs, failure %v", r.Runs, r.Err())
			}
			t.Logf("found in run %d: %s", r.Runs, f.Text())
			if n := disturbances(f.Story.Choices); n < b.Depth {
				t.Errorf("%d disturbances are enough: %v", n, f.Story.Choices)
			}
			if r := sim.Explore(t, b.Scenario(true), sim.Runs(fixedRuns), sim.For(0)); r.Err() != nil {
				t.Error(r.Err())
			}
		})
	}
}
