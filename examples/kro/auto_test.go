package kro

import (
	"slices"
	"testing"

	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/auto"
	"github.com/wavetank/wavetank/sim/property"
)

// TestAuto knows nothing of the operator but its definitions and one sample of each kind. It finds
// the lost status of promises_test.go. Users also delete a definition while there are Apps, and
// kro does not look after those any longer: they keep their finalizer, as its documentation says.
func TestAuto(t *testing.T) {
	start := operator(t)
	r := sim.Explore(t, func(w *sim.World) {
		start(w)
		auto.Scenario(w, auto.Kinds(app("")), auto.Objects(app("first")))
	}, sim.KeepGoing())
	for _, f := range r.Findings {
		if !slices.Contains([]string{property.DefaultNoStuckFinalizer, auto.SameEndState}, f.Property) {
			t.Errorf("run %d: %q, %s", f.First, f.Property, f.Cause)
		}
	}
}
