package world

import (
	"strconv"

	"pgregory.net/rapid"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/internal/story"
	"github.com/wavetank/wavetank/sim/internal/draw"
)

// Draw takes a value from a rapid generator, through the run's own choices.
func Draw[T any](w *World, label string, g *rapid.Generator[T]) T {
	w.panicIfOver()
	v, err := draw.From(label, g, func(word int) int {
		return w.choices.Choose(story.Label{Kind: story.Draw, Of: label, What: strconv.Itoa(word)}, draw.Words)
	})
	if err != nil {
		w.misuse("%v", err)
	}
	w.history.Drew(history.Draw{At: w.sched.Now(), Label: label, Value: draw.InWords(v)})
	return v
}
