// Package promotion lets the fuzzer place every fault that the harness has into the full cure of
// the reference scenario of the same name.
package promotion

import (
	"testing"

	operator "github.com/wavetank/wavetank/controllers/promotion"
	"github.com/wavetank/wavetank/scenarios/promotion"
	"github.com/wavetank/wavetank/sim"
)

func FuzzPromotionChoices(f *testing.F) {
	sim.Fuzz(f, promotion.Everything(operator.V8, promotion.EveryFault()...))
}
