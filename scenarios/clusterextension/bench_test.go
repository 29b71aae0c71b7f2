// This file exists to measure how fast installs go: Helm's actions are the heaviest programs that
// there are. By a CPU profile half of the time is Helm's (rendering, decoding of YAML, building of
// objects), a sixth the steps of the simulator, a tenth its API server; release records are 4 %,
// discovery 3 %.

package clusterextension

import (
	"syscall"
	"testing"
	"time"

	"github.com/wavetank/wavetank/controllers/clusterextension"
	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/result"
)

func BenchmarkSettledInstall(b *testing.B) {
	var r result.Report
	var cpu time.Duration
	// A bubble needs a *testing.T, which a benchmark does not have.
	ok := testing.RunTests(func(string, string) (bool, error) { return true, nil },
		[]testing.InternalTest{{Name: b.Name(), F: func(t *testing.T) {
			if r.Runs > 0 {
				return // -test.count is honoured once more in here
			}
			b.ResetTimer()
			cpu = cpuTime(b)
			r = sim.Explore(t, func(w *sim.World) {
				s := deployed(w, Setting{Variant: clusterextension.V6})
				s.declare(installed)
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
	b.ReportMetric(float64(r.Runs)/cpu.Seconds(), "runs/cpu-s") // what counts where others use the machine too
}

// cpuTime is how long all threads of this process have computed.
func cpuTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
