package sim_test

// What faults do, and no more.

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/internal/story"
	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/fault"
)

func TestStaleCacheTrailsByNoMoreThanItSays(t *testing.T) {
	const d = 10 * time.Second
	r := sim.Explore(t, func(w *sim.World) {
		w.Start("mirror", func(mgr ctrl.Manager) error { return (&mirror{mgr.GetClient()}).SetupWithManager(mgr) })
		w.Inject(fault.StaleCache(d))
		at := map[int64]history.Time{}
		read := 0
		w.Always("a watch event trails by no more than ten seconds", func(h *history.History) error {
			for ; read < len(h.Events); read++ {
				e := &h.Events[read]
				for _, c := range e.Changes {
					at[c.Revision] = e.At
				}
				if e.Kind == history.Deliver && e.Verb != "LIST" && e.Ref.Kind == "ConfigMap" &&
					e.At-at[e.Revision] > d+time.Second {
					return fmt.Errorf("%s rv %d was committed at %s and delivered at %s, %v later", e.Ref, e.Revision,
						history.Clock(at[e.Revision]), history.Clock(e.At), e.At-at[e.Revision])
				}
			}
			return nil
		})
		for i := range 4 {
			w.Apply(configMap("a", "k", fmt.Sprint(i)))
		}
		w.Settle()
	}, sim.Runs(200), sim.For(0))
	if r.Failure != nil {
		t.Error(r.Failure.Text())
	}
}

func TestNamedCreate(t *testing.T) {
	for _, f := range []func() fault.Fault{
		func() fault.Fault { return fault.LostReply(fault.OnVerb("create"), fault.Named("default/src-a-copy")) },
		func() fault.Fault {
			return fault.Crash("mirror", fault.OnVerb("create"), fault.Named("default/src-a-copy"))
		},
	} {
		r := sim.Explore(t, func(w *sim.World) {
			w.Start("mirror", func(mgr ctrl.Manager) error { return (&mirror{mgr.GetClient()}).SetupWithManager(mgr) })
			w.Inject(f())
			w.Apply(withRole("source", configMap("src-a", "k", "1")))
			w.Settle()
		}, sim.Runs(50), sim.For(0))
		if r.Failure != nil {
			t.Error(r.Failure.Text())
		}
		if r.Faults[0].Opportunities == 0 {
			t.Errorf("%s had no opportunity", r.Faults[0].Fault)
		}
	}
}

func TestUnreachableHearsNothing(t *testing.T) {
	r := sim.Explore(t, func(w *sim.World) {
		w.Start("p", func(mgr ctrl.Manager) error { return (&mirror{mgr.GetClient()}).SetupWithManager(mgr) })
		w.Inject(fault.StaleCache(10*time.Second), fault.Unreachable(time.Minute))
		w.Always("a process that is cut off hears nothing", func(h *history.History) error {
			var until history.Time
			for i := range h.Events {
				e := &h.Events[i]
				if e.Kind == history.Fault {
					var d string
					if _, err := fmt.Sscanf(e.Note, "Unreachable(1m0s): for %s", &d); err == nil {
						long, err := time.ParseDuration(d[:len(d)-1])
						if err != nil {
							panic(err)
						}
						until = e.At + long
					}
				}
				if e.Kind == history.Heal {
					until = 0
				}
				if e.Kind == history.Deliver && e.At < until {
					return fmt.Errorf("until %s, and %s", history.Clock(until), e.String())
				}
			}
			return nil
		})
		for i := range 4 {
			w.Apply(withRole("source", configMap("src-a", "k", fmt.Sprint(i))))
			w.Sleep(time.Second)
		}
		w.Settle()
	}, sim.Runs(300), sim.For(0))
	if r.Failure != nil {
		t.Error(r.Failure.Text())
	}
}

func TestALabelOfTwoLines(t *testing.T) {
	dir := t.TempDir()
	r := sim.Explore(t, func(w *sim.World) {
		n := sim.Draw(w, "how\nmany", rapid.IntRange(0, 1000))
		w.Always("few", func(*history.History) error {
			if n > 10 {
				return errors.New("many")
			}
			return nil
		})
		w.Apply(configMap("a"))
	}, sim.Stories(dir), sim.Runs(50), sim.For(0))
	if r.Failure == nil {
		t.Fatal("nothing broke")
	}
	if _, err := story.Read(r.Failure.File); err != nil {
		t.Error(err)
	}
}
