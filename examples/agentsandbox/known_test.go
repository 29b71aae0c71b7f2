//go:build known

package agentsandbox

import (
	"fmt"
	"testing"
	"time"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/fault"
)

// TestIssue1215 fails for versions with
// https://github.com/kubernetes-sigs/agent-sandbox/issues/1215: a pool creates more Sandboxes than
// its replicas, because it counts those of its cache.
func TestIssue1215(t *testing.T) {
	start := operator(t)
	sim.Check(t, func(w *sim.World) {
		w.Always("a pool has at most the Sandboxes that it asks for", func(h *history.History) error {
			if has := owned(h, "SandboxWarmPool")["pool"]; len(has) > 2 {
				return fmt.Errorf("it has %v, and asks for two", has)
			}
			return nil
		})
		start(w)
		w.Inject(fault.StaleCache(time.Minute), fault.MissedStates(time.Minute), fault.Conflict())
		w.Apply(template(), pool(2))
		w.Settle()
		w.Apply(claim("one"), claim("two"))
		w.Settle()
	})
}
