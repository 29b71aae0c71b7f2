// This file exists to put the story to the test: the table with its catalogue, every write of every action as a place to
// die, and what is asked beside it.

package clusterextension

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/wavetank/wavetank/controllers/clusterextension"
	"github.com/wavetank/wavetank/scenarios/internal/verdicts"
	"github.com/wavetank/wavetank/sim"
)

func TestVerdicts(t *testing.T) { verdicts.Test(t, Table()) }

// A cell that falls must fall in few runs; of the others, a few each must hold.
func TestBesideTheTable(t *testing.T) {
	for _, column := range Beside() {
		for _, v := range clusterextension.Variants() {
			if slices.Contains(column.Skipped, v) {
				continue
			}
			t.Run(column.Name+"/"+string(v), func(t *testing.T) {
				if !slices.Contains(column.Caught, v) {
					sim.Check(t, column.Scenario(v), sim.Runs(3), sim.For(0), sim.Verify(0))
					return
				}
				r := sim.Explore(t, column.Scenario(v), sim.Runs(300), sim.For(2*time.Minute), sim.Verify(0), sim.Shrink(0))
				if f := r.Failure; f == nil || f.Property != column.Broken {
					t.Errorf("it did not fall as it should in %d runs: %+v", r.Runs, f)
				}
			})
		}
	}
}

// everything is all that must hold of the full cure under interruptions.
var everything = []string{installed, finishFirst, validEdges, forwards, together, saneRecords, noOrphans, userData, fenced, progress,
	fewAttempts, actionable, installTruth}

// swept kills the operator around every single write of a scenario, one run for each. The runs beyond that, in which nothing
// strikes any more, show that all of them have been made.
func swept(t *testing.T, scenario func(*sim.World), runs int) {
	t.Helper()
	r := sim.Explore(t, scenario, sim.Runs(runs), sim.For(0), sim.Verify(0), sim.Shrink(0), sim.Strategy("sweep"))
	if r.Failure != nil {
		t.Fatal(r.Failure.Text())
	}
	if killed := r.Faults[0].Struck; killed == 0 || killed >= r.Runs {
		t.Errorf("it was killed %d times in %d runs: there may be more points", killed, r.Runs)
	}
	t.Logf("killed %d times in %d runs", r.Faults[0].Struck, r.Runs)
}

// The cure comes through a death before or after any write of install, upgrade and deletion, those of shards included.
func TestFullCureDiesAnywhere(t *testing.T) {
	for name, c := range map[string]struct {
		tell Telling
		runs int
	}{
		"install": {Installs(everything...), 110}, "upgrade": {Upgrades(everything...), 110}, "deletion": {Deleted, 60},
		"withdrawn": {Withdrawn(finished, finishFirst, together, installTruth), 60},
	} {
		t.Run(name, func(t *testing.T) {
			swept(t, c.tell(sharded(Setting{Variant: clusterextension.V6, Edges: []string{one, two}}), crash()...), c.runs)
		})
	}
}

// The first proposal does not: somewhere on its way back it can be killed for good.
func TestRollbackDiesSomewhere(t *testing.T) {
	for name, tell := range map[string]Telling{"upgrade and rollback": Upgrades(installed), "install and uninstall": Installs(installed)} {
		t.Run(name, func(t *testing.T) {
			s := Setting{Variant: clusterextension.V1, Edges: []string{one}}
			r := sim.Explore(t, tell(s, crash()...), sim.Runs(60), sim.For(2*time.Minute), sim.Verify(0), sim.Shrink(0), sim.Strategy("pairs"))
			if fell := r.Failure != nil && r.Failure.Property == installed; fell != (name == "install and uninstall") {
				t.Errorf("it fell: %v, in %d runs", fell, r.Runs)
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

// Namespaces that take their time to go are in nobody's way for ever.
func TestFullCureWhereNamespacesAreSlow(t *testing.T) {
	for _, terminates := range []time.Duration{7, 13, 21, 45, 75} {
		s := Setting{Variant: clusterextension.V6, Terminates: terminates * time.Second}
		sim.Check(t, Emptied(finished, finishFirst, installed)(s, crash()...), sim.Runs(8), sim.For(0), sim.Verify(0))
	}
}

// What another variant has torn or left pending, the full cure mends.
func TestFullCureTakesOver(t *testing.T) {
	s := sharded(Setting{Variant: clusterextension.V0})
	sim.Check(t, TakesOver(installed, finishFirst, together)(s, crash()...), sim.Runs(60), sim.For(0), sim.Verify(0))
}
