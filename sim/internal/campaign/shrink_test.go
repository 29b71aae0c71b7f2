package campaign

import (
	"testing"
	"time"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/internal/story"
	"github.com/wavetank/wavetank/sim/internal/choice"
	"github.com/wavetank/wavetank/sim/internal/run"
	"github.com/wavetank/wavetank/sim/result"
)

// A run that needs no fault is shrunk to one without, unless that one is much longer.
func TestShrinkingDoesNotMakeAStoryMuchLonger(t *testing.T) {
	for bare, want := range map[int]int{380: 0, 431: 0, 450: 0, 608: 1} {
		runner := func(_ *testing.T, o choice.Source, s run.Settings) *run.Result {
			c := choice.New(o)
			res := &run.Result{History: &history.History{}, Steps: bare}
			if c.Rarely(story.Label{Kind: story.Inject, Of: "Crash"}, 2, 2) > 0 {
				res.Steps = 431
			}
			res.Ending = result.Ending{Kind: result.Eventually, Property: "p"}
			res.Choices, res.Log = c.Sequence(), c.Log()
			return res
		}
		c := newCampaign(t, runner, Settings{Run: run.Settings{MaxSteps: 50000}}, "", 0)
		first := c.runs.execute(choice.Func(func(choice.Point) int { return 1 }))
		best, choices := c.keeper.shrinker.shrink(&result.Failure{}, first, first, time.Minute)
		if len(choices) != want {
			t.Errorf("without the fault the run has %d steps instead of %d: shrunk to %d choices, %d steps", bare,
				first.Steps, len(choices), best.Steps)
		}
	}
}
