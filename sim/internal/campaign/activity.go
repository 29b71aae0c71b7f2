package campaign

import (
	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/sim/result"
)

// activity is what a campaign makes runs for at the moment: one of its own, or of a story.
type activity struct {
	what, strategy string
	run            int
	seed           uint64
}

// failure is the run that is being made, as a failure.
func (a *activity) failure(e result.Ending, h *history.History) *result.Failure {
	return &result.Failure{Ending: e, Run: a.run, Seed: a.seed, Strategy: a.strategy, History: h}
}
