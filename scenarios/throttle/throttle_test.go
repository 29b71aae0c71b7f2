// This file holds the story with a thousand objects.

package throttle

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/wavetank/wavetank/controllers/throttle"
	"github.com/wavetank/wavetank/sim"
)

// thousand has one poisoned object among a thousand, all of which are there when the operator
// starts; more come later.
func thousand(v throttle.Variant) func(*sim.World) {
	return func(w *sim.World) {
		setting := asReported
		setting.Before = func(s *World) {
			s.Apply(Poisoned("poisoned"))
			for i := range 999 {
				s.Apply(Example(fmt.Sprintf("plain-%03d", i)))
			}
		}
		s := Begin(w, v, setting)
		w.Sleep(time.Minute)
		s.declare(isolated)
		inTurn(comeAndGo, judgeNow("the-end"))(s)
	}
}

// One poisoned object of a thousand takes all of them down where the process ends for it, and none
// where it is throttled, in whatever order things happen.
func TestAThousandObjects(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	const seeds = 4 // two seconds each
	for _, v := range []throttle.Variant{throttle.V1, throttle.V2, throttle.V4} {
		t.Run(string(v), func(t *testing.T) {
			r := sim.Explore(t, thousand(v), sim.Runs(seeds), sim.For(0), sim.Verify(0), sim.Shrink(0))
			f, falls := r.Failure, v == throttle.V1
			if (f != nil) != falls || f != nil && f.Property != isolated {
				t.Errorf("falls: %v, want %v: %+v", f != nil, falls, f)
			}
			t.Logf("%d steps in %v: %.0f steps a second", r.Steps, r.Elapsed, float64(r.Steps)/r.Elapsed.Seconds())
		})
	}
}

// The thread reports one to two attempts a second. The variant as reported makes some nine where
// requests take no time, as the loop then takes little more than the batch window of 100 ms. Where
// requests take up to half a second, as in some other runs, it makes one to two.
func TestRateOfTheHotLoop(t *testing.T) {
	const measured = time.Minute
	var rates []float64
	sim.Explore(t, func(w *sim.World) {
		s := Begin(w, throttle.V0a, asReported)
		w.Sleep(time.Second)
		s.Apply(Poisoned("poisoned"))
		w.Sleep(measured)
		s.read(w.History())
		rates = append(rates, float64(len(s.examples[0].calls))/measured.Seconds())
	}, sim.Strategy("aimed"), sim.Runs(25), sim.For(0), sim.Verify(0))
	if rates[0] < 8 || rates[0] > 10 {
		t.Errorf("%.1f attempts a second on the default schedule, not some nine", rates[0])
	}
	if !slices.ContainsFunc(rates, func(r float64) bool { return 1 <= r && r <= 2 }) {
		t.Errorf("no run makes one to two attempts a second: %.1f", rates)
	}
}
