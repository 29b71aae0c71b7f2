package sim

import (
	"strings"
	"testing"
	"time"

	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/wavetank/wavetank/sim/fault"
)

// janitor begins a goroutine that nobody can end, as the constructors of some libraries do.
func janitor() {
	go func() {
		for range time.Tick(time.Minute) {
		}
	}()
}

// A goroutine that outlives its process fails the run, which says where it stands and what began it, unless it is told to be ignored.
func TestGoroutinesThatAreLeftBehindAreNamed(t *testing.T) {
	const begins = "github.com/wavetank/wavetank/sim.janitor"
	tidy := func(opts ...ProcessOption) func(*World) {
		return func(w *World) {
			w.Start("tidy", func(ctrl.Manager) error {
				janitor()
				return nil
			}, opts...)
			w.Inject(fault.Crash("tidy"))
			w.Settle()
		}
	}
	for name, opts := range map[string][]ProcessOption{"nothing is ignored": nil, "another is ignored": {IgnoreGoroutines("example.com/other.New")}} {
		f := Explore(t, tidy(opts...), Runs(1), Shrink(0)).Failure
		if f == nil || f.Property != "" || !strings.Contains(f.Message, "sim.janitor.func1, begun by "+begins+"\n") {
			t.Errorf("%s: it failed with %+v", name, f)
		}
	}
	if err := Explore(t, tidy(IgnoreGoroutines(begins)), Runs(20), Verify(1)).Err(); err != nil {
		t.Error(err)
	}
}
