// Package clusterextension lets the fuzzer place every fault that the harness has into the fixed
// variant of the reference scenario of the same name.
package clusterextension

import (
	"testing"

	"github.com/wavetank/wavetank/scenarios/clusterextension"
	"github.com/wavetank/wavetank/sim"
)

func FuzzClusterExtensionChoices(f *testing.F) {
	t := clusterextension.Table()
	sim.Fuzz(f, t.Case("every fault").Scenario(t.Fixed))
}
