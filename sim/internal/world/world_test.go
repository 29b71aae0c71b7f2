package world

import (
	"testing"

	"github.com/go-logr/logr"

	"github.com/wavetank/wavetank/sim/internal/choice"
	"github.com/wavetank/wavetank/sim/internal/process"
	"github.com/wavetank/wavetank/sim/internal/run"
)

// pass makes a run on the default schedule, then runs from seeds, and fails the test at the first
// that fails.
func pass(t *testing.T, scenario func(*World), runs int) {
	t.Helper()
	defer process.Enter(logr.Discard(), process.Outside{})()
	make := Runner(scenario)
	for i := range runs {
		source := choice.Source(choice.Play(nil))
		if i > 0 {
			source = choice.NewRandom(choice.Mix(7, i))
		}
		if e := make(t, source, run.Settings{MaxSteps: 50000}).Ending; e.Failed() {
			t.Fatalf("run %d: %s", i, e.Sentence())
		}
	}
}
