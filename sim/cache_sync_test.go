package sim_test

import (
	"fmt"
	"testing"
	"time"

	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/sim"
)

// A controller's caches sync although nothing else happens in the world: it is awake when the first
// object comes.
func TestCachesSyncInAQuietWorld(t *testing.T) {
	sim.Check(t, func(w *sim.World) {
		w.Start("mirror", func(mgr ctrl.Manager) error { return (&mirror{mgr.GetClient()}).SetupWithManager(mgr) })
		w.Sleep(time.Hour)
		w.Apply(withRole("source", configMap("src-a", "k", "1")))
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
