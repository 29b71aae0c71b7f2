package sim_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/internal/simtest"
)

// A controller's caches sync although nothing else happens in the world: it is awake when the first
// object comes.
func TestCachesSyncInAQuietWorld(t *testing.T) {
	sim.Check(t, func(w *sim.World) {
		w.Start("mirror", simtest.Mirror)
		w.Sleep(time.Hour)
		w.Apply(simtest.Source("src-a", "k", "1"))
		w.Settle()
		for _, e := range w.History().Events {
			if e.Kind == history.Dequeue {
				if late := e.At - time.Hour; late > 2*time.Second {
					panic(fmt.Sprintf("the first reconcile came %v after the hour", late))
				}
				return
			}
			if e.Kind == history.Stop {
				panic("the manager gave up: " + e.Note)
			}
		}
		panic("nothing was reconciled")
	}, sim.Runs(5))
}
