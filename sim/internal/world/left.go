package world

import (
	"slices"

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
func (l *left) note(places []string) {
	for _, p := range places {
		if !slices.Contains(l.latest, p) {
			l.latest = append(l.latest, p)
		}
	}
}

// confirm makes a run fail that leaves the same goroutines behind each time it is made. Others
// are added to the result.
// repeat makes the run again.
func (l *left) confirm(a *attempt, repeat func() *attempt) {
	if again := a.left.Places(); len(again) > 0 && !a.Ending.Failed() {
		known := func(p string) bool { return slices.Contains(l.growing, p) }
		for n := 0; n < confirmations && len(again) > 0 && !slices.ContainsFunc(again, known); n++ {
			there := repeat().left.Places()
			again = slices.DeleteFunc(again, func(p string) bool { return !slices.Contains(there, p) })
		}
		if len(again) > 0 {
			l.growing = append(l.growing, again...)
			a.Ending = result.Ending{Kind: result.Leak, Step: a.Steps, At: a.Virtual}
			a.Ending.Message = a.left.Only(again).Error()
		}
	}
	for _, p := range l.latest {
		if !slices.Contains(l.growing, p) {
			a.Left = append(a.Left, p)
		}
	}
	l.latest = nil
}
