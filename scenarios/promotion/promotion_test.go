// This file exists to tell the story of each variant.

package promotion

import (
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
		w.Always("a revision is attempted at most once", s.Git.AttemptedOncePerRevision)
		w.Always("a revision takes effect at most once", s.Git.OncePerRevision)
		w.Always("an environment gets only what the one before it has proved", s.InOrder)
		w.Always("nothing outdated is promoted", s.NotStale)
		w.Eventually("every environment gets its revision", s.Promoted)
		w.Eventually("every promotion is recorded", s.Recorded)
		w.Eventually("the status is true", s.StatusIsTrue)

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

func TestWithoutFaults(t *testing.T) {
	for _, v := range promotion.Variants() {
		r := sim.Explore(t, rollout(v), sim.Runs(20))
		t.Logf("%s: %d runs, %d steps, %d reconciles: %v", v, r.Runs, r.Steps, r.Reconciles, r.Failure)
	}
}

func TestStale(t *testing.T) {
	for _, v := range promotion.Variants() {
		r := sim.Explore(t, rollout(v, sim.StaleCache(30*time.Second)), sim.Runs(20))
		t.Logf("%s: %d runs, %d steps, %d reconciles: %v", v, r.Runs, r.Steps, r.Reconciles, r.Failure)
	}
}
