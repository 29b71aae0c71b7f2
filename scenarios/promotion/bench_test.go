// This file exists to measure how fast the harness runs a real operator.

package promotion

import (
	"testing"
	"time"

	"github.com/wavetank/wavetank/controllers/promotion"
	"github.com/wavetank/wavetank/internal/rate"
	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/fault"
)

// benchmark runs a scenario b.N times and reports what one CPU does in a second.
func benchmark(b *testing.B, scenario func(*sim.World)) {
	r, allocs := rate.Explore(b, scenario)
	s := r.Elapsed.Seconds()
	b.ReportMetric(float64(r.Runs)/s, "runs/s")
	b.ReportMetric(float64(r.Reconciles)/s, "reconciles/s")
	b.ReportMetric(float64(r.Requests)/s, "requests/s")
	b.ReportMetric(float64(r.Steps)/s, "steps/s")
	b.ReportMetric(allocs, "allocs/step")
	b.ReportMetric(float64(r.Virtual)/float64(r.Elapsed), "virtual/real")
}

// settled is the shortest whole promotion: one pipeline, two environments, one revision promoted
// and settled.
func settled(s *World) {
	s.Open()
	s.Runs("dev", "v1")
	s.Settle()
}

// rollout has a revision travel through dev and staging, then a second one.
func rollout(s *World) {
	s.Open()
	s.Runs("dev", "v1")
	s.Runs("staging", "v1")
	s.Settle()
	s.Runs("dev", "v2")
	s.Settle()
	delivers(1)(s)
}

func BenchmarkSettledPromotion(b *testing.B) {
	benchmark(b, scenario(between("dev", "staging"), settled, promotion.V3, []string{effectOnce}))
}

func BenchmarkFixedVariantUnderFaults(b *testing.B) {
	benchmark(b, scenario(between("dev", "staging"), rollout, promotion.V8, []string{effectOnce, everywhere},
		fault.StaleCache(30*time.Second, fault.HardLimit()), fault.Crash(Operator), fault.LostReply(),
		fault.Conflict(), fault.ServerError(), fault.RacingRequeue()))
}
