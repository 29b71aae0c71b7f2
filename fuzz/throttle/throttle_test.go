// Package throttle lets the fuzzer place every fault that the harness has into the fixed variant of
// the reference scenario of the same name.
package throttle

import (
	"testing"

	"github.com/wavetank/wavetank/scenarios/throttle"
	"github.com/wavetank/wavetank/sim"
)

func FuzzThrottleChoices(f *testing.F) {
	t := throttle.Table()
	sim.Fuzz(f, t.Case("every fault").Scenario(t.Fixed))
}
