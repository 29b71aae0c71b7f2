// These tests make runs of every operator of the suite: none may raise an alarm.

package correct

import (
	"testing"

	"github.com/wavetank/wavetank/sim"
)

func TestCorrectOperatorsRaiseNoAlarm(t *testing.T) {
	for _, o := range Operators() {
		t.Run(o.Name, func(t *testing.T) {
			r := sim.Explore(t, o.Scenario(), sim.Runs(*correctRuns), sim.For(0), sim.Verify(1))
			if err := r.Err(); err != nil {
				t.Error(err)
			}
			for _, w := range r.Warnings {
				t.Logf("warning: %s", w)
			}
			t.Logf("%d runs, %d steps, %v", r.Runs, r.Steps, r.Spent)
		})
	}
}
