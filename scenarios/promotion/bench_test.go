// This file exists to measure how fast the harness runs a real operator.

package promotion

import (
	"runtime"
	"testing"
	"time"

	"github.com/wavetank/wavetank/controllers/promotion"
	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/fault"
	"github.com/wavetank/wavetank/sim/result"
)

// benchmark runs a scenario b.N times and reports what one CPU does in a second.
func benchmark(b *testing.B, scenario func(*sim.World)) {
	b.ReportAllocs()
	var r result.Report
	var before, after runtime.MemStats
	// A bubble needs a *testing.T, which a benchmark does not have.
	ok := testing.RunTests(func(string, string) (bool, error) { return true, nil },
		[]testing.InternalTest{{Name: b.Name(), F: func(t *testing.T) {
			if r.Runs > 0 {
				return // -test.count is honoured once more in here
			}
			runtime.ReadMemStats(&before)
			b.ResetTimer()
			r = sim.Explore(t, scenario, sim.Runs(b.N), sim.For(0), sim.Verify(0))
			b.StopTimer()
			runtime.ReadMemStats(&after)
		}}})
	if !ok || r.Failure != nil {
		b.Fatalf("the scenario does not hold: %+v", r.Failure)
	}
	s := r.Elapsed.Seconds()
	b.ReportMetric(float64(r.Runs)/s, "runs/s")
	b.ReportMetric(float64(r.Reconciles)/s, "reconciles/s")
	b.ReportMetric(float64(r.Requests)/s, "requests/s")
	b.ReportMetric(float64(r.Steps)/s, "steps/s")
	b.ReportMetric(float64(after.Mallocs-before.Mallocs)/float64(r.Steps), "allocs/step")
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
