// This file exists to hold the fixed variant to what it owes to people when something is in its
// way.

package promotion

import (
	"testing"
	"time"

	"github.com/wavetank/wavetank/controllers/promotion"
	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/fault"
)

func TestFixedVariantLeavesNothingUndone(t *testing.T) {
	for name, scenario := range map[string]func(*sim.World){
		"a repository that fails is given up for another": workload(quietly, askElsewhere,
			movesForGood)(promotion.V8),
		"not while an order may be on its way": workload(quietly, askElsewhere,
			movesAtOnce)(promotion.V8, fault.Pause(Operator, 10*time.Minute)),
		"what is outdone is closed though another repository has gone": workload(quietly, askCleared,
			outdoesElsewhere)(promotion.V8),
		"what is outdone is closed though the next order fails": workload(quietly, askCleared,
			onlyOneComesBack)(promotion.V8),
		"nothing is left open for what was taken out": workload(quietly, askCleared,
			takenOut)(promotion.V8),
	} {
		t.Run(name, func(t *testing.T) { sim.Check(t, scenario, sim.Runs(20), sim.For(0), sim.Verify(1)) })
	}
}
