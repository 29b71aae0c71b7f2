// This file exists to show the story to a reader who has five minutes: see make demo.

package throttle

import (
	"testing"

	"github.com/wavetank/wavetank/controllers/throttle"
	"github.com/wavetank/wavetank/scenarios/internal/demo"
	"github.com/wavetank/wavetank/scenarios/internal/verdicts"
)

func TestDemo(t *testing.T) {
	var claims []demo.Claim
	for _, claim := range []struct {
		column  string
		variant throttle.Variant
		when    string
		runs    int
	}{
		{"bounded, long name", throttle.V0a, "a handler's name is too long for an annotation", 100},
		{"isolation", throttle.V1, "one object of several is poisoned", 100},
		{"bounded, long name", throttle.V2, "a handler's name is too long for an annotation", 100},
		{"recovers without an event", throttle.V2, "a write fails once and nobody touches the object", 1000},
		{"effect once, crash", throttle.V1V2, "it dies before it has recorded what it did", 1000},
		{"every fault", throttle.V4, "every fault may strike", 1000},
	} {
		c := Table().Column(claim.column)
		broken := ""
		if c.Answer(claim.variant) == verdicts.Falls {
			broken = c.Broken
		}
		claims = append(claims, demo.Claim{
			Variant: string(claim.variant), When: claim.when, Scenario: c.Scenario(claim.variant), Caught: broken, Runs: claim.runs,
		})
	}
	demo.Show(t, "throttle", claims...)
}
