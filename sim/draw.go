package sim

import (
	"pgregory.net/rapid"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/sim/internal/draw"
)

// Draw takes a value of the user's from a rapid generator, through the run's own choices, so that it
// replays and shrinks with the schedule. The default value is the generator's simplest, or some
// fixed one if a filter rejects that. The story says what was drawn.
func Draw[T any](w *World, label string, g *rapid.Generator[T]) T {
	w.panicIfOver()
	v, err := draw.From(label, g, w.choices.Choose)
	if err != nil {
		w.misuse("%v", err)
	}
	w.history.Drew(history.Draw{At: w.sched.Now(), Label: label, Value: draw.InWords(v)})
	return v
}
