// Package bundledeployment lets the fuzzer place every fault that the harness has into the fixed
// variant of the reference scenario of the same name.
package bundledeployment

import (
	"testing"

	"github.com/wavetank/wavetank/scenarios/bundledeployment"
	"github.com/wavetank/wavetank/sim"
)

func FuzzBundleDeploymentChoices(f *testing.F) {
	t := bundledeployment.Table()
	sim.Fuzz(f, t.Case("every fault").Scenario(t.Fixed))
}
