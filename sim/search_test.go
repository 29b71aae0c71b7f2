package sim_test

import (
	"strings"
	"testing"

	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/fault"
)

// Every strategy finds a crash between two writes; a sweep finds it in its first pass.
func TestEveryStrategyFindsACrashWindow(t *testing.T) {
	scenario := mailing(mailer{}, func() fault.Fault { return fault.Crash("mailer") })
	for _, strategy := range []string{"portfolio", "burst", "sweep", "swarm", "random", "exhaustive", "rapid",
		"burst,swarm"} {
		r := sim.Explore(t, scenario, sim.Strategy(strategy), sim.Runs(500), sim.For(0))
		if r.Failure == nil || r.Failure.Property != "each mail is sent at most once" {
			t.Errorf("%s found nothing in %d runs", strategy, r.Runs)
			continue
		}
		t.Logf("%-10s found it in run %d by %s: %s", strategy, r.Runs, r.Failure.Strategy, r.Failure.Story.After)
	}
}

// An exhaustive search says honestly what it covered.
func TestExhaustiveSaysWhatItCovered(t *testing.T) {
	scenario := tallying(func(error) bool { return false },
		func() fault.Fault { return fault.ServerError(fault.OnVerb("patch")) })
	all := sim.Explore(t, scenario, sim.Strategy("exhaustive"), sim.Bound(1), sim.Runs(5000), sim.For(0))
	if all.Failure != nil || !strings.HasPrefix(all.Explored, "all: ") || !all.Complete {
		t.Errorf("explored %q, complete %v, failure %+v", all.Explored, all.Complete, all.Failure)
	}
	if strings.Contains(all.Explored, " 0 of them pruned") {
		t.Errorf("two reads at one instant, in either order, come to the same: %s", all.Explored)
	}
	t.Log(all.Explored)
	some := sim.Explore(t, scenario, sim.Strategy("exhaustive"), sim.Bound(2), sim.Runs(40), sim.For(0))
	if !strings.Contains(some.Explored, "NOT all: ") {
		t.Errorf("explored %q", some.Explored)
	}
	t.Log(some.Explored)
}
