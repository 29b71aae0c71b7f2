// This file exists to show the story to a reader who has five minutes: see make demo.

package throttle

import (
	"testing"

	"github.com/wavetank/wavetank/controllers/throttle"
	"github.com/wavetank/wavetank/scenarios/internal/demo"
)

func TestDemo(t *testing.T) {
	table := Table()
	demo.Show(t, "throttle",
		demo.Of(table, "bounded, long name", throttle.V0a, "a handler's name is too long for an annotation", 100),
		demo.Of(table, "isolation", throttle.V1, "one object of several is poisoned", 100),
		demo.Of(table, "bounded, long name", throttle.V2, "a handler's name is too long for an annotation", 100),
		demo.Of(table, "recovers without an event", throttle.V2, "a write fails once and nobody touches the object", 1000),
		demo.Of(table, "effect once, crash", throttle.V1V2, "it dies before it has recorded what it did", 1000),
		demo.Of(table, "effect once, crash", throttle.V4, "it dies before it has recorded what it did", 1000),
		demo.Of(table, "every fault", throttle.V4, "every fault may strike", 100),
	)
}
