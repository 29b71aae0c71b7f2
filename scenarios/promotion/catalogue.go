// This file exists for the stories that the project keeps under testdata/catalogue: how the variants at which the thread
// stopped go wrong, each by a single kind of fault and in its shortest form.

package promotion

import (
	"github.com/wavetank/wavetank/controllers/promotion"
	"github.com/wavetank/wavetank/sim"
)

// Fall is one way in which a variant goes wrong.
type Fall struct {
	Variant promotion.Variant
	// When it does, for people.
	When   string
	Tell   Telling
	Faults func() []sim.Fault
	// Broken is the sentence that it breaks, and Most the number of faults in the shortest story.
	Broken string
	Most   int
}

// Falls are the stories of the catalogue.
func Falls() []Fall {
	return []Fall{
		{"V1", "its cache lags", OneEvent, lag, AttemptedOnce, 1},
		{"V3", "a burst of events meets a lagging cache", Burst, lag, AttemptedOnce, 2},
		{"V3", "it dies before it has recorded what it did", OneEffect, crash, TakesEffectOnce, 1},
		{"V3", "its record is lost on the way", OneEffect, lostPatch, TakesEffectOnce, 1},
	}
}

// Of is the scenario of the fall for a variant: the faulty one, or the one that must stand.
func (f Fall) Of(v promotion.Variant) func(*sim.World) { return f.Tell(v, f.Faults()...) }
