package campaign

import (
	"maps"
	"slices"
	"testing"

	"github.com/wavetank/wavetank/sim/internal/bubble"
)

// hasOverlay finds out, in a bubble of its own, whether the test binary was built with the overlay
// of exact mode (wavetank overlay), of which nothing else tells. A run that was found with it may
// not come again without it, so it belongs to the command that replays ([story.Overlaid]).
func hasOverlay(t *testing.T) (has bool) {
	_ = bubble.Run(t, func(*testing.T) { has = mapsAlike() })
	return has
}

// mapsAlike goes through two maps at one instant. Inside a bubble they come in the same order under
// the overlay, and otherwise in one of more orders than could be met by chance. The maps are large
// from the start: of small ones the compiler makes the seed, from the run's random numbers.
func mapsAlike() bool {
	order := func() []int {
		m := make(map[int]bool, 64)
		for i := range 64 {
			m[i] = true
		}
		return slices.Collect(maps.Keys(m))
	}
	return slices.Equal(order(), order())
}
