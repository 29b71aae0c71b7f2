package sim_test

import (
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/fault"
)

// janitor begins a goroutine that cannot be ended, as the constructors of some libraries do.
func janitor() {
	go func() {
		for range time.Tick(time.Minute) {
		}
	}()
}

// A goroutine that outlives its process fails the run, which says where it stands and what began
// it, unless the scenario ignores it.
func TestLeftGoroutinesAreNamed(t *testing.T) {
	const begins = "github.com/wavetank/wavetank/sim_test.janitor"
	tidy := func(opts ...sim.ProcessOption) func(*sim.World) {
		return func(w *sim.World) {
			w.Start("tidy", func(ctrl.Manager) error {
				janitor()
				return nil
			}, opts...)
			w.Inject(fault.Crash("tidy"))
			w.Settle()
		}
	}
	for name, opts := range map[string][]sim.ProcessOption{"nothing is ignored": nil,
		"another is ignored": {sim.IgnoreGoroutines("example.com/other.New")}} {
		f := sim.Explore(t, tidy(opts...), sim.Runs(1), sim.Shrink(0)).Failure
		if f == nil || f.Property != "" ||
			!strings.Contains(f.Message, "sim_test.janitor.func1, begun by "+begins+"\n") {
			t.Errorf("%s: it failed with %+v", name, f)
		}
	}
	if err := sim.Explore(t, tidy(sim.IgnoreGoroutines(begins)), sim.Runs(20), sim.Verify(1)).Err(); err != nil {
		t.Error(err)
	}
}

// A goroutine that a library begins once per process is left behind by one run only. It fails no
// run, and hides nothing else that is wrong.
func TestGoroutinesOfLibrariesAreAWarning(t *testing.T) {
	for _, broken := range []bool{false, true} {
		var library sync.Once
		r := sim.Explore(t, func(w *sim.World) {
			w.Start("tidy", func(ctrl.Manager) error {
				library.Do(janitor)
				return nil
			})
			w.Eventually("it is right", func(*history.History) error {
				if broken {
					return errors.New("it is not")
				}
				return nil
			})
			w.Settle()
		}, sim.Runs(3), sim.For(0), sim.Shrink(0))
		if failed := r.Failure != nil && r.Failure.Property == "it is right"; failed != broken {
			t.Errorf("broken=%v: %+v", broken, r.Failure)
		}
		const want = `give w.Start sim.IgnoreGoroutines("github.com/wavetank/wavetank/sim_test.janitor")`
		if got := strings.Join(r.Warnings, "\n"); !strings.Contains(got, want) {
			t.Errorf("broken=%v: it warns of %q", broken, got)
		}
	}
}
