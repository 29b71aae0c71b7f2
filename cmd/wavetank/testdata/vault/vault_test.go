package vault

import (
	"testing"

	"github.com/wavetank/wavetank/sim"
)

func TestOpens(t *testing.T) {
	sim.Check(t, func(w *sim.World) {
		w.Start("vault", Setup)
		w.Settle()
	})
}
