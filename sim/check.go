package sim

import (
	"testing"

	"github.com/wavetank/wavetank/sim/internal/campaign"
	"github.com/wavetank/wavetank/sim/internal/process"
	"github.com/wavetank/wavetank/sim/internal/run"
	"github.com/wavetank/wavetank/sim/internal/world"
	"github.com/wavetank/wavetank/sim/result"
)

// Check runs a scenario many times, each run with other choices, and fails the test at the first
// run in which a property breaks. It is [Explore] and a report. The test and its parents must not
// be parallel: a run owns process-wide settings.
func Check(t *testing.T, scenario func(*World), opts ...ExploreOption) {
	t.Helper()
	campaign.Check(t, runnerOf(scenario), settings(t, append([]ExploreOption{Stories("")}, opts...)))
}

// Explore runs a scenario many times and reports what it found without failing the test: for faulty
// variants, canaries and tables. A scenario or an option that cannot be ([result.Misuse]) still
// fails the test.
func Explore(t *testing.T, scenario func(*World), opts ...ExploreOption) result.Report {
	t.Helper()
	return campaign.Explore(t, runnerOf(scenario), settings(t, opts))
}

// Fuzz lets Go's native fuzzing make the choices: go test -fuzz searches with coverage of the code
// under test as its guide, and plain go test runs the corpus. Every byte answers a choice; the
// empty input is the run on the default schedule. What breaks a property is shrunk, reported, and
// kept as a story under testdata/sim, which plain go test tries again before the corpus. The first
// go test -fuzz takes minutes before anything runs: Go builds every package again for it, those of
// Kubernetes too.
func Fuzz(f *testing.F, scenario func(*World)) {
	f.Helper()
	if scenario == nil {
		f.Fatal("sim: Fuzz needs a scenario")
	}
	campaign.Fuzz(f, func() run.Runner { return runnerOf(scenario) }, outside)
}

// settings are those of a campaign with options.
func settings(t *testing.T, opts []ExploreOption) campaign.Settings {
	s := campaign.FromFlags(t)
	s.Outside = outside
	for _, o := range opts {
		o(&s)
	}
	return s
}

// outside ends the run under way when code under test dials by itself, or sends a request that
// belongs to no process.
var outside = process.Outside{Dialled: world.Dialled, Unattributed: world.Unattributed}

// runnerOf makes the runs of a scenario; nil if there is none.
func runnerOf(scenario func(*World)) run.Runner {
	if scenario == nil {
		return nil
	}
	return world.Runner(func(w *world.World) { scenario(&World{w}) })
}
