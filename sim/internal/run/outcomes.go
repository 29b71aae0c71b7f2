package run

import (
	"slices"

	"github.com/wavetank/wavetank/history"
)

// Outcomes counts how the reconciles of one process ended.
type Outcomes struct {
	Process       string
	Ended, Failed int
	Failure       string // how the last one failed
}

// OutcomesOf counts by process, in the order in which the processes first ended a reconcile.
func OutcomesOf(events []history.Event) (out []Outcomes) {
	for i := range events {
		e := &events[i]
		if e.Kind != history.Done {
			continue
		}
		o := Outcomes{Process: e.Process, Ended: 1}
		if e.Outcome.Failed() {
			o.Failed, o.Failure = 1, e.Outcome.String()
		}
		out = AddOutcomes(out, o)
	}
	return out
}

// AddOutcomes adds one count to those of all processes.
func AddOutcomes(all []Outcomes, o Outcomes) []Outcomes {
	at := slices.IndexFunc(all, func(have Outcomes) bool { return have.Process == o.Process })
	if at < 0 {
		return append(all, o)
	}
	all[at].Ended += o.Ended
	all[at].Failed += o.Failed
	if o.Failure != "" {
		all[at].Failure = o.Failure
	}
	return all
}
