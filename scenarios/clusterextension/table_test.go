// This file exists to put the story to the test: the table with its catalogue, every write of every action as a place to
// die, and what is asked beside it.

package clusterextension

import (
	"fmt"
	"testing"
	"time"

	"github.com/wavetank/wavetank/controllers/clusterextension"
	"github.com/wavetank/wavetank/scenarios/internal/verdicts"
	"github.com/wavetank/wavetank/sim"
)

func TestVerdicts(t *testing.T) { verdicts.Test(t, Table()) }

// everything is all that must hold of the full cure under interruptions.
var everything = []string{installed, finishFirst, validEdges, forwards, together, saneRecords, noOrphans, userData, fenced, progress,
	fewAttempts, actionable, installTruth}

// swept kills the operator around every single write of a scenario, one run for each, and then around several.
func swept(t *testing.T, scenario func(*sim.World)) sim.Report {
	t.Helper()
	first := sim.Explore(t, scenario, sim.Runs(1), sim.For(0), sim.Verify(0), sim.Shrink(0), sim.Strategy("sweep"))
	if first.Failure != nil {
		return first
	}
	points := first.Faults[0].Could
	r := sim.Explore(t, scenario, sim.Runs(points+points/4), sim.For(0), sim.Verify(0), sim.Shrink(0), sim.Strategy("sweep"))
	if r.Failure == nil && r.Faults[0].Struck < points {
		t.Errorf("it was killed %d times in %d runs, and there are %d points", r.Faults[0].Struck, r.Runs, points)
	}
	t.Logf("%d points, killed %d times in %d runs", points, r.Faults[0].Struck, r.Runs)
	return r
}

// The cure comes through a death before or after any write of install, upgrade and deletion, those of shards included.
func TestFullCureDiesAnywhere(t *testing.T) {
	for name, scenario := range map[string]func(Setting, ...sim.Fault) func(*sim.World){
		"install": Installs(everything...), "upgrade": Upgrades(everything...), "refused": Refused(finishFirst, fewAttempts, installTruth, installed),
		"deletion": Deleted, "withdrawn": Withdrawn(installed, finishFirst, together),
	} {
		t.Run(name, func(t *testing.T) {
			if f := swept(t, scenario(sharded(Setting{Variant: clusterextension.V6, Edges: []string{one, two}}), crash()...)).Failure; f != nil {
				t.Error(f.Text())
			}
		})
	}
}

// The others do not: somewhere on their way they can be killed for good.
func TestRollbackDiesSomewhere(t *testing.T) {
	for name, scenario := range map[string]Telling{"upgrade and rollback": Upgrades(installed), "install and uninstall": Installs(installed)} {
		t.Run(name, func(t *testing.T) {
			if r := swept(t, scenario(sharded(Setting{Variant: clusterextension.V1, Edges: []string{one}}), crash()...)); r.Failure == nil || r.Failure.Property != installed {
				t.Errorf("it did not fall: %+v", r.Failure)
			}
		})
	}
}

// Records of 1, 2 and about 10 Secrets.
func TestFullCureWithRecordsOfAnySize(t *testing.T) {
	for _, size := range []int{0, 2000, 350} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			s := Setting{Variant: clusterextension.V6, Edges: []string{one, two}, ChunkSize: size}
			sim.Check(t, Upgrades(everything...)(s, crash()...), sim.Runs(15), sim.For(0), sim.Verify(1))
		})
	}
}

// Whichever queue, client and number of workers: V0 is wedged, and V6 is not.
func TestSettingsThatDoNotMatter(t *testing.T) {
	for name, s := range map[string]Setting{
		"classic queue": {Classic: true}, "a client that reads its own writes": {ReadYourWrites: true}, "three workers": {Workers: 3},
	} {
		s.Edges = []string{one, two}
		s.Variant = clusterextension.V0
		t.Run("V0/"+name, func(t *testing.T) {
			r := sim.Explore(t, Upgrades(installed)(s, crash()...), sim.Runs(100), sim.For(time.Minute), sim.Verify(0), sim.Shrink(0))
			if r.Failure == nil || r.Failure.Property != installed {
				t.Errorf("it did not fall in %d runs: %+v", r.Runs, r.Failure)
			}
		})
		s.Variant = clusterextension.V6
		t.Run("V6/"+name, func(t *testing.T) {
			sim.Check(t, Upgrades(everything...)(s, crash()...), sim.Runs(15), sim.For(0), sim.Verify(1))
		})
	}
}

// A user who has had enough of version 2 gets version 3.
func TestOverride(t *testing.T) {
	s := Setting{Variant: clusterextension.V6, Edges: []string{one}}
	sim.Check(t, Overridden(s, crash()...), sim.Runs(15), sim.For(0), sim.Verify(1))
}

// The full cure under what else may befall an operator. Deletions are left out of the last two: Helm only logs that one
// was refused, and goes on.
func TestFullCureUnderFaults(t *testing.T) {
	s := sharded(Setting{Variant: clusterextension.V6, Edges: []string{one, two}})
	faults := []sim.Fault{sim.StaleCache(30 * time.Second), sim.Crash(Operator), sim.RacingRequeue(), sim.Forbidden(time.Minute, sim.OfKind("Secret")),
		sim.LostReply(sim.OnVerb("update")), sim.ServerError(sim.OnVerb("patch"))}
	sim.Check(t, Upgrades(installed, finishFirst, validEdges, forwards, together, saneRecords, noOrphans, userData)(s, faults...), sim.Runs(20), sim.For(time.Minute), sim.Verify(1))
}
