package world

import (
	"slices"
	"testing"

	"github.com/wavetank/wavetank/sim/internal/choice"
	"github.com/wavetank/wavetank/sim/internal/run"
	"github.com/wavetank/wavetank/sim/result"
)

// This file judges goroutines that runs leave behind. A library may begin one once per process,
// which is then left behind by one run only. One that each run leaves behind is a leak.

// left are the goroutines that runs have left behind, by where they stand and what began them.
type left struct {
	latest  []string // by the runs that were made since the last one was judged
	growing []string // those that the same run leaves behind each time
}

// confirmations is how often a run is repeated to see whether it leaves the same goroutines behind.
const confirmations = 2

// note keeps what a run of any purpose has left behind.
func (l *left) note(a *attempt) {
	for _, p := range a.left.Places() {
		if !slices.Contains(l.latest, p) {
			l.latest = append(l.latest, p)
		}
	}
}

// judgeLeft makes a run fail that leaves the same goroutines behind each time it is made. Others
// are added to the result.
func (r *runner) judgeLeft(t *testing.T, a *attempt, s run.Settings) {
	if again := a.left.Places(); len(again) > 0 && !a.Ending.Failed() {
		known := func(p string) bool { return slices.Contains(r.left.growing, p) }
		for n := 0; n < confirmations && len(again) > 0 && !slices.ContainsFunc(again, known); n++ {
			there := r.compared(t, choice.Play(a.Choices), s).left.Places()
			again = slices.DeleteFunc(again, func(p string) bool { return !slices.Contains(there, p) })
		}
		if len(again) > 0 {
			r.left.growing = append(r.left.growing, again...)
			a.Ending = result.Ending{Kind: result.Leak, Step: a.Steps, At: a.Virtual}
			a.Ending.Message = a.left.Only(again).Error()
		}
	}
	for _, p := range r.left.latest {
		if !slices.Contains(r.left.growing, p) {
			a.Left = append(a.Left, p)
		}
	}
	r.left.latest = nil
}
