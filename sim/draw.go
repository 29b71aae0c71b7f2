package sim

import (
	"pgregory.net/rapid"

	"github.com/wavetank/wavetank/sim/internal/world"
)

// Draw takes a value of the user's from a rapid generator, through the run's own choices, so that
// it replays and shrinks with the schedule. The default value is the generator's simplest, or some
// fixed one if a filter rejects that. The story shows what was drawn.
func Draw[T any](w *World, label string, g *rapid.Generator[T]) T {
	return world.Draw(w.world, label, g)
}
