// This file exists to hold the full cure to what its comments promise.

package reposync

import (
	"testing"
	"time"

	"github.com/wavetank/wavetank/controllers/reposync"
	"github.com/wavetank/wavetank/sim"
)

func TestFullCureKeepsItsWord(t *testing.T) {
	for name, told := range map[string]func(*sim.World){
		"one hand at work":                             told(Setting{Chain: 2, Held: true, Lingers: 3 * time.Minute}, askOneHand, replaced)(reposync.V10),
		"settings that go come back":                   told(Setting{}, askSettled, unsettled((*Story).remove))(reposync.V10),
		"settings that somebody changes are put right": told(Setting{}, askSettled, unsettled((*Story).spoil))(reposync.V10),
	} {
		t.Run(name, func(t *testing.T) { sim.Check(t, told, sim.Runs(10), sim.For(0), sim.Verify(1)) })
	}
}
