package fuzz

import (
	"testing"

	operator "github.com/wavetank/wavetank/controllers/promotion"
	"github.com/wavetank/wavetank/scenarios/promotion"
	"github.com/wavetank/wavetank/scenarios/reposync"
	"github.com/wavetank/wavetank/scenarios/throttle"
	"github.com/wavetank/wavetank/sim"
)

// FuzzPromotionTape lets the fuzzer place every fault that the harness has into the full cure of the promotion story.
func FuzzPromotionTape(f *testing.F) {
	sim.Fuzz(f, promotion.Everything(operator.V8, promotion.EveryFault()...))
}

// FuzzReposyncTape does so to the reconciler that loses its rights.
func FuzzReposyncTape(f *testing.F) {
	t := reposync.Table()
	sim.Fuzz(f, t.Column("every fault").Scenario(t.Cure))
}

// FuzzThrottleTape does so to the full cure of the hot loop.
func FuzzThrottleTape(f *testing.F) {
	t := throttle.Table()
	sim.Fuzz(f, t.Column("every fault").Scenario(t.Cure))
}
