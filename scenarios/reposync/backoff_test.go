// This file tests back-off and tries under faults.

package reposync

import (
	"testing"

	"github.com/wavetank/wavetank/controllers/reposync"
	"github.com/wavetank/wavetank/sim"
)

// passes has a variant pass some runs of a workload under faults.
func passes(t *testing.T, v reposync.Variant, w workload, properties ...string) {
	t.Helper()
	faults := interrupted()
	if w == contested {
		faults = append(faults, conflicts()[1:]...)
	}
	sim.Check(t, w.New(v, properties, faults...), sim.Runs(10), sim.For(0), sim.Verify(1))
}

// Who is refused because the namespace goes is woken at once by the event of the status that says
// so. When faults have ended, there is one try for each period of back-off. V10 is always so.
//
//make:campaigns
func TestRefusals(t *testing.T) {
	for name, w := range map[string]workload{
		"the binding goes first": bindingGone, "a managed object goes first": managedGone,
	} {
		t.Run(name, func(t *testing.T) {
			r := sim.Explore(t, w.New(reposync.V0, []string{restrained}), sim.Runs(1), sim.For(0), sim.Verify(0))
			if r.Failure == nil || r.Failure.Property != restrained {
				t.Errorf("V0 does not break %q: %v", restrained, r.Err())
			}
			passes(t, reposync.V0, w, settles)
			passes(t, reposync.V10, w, restrained, settles)
		})
	}
}

// V10 is in time at the third try while programs die, replies are lost and keys are queued again.
//
//make:campaigns
func TestThirdTryUnderFaults(t *testing.T) { passes(t, reposync.V10, contested, converges, onceOff) }
