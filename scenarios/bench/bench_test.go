package bench

import (
	"testing"

	"github.com/wavetank/wavetank/sim"
)

func TestProbe(t *testing.T) {
	for _, b := range Bugs() {
		t.Run(b.Name, func(t *testing.T) {
			r := sim.Explore(t, b.Scenario(false), sim.Runs(1000), sim.For(0))
			f := r.Failure
			if f == nil {
				t.Errorf("not found in %d runs %+v", r.Runs, r.Faults)
				return
			}
			if f.Property != b.Property {
				t.Errorf("%s", f.Text())
			}
			t.Logf("depth %d, found in run %d by %s; %v -> %v; %d lines; %v", b.Depth, r.Runs, f.Strategy, f.Story.Before, f.Story.After, len(f.Story.History), f.Story.Tape)
		})
	}
}

func TestCured(t *testing.T) {
	for _, b := range Bugs() {
		t.Run(b.Name, func(t *testing.T) {
			r := sim.Explore(t, b.Scenario(true), sim.Runs(300), sim.For(0))
			if r.Failure != nil {
				t.Errorf("%s", r.Failure.Text())
			}
			t.Logf("%v", r.Elapsed)
		})
	}
}
