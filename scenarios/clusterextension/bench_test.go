// This file measures how fast installs go. By a CPU profile half of the time is Helm's (rendering,
// decoding of YAML, building of objects), a sixth the steps of the simulator, a tenth its API
// server; release records are 4 %, discovery 3 %.

package clusterextension

import (
	"testing"

	"github.com/wavetank/wavetank/controllers/clusterextension"
	"github.com/wavetank/wavetank/internal/rate"
	"github.com/wavetank/wavetank/sim"
)

func BenchmarkSettledInstall(b *testing.B) {
	rate.Bench(b, func(w *sim.World) {
		s := deployed(w, Setting{Variant: clusterextension.V6})
		s.declare(installed)
		w.Settle()
	})
}
