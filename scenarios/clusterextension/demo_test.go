// This file exists to show the story to a reader who has five minutes: see make demo.

package clusterextension

import (
	"testing"

	"github.com/wavetank/wavetank/scenarios/internal/demo"
)

func TestDemo(t *testing.T) {
	table := Table()
	claim := func(column string, v variant, when, caught string, runs int) demo.Claim {
		c := demo.Claim{Variant: string(v), When: when, Scenario: table.Column(column).Scenario(v), Caught: caught, Runs: runs}
		if caught != "" {
			c.Cured = table.Column(column).Scenario(table.Cure)
		}
		return c
	}
	demo.Show(t, "clusterextension",
		claim("progress after an interrupted upgrade", "V0", "it dies in the middle of an upgrade", progress, 20),
		claim("never backwards", "V1", "it rolls back what was interrupted", forwards, 20),
		claim("edges, 3 from 1 only", "V2", "it forgets what was interrupted", validEdges, 20),
		claim("torn records", "V5", "it dies between two shards", installed, 20),
		claim("two leaders", "V4", "another one leads meanwhile", fenced, 60),
		claim("torn records", "V6", "it dies anywhere, shards included", "", 30),
	)
}
