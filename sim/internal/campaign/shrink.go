package campaign

import (
	"fmt"
	"time"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/internal/story"
	"github.com/wavetank/wavetank/sim/internal/choice"
	"github.com/wavetank/wavetank/sim/internal/explain"
	"github.com/wavetank/wavetank/sim/internal/run"
	"github.com/wavetank/wavetank/sim/result"
)

// shrinkTime is the CPU time of the search for a shorter story, and explainTime that in which a
// failure is explained.
const (
	shrinkTime  = 20 * time.Second
	explainTime = 5 * time.Second
)

// shrinkLimit ends a search for a shorter story: when its CPU time is spent. While it has become
// shorter lately, the search gets as much again.
type shrinkLimit struct {
	effort
	limit, shortened time.Duration
}

func (s *shrinkLimit) over() bool {
	spent := s.spent()
	return spent >= s.limit && (spent-s.shortened >= s.limit/4 || spent >= 2*s.limit)
}

// maxCandidate is how many steps a candidate may have. A story should not become longer than the
// run as it was found, but without a fault the code may take some steps more. A candidate that is
// much longer than the shortest run so far also takes time.
func maxCandidate(first, best int) int { return min(first+first/10+20, best+best/2+100) }

// shrinker searches for shorter forms of a failing run, and measures why it fails.
type shrinker struct {
	runs     *executor
	progress *progress
	mustEnd  func() bool // the campaign is asked to end
}

// shrink searches for the shortest choice sequence that fails as the first run did.
func (s *shrinker) shrink(f *result.Failure, first, from *run.Result, limit time.Duration) (*run.Result,
	choice.Sequence) {
	best, settings := from, s.runs.settings
	s.begin("an attempt to shorten", f)
	p := &shrinkLimit{effort: newEffort(cpuTime), limit: limit}
	choices, runs, stopped := choice.Shrink(from.Choices, func(t choice.Sequence) choice.Trial {
		if first.Ending.Kind != result.Settles { // such a run may fail of its length
			settings.MaxSteps = min(settings.MaxSteps, maxCandidate(first.Steps, best.Steps))
		}
		res := s.runs.executeWith(choice.Play(t), settings)
		s.progress.show()
		if !res.Ending.Same(first.Ending) || res.Steps > settings.MaxSteps && first.Ending.Kind != result.Settles {
			return choice.Trial{Log: res.Log}
		}
		best, p.shortened = res, p.spent()
		s.progress.shrinking = fmt.Sprintf("%s of %s", lengthOf(res).Words(), lengthOf(first).Words())
		return choice.Trial{Same: true, Used: res.Choices, Log: res.Log}
	}, func() bool { return s.mustEnd() || p.over() })
	f.Shrinking = story.Shrinking{Runs: runs, Took: p.spent(), Stopped: stopped && limit > 0}
	again := s.runs.tell(choice.Play(choices))
	at, _ := history.Divergence(best.History, again.History)
	if !again.Ending.Same(first.Ending) || at >= 0 && best != first {
		f.Flaky = true
		return first, first.Choices
	}
	return again, choices
}

// explain measures why a failure happens.
func (s *shrinker) explain(f *result.Failure, choices choice.Sequence, steps int, limit time.Duration) ([]string,
	[]story.Share) {
	s.begin("the explanation of", f)
	spent, settings := newEffort(cpuTime), s.runs.settings
	if f.Kind != result.Settles { // such a run may fail of its length
		settings.MaxSteps = min(settings.MaxSteps, 2*steps+1000)
	}
	if settings.Monitor == nil {
		settings.Monitor = &run.Monitor{}
	}
	settings.Reads = true
	subject := &explain.Subject{
		Ending: f.Ending, Sequence: choices, Line: f.Line, Monitor: settings.Monitor,
		Over: func() bool { return s.mustEnd() || spent.spent() >= limit },
		Run:  func(o choice.Source) *run.Result { return s.runs.executeWith(o, settings) },
		Freshly: func(f *run.Fresh, o choice.Source) *run.Result {
			with := settings
			with.Fresh = f
			return s.runs.executeWith(o, with)
		},
	}
	return subject.Measure()
}

// begin says what runs are made for from here on.
func (s *shrinker) begin(what string, f *result.Failure) {
	s.runs.doing.Store(&activity{fmt.Sprintf("%s run %d (seed %d)", what, f.Run, f.Seed), f.Strategy, f.Run, f.Seed})
}
