package campaign

import (
	"slices"
	"sync/atomic"
	"testing"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/internal/story"
	"github.com/wavetank/wavetank/sim/internal/choice"
	"github.com/wavetank/wavetank/sim/internal/run"
	"github.com/wavetank/wavetank/sim/result"
)

// executor makes the runs of a campaign.
type executor struct {
	t        *testing.T
	runner   run.Runner
	settings run.Settings
	doing    atomic.Pointer[activity]
	left     []string // goroutines that one run left behind
}

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

// execute makes one run.
func (e *executor) execute(o choice.Source) *run.Result { return e.executeWith(o, e.settings) }

// executeWith makes one run with other settings. What it has left behind is noted even if the run
// is not counted.
func (e *executor) executeWith(o choice.Source, s run.Settings) *run.Result {
	res := e.runner(e.t, o, s)
	for _, p := range res.Left {
		if !slices.Contains(e.left, p) {
			e.left = append(e.left, p)
		}
	}
	return res
}

// tell makes a run that will be explained: its history has what reconciles read from caches.
func (e *executor) tell(o choice.Source) *run.Result {
	s := e.settings
	s.Reads = true
	return e.executeWith(o, s)
}

// ignore has runs end at a violation, except of some properties, until restore is called.
func (e *executor) ignore(properties []string) (restore func()) {
	was := e.settings
	e.settings.Pass, e.settings.Ignored = false, slices.Clone(properties)
	return func() { e.settings.Pass, e.settings.Ignored = was.Pass, was.Ignored }
}

// keepGoing has runs continue at a violation, if they are to.
func (e *executor) keepGoing(pass bool) { e.settings.Pass = pass }

// noteCallers has runs note from where requests are sent, if they are to.
func (e *executor) noteCallers(on bool) { e.settings.Callers = on }

// judgeAgain has runs judged again by the properties that a sequence does not violate before it
// fails as it should.
func (e *executor) judgeAgain(choices choice.Sequence, want result.Ending) {
	for _, name := range slices.Clone(e.settings.Ignored) {
		all := e.settings.Ignored
		e.settings.Ignored = slices.DeleteFunc(slices.Clone(all), func(n string) bool { return n == name })
		if !e.execute(choice.Play(choices)).Ending.Same(want) {
			e.settings.Ignored = all
		}
	}
}

func lengthOf(r *run.Result) story.Length {
	l := story.Length{Choices: len(r.Choices), Steps: r.Steps}
	for _, f := range r.Faults {
		l.Faults += f.Injected
	}
	return l
}
