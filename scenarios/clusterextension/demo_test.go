// This file exists to show the story to a reader who has five minutes: see make demo.

package clusterextension

import (
	"testing"

	"github.com/wavetank/wavetank/scenarios/internal/demo"
)

func TestDemo(t *testing.T) {
	table := Table()
	claim := func(column string, v variant, when string, runs int) demo.Claim {
		c := demo.Of(table, column, v, when, runs)
		if c.Caught != "" {
			c.Cured = table.Column(column).Scenario(table.Cure)
		}
		return c
	}
	demo.Show(t, "clusterextension",
		claim("progress after an interrupted upgrade", "V0", "it dies in the middle of an upgrade", 20),
		claim("never backwards", "V1", "it rolls back what was interrupted", 20),
		claim("edges, 3 from 1 only", "V2", "it forgets what was interrupted", 20),
		claim("torn records", "V5", "it dies between two shards", 20),
		claim("two leaders", "V4", "another one leads meanwhile", 60),
		claim("torn records", "V6", "it dies anywhere, shards included", 1000),
	)
}
