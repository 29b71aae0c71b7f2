// This file exists to hold the full cure to what it owes to people when something is in its way.

package promotion

import (
	"testing"
	"time"

	"github.com/wavetank/wavetank/controllers/promotion"
	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/fault"
)

func TestFullCureLeavesNothingUndone(t *testing.T) {
	for name, told := range map[string]func(*sim.World){
		"a repository that fails is given up for another":              telling(quietly, askElsewhere, movesForGood)(promotion.V8),
		"not while an order may be on its way":                         telling(quietly, askElsewhere, movesAtOnce)(promotion.V8, fault.Pause(Operator, 10*time.Minute)),
		"what is outdone is closed though another repository has gone": telling(quietly, askCleared, outdoesElsewhere)(promotion.V8),
		"what is outdone is closed though the next order fails":        telling(quietly, askCleared, onlyOneComesBack)(promotion.V8),
		"nothing is left open for what was taken out":                  telling(quietly, askCleared, takenOut)(promotion.V8),
	} {
		t.Run(name, func(t *testing.T) { sim.Check(t, told, sim.Runs(20), sim.For(0), sim.Verify(1)) })
	}
}
