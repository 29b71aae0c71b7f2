// Package rate measures how fast the runs of a scenario are, in benchmarks.
package rate

import (
	"runtime"
	"testing"

	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/result"
)

// Bench makes b.N runs of a scenario and reports what one CPU does in a second of them.
func Bench(b *testing.B, scenario func(*sim.World)) {
	r, allocs := Explore(b, scenario)
	b.ReportMetric(float64(r.Runs)/r.Spent.Seconds(), "runs/cpu-s")
	b.ReportMetric(float64(r.Steps)/r.Spent.Seconds(), "steps/cpu-s")
	b.ReportMetric(float64(r.Steps)/float64(r.Runs), "steps/run")
	b.ReportMetric(allocs, "allocs/step")
}

// Explore makes b.N runs of a scenario. It returns their report and the allocations for each step.
// A violated property fails the benchmark.
func Explore(b *testing.B, scenario func(*sim.World)) (r result.Report, allocs float64) {
	b.ReportAllocs()
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
	return r, float64(after.Mallocs-before.Mallocs) / float64(r.Steps)
}
