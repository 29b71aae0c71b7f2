// This file exists for deaths of the operator at every single write: of install, upgrade, rollback,
// uninstall and deletion, those of shards included.

package clusterextension

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/wavetank/wavetank/controllers/clusterextension"
	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/sim"
)

// point is where it was killed: before or after which of its writes.
type point struct {
	write int
	when  string
}

// swept kills the operator around every single write of a scenario, one run for each, and calls end
// after each run. It fails unless every write that the undisturbed run makes under faults has
// been the last one before a death, and the first after one.
func swept(t *testing.T, l Workload, s Setting, sentences []string, end func(*World, point)) {
	t.Helper()
	var story *World
	started := 0
	begun := func(w *sim.World, s Setting) *World {
		story = l.begin(w, s)
		started = len(w.History().Events)
		return story
	}
	points, writes := map[point]bool{}, 0
	workload := Workload{begun, l.then}.in(s, sentences, crash()...)
	scenario := func(w *sim.World) {
		workload(w)
		n := 0
		var hit []point
		for _, e := range w.History().Events[started:] {
			if e.Kind == history.Request && e.Process == Operator &&
				!slices.Contains([]string{"get", "list", "watch"}, e.Verb) {
				n++
			} else if in := e.Injection; in.Is("Crash") && in.Arguments == Operator {
				p := point{n, "after"}
				if in.How == "before" {
					p = point{n + 1, "before"}
				}
				hit = append(hit, p)
			}
		}
		if len(hit) == 0 {
			writes = n
		} else if len(hit) == 1 {
			points[hit[0]] = true
			if end != nil {
				end(story, hit[0])
			}
		}
	}
	explore := func(runs int) {
		r := sim.Explore(t, scenario, sim.Runs(runs), sim.For(0), sim.Verify(0), sim.Shrink(0), sim.Strategy("sweep"))
		if r.Failure != nil {
			t.Fatal(r.Failure.Text())
		}
	}
	explore(1)
	clear(points)
	explore(2 * writes)
	for i := range writes {
		for _, when := range []string{"before", "after"} {
			if !points[point{i + 1, when}] {
				t.Errorf("it was never killed %s write %d of %d", when, i+1, writes)
			}
		}
	}
	t.Logf("%d writes, killed at %d points in %d runs", writes, len(points), 2*writes)
}

// everything that must hold of the fixed variant at each of them.
//
//make:campaigns
func TestFixedVariantDiesAnywhere(t *testing.T) {
	for name, c := range map[string]struct {
		Workload
		sentences []string
	}{
		"install":          {installs, everything},
		"upgrade":          {upgrades, everything},
		"resumed":          {Workload{halved, waiting}, everything},
		"install, resumed": {Workload{halfInstalled, waiting}, everything},
		"deletion":         {deletes, []string{nothingLeft}},
		"withdrawn":        {withdraws, []string{finished, finishFirst, together, installTruth}},
	} {
		t.Run(name, func(t *testing.T) {
			s := Setting{Variant: clusterextension.V6, Edges: []string{one, two}, ChunkSize: small}
			swept(t, c.Workload, s, c.sentences, nil)
		})
	}
}

// The first proposal is interrupted on its way back, with records in shards, at every write of it,
// and the fixed variant takes its place: it finishes whatever is left.
//
//make:campaigns
func TestFixedVariantAfterARollbackInShards(t *testing.T) {
	for name, begin := range map[string]func(*sim.World, Setting) *World{"rollback": halved,
		"uninstall": halfInstalled} {
		t.Run(name, func(t *testing.T) {
			s := Setting{Variant: clusterextension.V1, ChunkSize: small}
			swept(t, Workload{begin, (*World).takesOver}, s, []string{installed}, nil)
		})
	}
}

// The first proposal is interrupted on its way back, at every write of it. One death on the way of
// a rollback it survives; an uninstall that is half done is final.
//
//make:campaigns
func TestRollbackDiesAnywhere(t *testing.T) {
	for name, begin := range map[string]func(*sim.World, Setting) *World{"rollback": halved,
		"uninstall": halfInstalled} {
		t.Run(name, func(t *testing.T) {
			ends := map[string]int{}
			s := Setting{Variant: clusterextension.V1}
			swept(t, Workload{begin, waiting}, s, nil, func(s *World, p point) {
				s.read(s.History())
				end := "arrives"
				if err := s.installed(s.History()); err != nil {
					end = "wedged"
				} else if err := s.noOrphans(s.History()); err != nil {
					end = "arrives with orphans"
				}
				if s.Broken[installTruth] != nil {
					end += ", after calling a half whole"
				}
				ends[end]++
			})
			if (ends["wedged"] > 0) != (name == "uninstall") {
				t.Errorf("it is wedged after %d deaths", ends["wedged"])
			}
			for _, end := range slices.Sorted(maps.Keys(ends)) {
				t.Log(fmt.Sprint(ends[end]), end)
			}
		})
	}
}
