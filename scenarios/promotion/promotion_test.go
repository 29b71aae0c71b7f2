// This file exists to tell the story of each variant, and to hold the table to what the runs say.

package promotion

import (
	"slices"
	"testing"
	"time"

	"github.com/wavetank/wavetank/controllers/promotion"
	"github.com/wavetank/wavetank/sim"
)

// rollout is the plain story: a first revision travels through dev and staging, then a second one.
func rollout(v promotion.Variant, faults ...sim.Fault) func(*sim.World) {
	return func(w *sim.World) {
		s := Begin(w, v, "dev", "staging")
		w.Inject(faults...)
		w.Always(TakesEffectOnce, s.Git.OncePerRevision)
		w.Eventually(Everywhere, s.Promoted)
		s.Open()
		s.Runs("dev", "v1")
		s.Runs("staging", "v1")
		w.Settle()
		s.Runs("dev", "v2")
		w.Settle()
		s.Deliver()
		w.Settle()
	}
}

// TestTable asks every question of every variant.
func TestTable(t *testing.T) {
	runs := 20
	if testing.Short() {
		runs = 5
	}
	for _, column := range Columns() {
		t.Run(column.Name, func(t *testing.T) {
			for _, v := range promotion.Variants() {
				if slices.Contains(column.Skipped, v) {
					continue
				}
				t.Run(string(v), func(t *testing.T) {
					if !slices.Contains(column.Caught, v) {
						sim.Check(t, column.Tell(v, column.Faults()...), sim.Runs(runs), sim.For(0))
						return
					}
					r := sim.Explore(t, column.Tell(v, column.Faults()...), sim.Runs(1000), sim.For(time.Minute))
					if r.Failure == nil || r.Failure.Property != column.Broken {
						t.Errorf("%s was not caught in %d runs: want it to break %q, got %+v", v, r.Runs, column.Broken, r.Failure)
					} else {
						t.Logf("caught in run %d: %s", r.Runs, r.Failure.Message)
					}
				})
			}
		})
	}
}

// TestFullCureArrives: whatever is stale, killed, repeated or slow, every revision gets where it should, once.
func TestFullCureArrives(t *testing.T) {
	sim.Check(t, Everything(promotion.V8, sim.StaleCache(30*time.Second), sim.Crash(Operator), sim.RacingRequeue(),
		sim.SlowEffect(10*time.Minute), sim.DoubledEffect()))
}

// TestFullCureInACrowd: what one pass does, others may be doing at the same time.
func TestFullCureInACrowd(t *testing.T) {
	sim.Check(t, Crowd(promotion.V8, sim.StaleCache(30*time.Second), sim.Crash(Operator), sim.RacingRequeue(),
		sim.SlowEffect(10*time.Minute), sim.DoubledEffect()))
}

// TestFullCureIsSafe: nothing that must never happen does, under every fault there is.
func TestFullCureIsSafe(t *testing.T) {
	sim.Check(t, Safely(promotion.V8, EveryFault()...))
}

// TestCaughtFromAnySeed: the bug of the story is no luck of one seed, and needs nothing but a cache that lags.
func TestCaughtFromAnySeed(t *testing.T) {
	for seed := range uint64(3) {
		r := sim.Explore(t, OneEvent(promotion.V1, lag()...), sim.Seed(seed+1), sim.Runs(1000), sim.For(time.Minute))
		if r.Failure == nil || r.Failure.Property != AttemptedOnce {
			t.Errorf("base seed %d: nothing was caught in %d runs: %+v", seed+1, r.Runs, r.Failure)
			continue
		}
		t.Logf("base seed %d: caught in run %d, %v", seed+1, r.Runs, r.Failure.Story.After)
	}
}

// TestThreeStoriesOfThePullRequest: the variant at which the thread stopped stands up to its own trace, and falls in three
// ways. Each is told in its shortest form, by a single kind of fault.
func TestThreeStoriesOfThePullRequest(t *testing.T) {
	sim.Check(t, OneEvent(promotion.V3, lag()...), sim.Runs(50), sim.For(0))
	for _, c := range []struct {
		what   string
		tell   Telling
		faults []sim.Fault
		most   int // faults in the shortest story
	}{
		{"the application is written to once more while the cache lags", Burst, lag(), 2},
		{"the operator dies before it has recorded what it did", OneEffect, crash(), 1},
		{"the record is lost on its way", OneEffect, lostPatch(), 1},
	} {
		r := sim.Explore(t, c.tell(promotion.V3, c.faults...), sim.Runs(1000), sim.For(time.Minute))
		if r.Failure == nil {
			t.Errorf("%s: not caught in %d runs", c.what, r.Runs)
			continue
		}
		t.Logf("%s\n%s", c.what, r.Failure.Text())
		if n := r.Failure.Story.After.Faults; n > c.most {
			t.Errorf("%s: the shortest story has %d faults, want at most %d", c.what, n, c.most)
		}
	}
}
