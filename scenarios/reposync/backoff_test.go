// This file tests tries under faults.

package reposync

import (
	"testing"

	"github.com/wavetank/wavetank/controllers/reposync"
	"github.com/wavetank/wavetank/sim"
)

// V10 is in time at the third try while programs die, replies are lost and keys are queued again.
//
//make:campaigns
func TestThirdTryUnderFaults(t *testing.T) {
	w := contested.New(reposync.V10, []string{converges, onceOff}, append(interrupted(), conflicts()[1:]...)...)
	sim.Check(t, w, sim.Runs(10), sim.For(0), sim.Verify(1))
}
