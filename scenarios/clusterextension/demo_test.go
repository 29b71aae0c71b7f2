// This file exists to show the story to a reader who has five minutes: see make demo.

package clusterextension

import (
	"testing"

	"github.com/wavetank/wavetank/scenarios/internal/demo"
)

func TestDemo(t *testing.T) {
	table := Table()
	demo.Show(t, "clusterextension",
		demo.Beside(table, "progress after an interrupted upgrade", "V0", "it dies in the middle of an upgrade", 20),
		demo.Beside(table, "never backwards", "V1", "it rolls back what was interrupted", 20),
		demo.Beside(table, "edges, 3 from 1 only", "V2", "it forgets what was interrupted", 20),
		demo.Beside(table, "torn records", "V5", "it dies between two shards", 20),
		demo.Beside(table, "two leaders", "V4", "another one leads meanwhile", 60),
		demo.Beside(table, "torn records", "V6", "it dies anywhere, shards included", 100),
		demo.Beside(table, "progress after an interrupted upgrade", "V6", "it dies in the middle of an upgrade", 1000),
	)
}
