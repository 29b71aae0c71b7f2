package sim_test

import (
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/fault"
	"github.com/wavetank/wavetank/sim/internal/simtest"
)

// mailsSent is a metric as operators have them: a package variable.
var mailsSent = prometheus.NewCounter(prometheus.CounterOpts{Name: "mails_sent_total"})

// A program that registers metrics in its setup function starts again after a crash, twice in one
// world, and in the next run. It sees its own metrics and those of controller-runtime.
func TestEachIncarnationRegistersItsMetrics(t *testing.T) {
	before, most := metrics.Registry, 0
	simtest.Holds(t, func(w *sim.World) {
		setup := func(mgr ctrl.Manager) error {
			metrics.Registry.MustRegister(mailsSent)
			families, err := metrics.Registry.Gather()
			if err != nil {
				return err
			}
			seen := map[string]bool{}
			for _, f := range families {
				seen[f.GetName()] = true
			}
			if !seen["mails_sent_total"] || !seen["certwatcher_read_certificate_total"] {
				t.Errorf("the registry has %v", seen)
			}
			return simtest.Counter{}.Setup(mgr)
		}
		w.Start("one", setup)
		w.Start("two", setup)
		w.Inject(fault.Crash("one"), fault.Crash("two"))
		w.Apply(simtest.ConfigMap("total", "n", "0"), simtest.Ticket("a"), simtest.Ticket("b"))
		w.Settle()
		most = max(most, len(incarnations(w.History())))
	}, sim.Strategy("swarm"), sim.Runs(10), sim.For(0))
	if most < 6 {
		t.Errorf("%d starts and ends at most, so the test shows little", most)
	}
	if metrics.Registry != before {
		t.Error("the registry is not what it was before the campaign")
	}
}
