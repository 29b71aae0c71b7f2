// This file exists to show the story to a reader who has five minutes: see make demo.

package promotion

import (
	"testing"

	"github.com/wavetank/wavetank/controllers/promotion"
	"github.com/wavetank/wavetank/scenarios/internal/demo"
)

func TestDemo(t *testing.T) {
	v1, v3, v8 := promotion.V1, promotion.V3, promotion.V8
	table := Table()
	demo.Show(t, "promotion",
		demo.Claim{Variant: "V1", When: "nothing lags", Scenario: OneEvent(v1), Runs: 200},
		demo.Claim{Variant: "V3", When: "its cache lags, but a single event comes", Scenario: OneEvent(v3, lag()...), Runs: 200},
		demo.Beside(table, "default trace", v1, "its cache lags", 1000),
		demo.Beside(table, "app burst", v3, "a burst of events meets a lagging cache", 1000),
		demo.Beside(table, "crash window", v3, "it dies before it has recorded what it did", 1000),
		demo.Beside(table, "lost patch reply", v3, "its record is lost on the way", 1000),
		demo.Claim{Variant: "V8", When: "every fault may strike", Scenario: Corners(v8, EveryFault()...), Runs: 1000},
		demo.Claim{Variant: "V8", When: "every fault may strike, in a long rollout", Scenario: Everything(v8, EveryFault()...), Runs: 100},
	)
}
