package sim_test

import (
	"fmt"
	"strings"
	"testing"

	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/fault"
)

func data(h *history.History, name string) (map[string]string, bool) {
	o, ok := h.Object("", "ConfigMap", "default", name)
	if !ok {
		return nil, false
	}
	var cm struct{ Data map[string]string }
	if err := o.Into(&cm); err != nil {
		panic(err)
	}
	return cm.Data, true
}

func mirrored(h *history.History) error {
	for _, o := range h.Objects("", "ConfigMap") {
		if strings.HasSuffix(o.Ref.Name, "-copy") || !strings.HasPrefix(o.Ref.Name, "src") {
			continue
		}
		src, _ := data(h, o.Ref.Name)
		dst, ok := data(h, o.Ref.Name+"-copy")
		if !ok || fmt.Sprint(src) != fmt.Sprint(dst) {
			return fmt.Errorf("%s is %v and its copy is %v", o.Ref.Name, src, dst)
		}
	}
	return nil
}

func TestMirrorHolds(t *testing.T) {
	sim.Check(t, func(w *sim.World) {
		w.Start("mirror", func(mgr ctrl.Manager) error { return (&mirror{mgr.GetClient()}).SetupWithManager(mgr) })
		w.Inject(fault.StaleCache(30e9), fault.Crash("mirror"), fault.RacingRequeue())
		w.Eventually("every source has its copy", mirrored)
		w.Apply(withRole("source", configMap("src-a", "k", "1")), withRole("source", configMap("src-b", "k", "2")))
		w.Settle()
		w.Apply(withRole("source", configMap("src-a", "k", "3")))
		w.Settle()
	})
}

// Switching happens inside a reconcile: two workers read the same total before either has written
// it.
func TestTwoWorkersLoseAnUpdate(t *testing.T) {
	scenario := func(locked bool) func(*sim.World) {
		return func(w *sim.World) {
			w.Apply(configMap("total", "n", "0"))
			w.Start("counter", func(mgr ctrl.Manager) error {
				return (&counter{mgr.GetClient(), mgr.GetAPIReader(), 2, locked}).SetupWithManager(mgr)
			})
			w.Eventually("both tickets are counted", func(h *history.History) error {
				if d, _ := data(h, "total"); d["n"] != "2" {
					return fmt.Errorf("two tickets were counted as %s", d["n"])
				}
				return nil
			})
			w.Apply(withRole("ticket", configMap("a")), withRole("ticket", configMap("b")))
			w.Settle()
		}
	}
	lost := sim.Explore(t, scenario(false))
	if lost.Failure == nil || lost.Failure.Property != "both tickets are counted" {
		t.Fatalf("no update was lost in %d runs: %+v", lost.Runs, lost.Failure)
	}
	sim.Check(t, scenario(true))
}
