package sim_test

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/sim"
)

var sources = rapid.IntRange(0, 100)

func fewerThan(n int) func(*history.History) error {
	return func(h *history.History) error {
		d, ok := data(h, "n")
		if ok && len(d["n"]) >= n {
			return fmt.Errorf("there are %d", len(d["n"]))
		}
		return nil
	}
}

// A filter is asked again with other words: those of the dull run are all alike, and it would
// reject them for ever.
func TestDrawFiltered(t *testing.T) {
	small := rapid.IntRange(0, 10)
	r := sim.Explore(t, func(w *sim.World) {
		if n := sim.Draw(w, "filtered", small.Filter(func(n int) bool { return n > 0 })); n == 0 {
			t.Error("the filter let 0 through")
		}
		s := sim.Draw(w, "distinct", rapid.SliceOfNDistinct(small, 2, 4, rapid.ID[int]))
		if slices.Sort(s); len(slices.Compact(s)) < 2 {
			t.Errorf("not distinct: %v", s)
		}
		sim.Draw(w, "map", rapid.MapOfN(rapid.StringMatching("[a-z]{1,3}"), small, 2, 3))
		if n := sim.Draw(w, "custom",
			rapid.Custom(func(t *rapid.T) int {
				return small.Filter(func(n int) bool { return n > 5 }).Draw(t,
					"n")
			})); n == 7 {
			w.Always("it is not 7", func(*history.History) error { return fmt.Errorf("it is %d", n) })
			w.Settle()
		}
	}, sim.Runs(200), sim.For(0), sim.Verify(10))
	if r.Failure == nil || r.Failure.Property != "it is not 7" || r.Failure.Flaky {
		t.Errorf("%d runs, %+v", r.Runs, r.Failure)
	}
}
