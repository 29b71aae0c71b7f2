// This file checks that the fixed variant does what its comments promise.

package reposync

import (
	"testing"
	"time"

	"github.com/wavetank/wavetank/controllers/reposync"
	"github.com/wavetank/wavetank/sim"
)

func TestFixedVariantKeepsItsPromises(t *testing.T) {
	run := func(setting Setting, declare, happen func(*World)) func(*sim.World) {
		return of(setting, func(w *World) {
			declare(w)
			happen(w)
		}).New(reposync.V10, nil)
	}
	for name, scenario := range map[string]func(*sim.World){
		"one hand at work": run(Setting{Chain: 2, Held: true, Lingers: 3 * time.Minute},
			(*World).idle, replaced),
		"settings that go come back":                   run(Setting{}, (*World).settled, unsettled((*World).remove)),
		"settings that somebody changes are put right": run(Setting{}, (*World).settled, unsettled((*World).spoil)),
	} {
		t.Run(name, func(t *testing.T) { sim.Check(t, scenario, sim.Runs(10), sim.For(0), sim.Verify(1)) })
	}
}
