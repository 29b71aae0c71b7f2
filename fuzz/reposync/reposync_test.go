// Package reposync lets the fuzzer place every fault that the harness has into the fixed variant of
// the reference scenario of the same name.
package reposync

import (
	"testing"

	"github.com/wavetank/wavetank/scenarios/reposync"
	"github.com/wavetank/wavetank/sim"
)

func FuzzReposyncChoices(f *testing.F) {
	t := reposync.Table()
	sim.Fuzz(f, t.Case("every fault").Scenario(t.Fixed))
}
