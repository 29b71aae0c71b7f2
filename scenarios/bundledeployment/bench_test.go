// This file measures how fast installs go: no code under test is heavier than Helm's actions.

package bundledeployment

import (
	"syscall"
	"testing"
	"time"

	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/result"
)

func BenchmarkSettledInstall(b *testing.B) {
	var r result.Report
	var cpu time.Duration
	// A bubble needs a *testing.T, which a benchmark does not have.
	all := func(string, string) (bool, error) { return true, nil }
	ok := testing.RunTests(all, []testing.InternalTest{{Name: b.Name(), F: func(t *testing.T) {
		if r.Runs > 0 {
			return // -test.count is honoured once more in here
		}
		b.ResetTimer()
		cpu = cpuTime(b)
		r = sim.Explore(t, func(w *sim.World) {
			s := Begin(w, Row("V3").setting())
			s.declare(installed)
			s.accept(app, "app", "apps")
			w.Settle()
		}, sim.Runs(b.N), sim.For(0), sim.Verify(0))
		b.StopTimer()
		cpu = cpuTime(b) - cpu
	}}})
	if !ok || r.Failure != nil {
		b.Fatalf("the scenario does not hold: %+v", r.Failure)
	}
	s := r.Elapsed.Seconds()
	b.ReportMetric(float64(r.Runs)/s, "runs/s")
	b.ReportMetric(float64(r.Steps)/s, "steps/s")
	b.ReportMetric(float64(r.Runs)/cpu.Seconds(), "runs/cpu-s")
}

// cpuTime is how long all threads of this process have computed.
func cpuTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
