// This file exists to show the story to a reader who has five minutes: see make demo.

package bundledeployment

import (
	"testing"

	"github.com/wavetank/wavetank/scenarios/internal/demo"
)

func TestDemo(t *testing.T) {
	table := Table()
	claim := func(column string, row Row, when, caught string, runs int) demo.Claim {
		return demo.Claim{Variant: string(row), When: when, Scenario: table.Column(column).Scenario(row), Caught: caught, Runs: runs}
	}
	demo.Show(t, "bundledeployment",
		claim("no overlap after an install", "V0", "a bundle is refused, and undone", noOverlap, 10),
		claim("it settles", "V0", "it is refused again and again", settles, 10),
		claim("it settles", "V1", "namespaces go within its 30 s", "", 3),
		claim("one fails beside a healthy one", "V1", "a healthy deployment comes", prompt, 20),
		claim("records are bounded", "V2", "an upgrade fails", bounded, 10),
		claim("dies anywhere", "V3", "it dies in the middle of an action", installed, 200),
		claim("dies anywhere", "V4", "it dies anywhere", "", 30),
		claim("it settles beside watched kinds", "V4", "what it undoes wakes it", "", 3),
	)
}
