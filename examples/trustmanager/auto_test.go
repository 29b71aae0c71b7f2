package trustmanager

import (
	"testing"

	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/auto"
)

// TestAuto knows nothing of the operator but its definitions and one sample of each kind.
func TestAuto(t *testing.T) {
	start := operator(t)
	sim.Check(t, func(w *sim.World) {
		start(w)
		auto.Scenario(w, auto.Objects(team("one", "a"), source(), spread("a")))
	})
}
