// This file exists to show the story to a reader who has five minutes: see make demo.

package bundledeployment

import (
	"testing"

	"github.com/wavetank/wavetank/scenarios/internal/demo"
)

func TestDemo(t *testing.T) {
	table := Table()
	demo.Show(t, "bundledeployment",
		demo.Of(table, "no overlap after an install", "V0", "a bundle is refused, and undone", 10),
		demo.Of(table, "it settles", "V0", "it is refused again and again", 10),
		demo.Of(table, "it settles", "V1", "namespaces go within its 30 s", 3),
		demo.Of(table, "one fails beside a healthy one", "V1", "a healthy deployment comes", 20),
		demo.Of(table, "records are bounded", "V2", "an upgrade fails", 10),
		demo.Of(table, "dies anywhere", "V3", "it dies in the middle of an action", 200),
		demo.Of(table, "dies anywhere", "V4", "it dies anywhere", 1000),
		demo.Of(table, "it settles beside watched kinds", "V4", "what it undoes wakes it", 3),
	)
}
