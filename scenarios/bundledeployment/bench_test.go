// This file measures how fast installs go: no code under test is heavier than Helm's actions.

package bundledeployment

import (
	"testing"

	"github.com/wavetank/wavetank/internal/rate"
	"github.com/wavetank/wavetank/sim"
)

func BenchmarkSettledInstall(b *testing.B) {
	rate.Bench(b, func(w *sim.World) {
		s := Begin(w, Row("V3").setting())
		s.declare(installed)
		s.accept(app, "app", "apps")
		w.Settle()
	})
}
