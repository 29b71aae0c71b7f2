package soak

import (
	"flag"
	"fmt"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/history"
)

var full = flag.Bool("soak.full", false, "ten controllers with 1,000 objects each for ten hours, twice, instead of a small world")

// hourly is what is measured at the end of an hour.
type hourly struct {
	events int
	heap   uint64
}

// TestSoak makes one run, and the same once more: with a world that holds out, both have the same history.
func TestSoak(t *testing.T) {
	size := Small
	if *full {
		size = Full
	}
	before, cpu := heap(), used()
	var hours []hourly
	var hashes []uint64
	var broken error
	r := sim.Explore(t, Day(size, func(hour int, w *sim.World) {
		h := w.History()
		hours = append(hours, hourly{len(h.Events), heap()})
		if *full {
			fmt.Printf("hour %2d: %s of virtual time, %7d events, heap %4d MB, %.0f s of CPU time\n", hour, history.Clock(h.Now()), len(h.Events),
				hours[len(hours)-1].heap>>20, (used() - cpu).Seconds())
		}
		if hour == size.Hours {
			hashes = append(hashes, h.Hash())
			if err := sound(h); err != nil {
				broken = err
			}
		}
	}), sim.Runs(1), sim.For(0), sim.Verify(1), sim.Shrink(0), sim.Strategy("storm"), sim.Seed(1), sim.MaxSteps(1<<40))
	if r.Failure != nil {
		t.Fatal(r.Failure.Text())
	}
	if broken != nil {
		t.Error(broken)
	}
	if r.Doubled != 1 || len(hashes) != 2 || hashes[0] != hashes[1] {
		t.Errorf("%d runs were doubled, and the histories have the hashes %x", r.Doubled, hashes)
	}
	if r.Virtual < time.Duration(size.Hours)*time.Hour {
		t.Errorf("the run took %v of virtual time, not %d hours", r.Virtual, size.Hours)
	}
	idle := 0
	for _, f := range r.Faults {
		if f.Struck == 0 {
			idle++
			if *full {
				t.Errorf("%s never struck, though it could have %d times", f.Fault, f.Could)
			}
		}
	}
	if idle > len(r.Faults)/2 {
		t.Errorf("%d of %d faults never struck", idle, len(r.Faults))
	}
	flat(t, before, hours[:size.Hours+1])
	t.Logf("a run of %d steps, %d reconciles, %d requests and %v of virtual time; both runs took %.0f s of CPU time and %.0f s", r.Steps, r.Reconciles,
		r.Requests, r.Virtual.Round(time.Second), (used() - cpu).Seconds(), r.Elapsed.Seconds())
}

// flat asks that a run needs memory for its record and for nothing that grows beside it, and that nothing is left of it.
func flat(t *testing.T, before uint64, hours []hourly) {
	first, last := hours[1], hours[len(hours)-1]
	if a, b := first.heap/uint64(first.events), last.heap/uint64(last.events); b > a+a/4 {
		t.Errorf("the heap has grown from %d to %d bytes an event between the first hour and the last", a, b)
	}
	const slack = 16 << 20 // what libraries keep of what they have seen
	after := heap()
	if after > before+slack {
		t.Errorf("after the runs the heap holds %d MB, %d MB before", after>>20, before>>20)
	}
	t.Logf("heap: %d MB before, %d MB in the first hour, %d MB in the last, %d MB afterwards", before>>20, first.heap>>20, last.heap>>20, after>>20)
}

func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// used is the CPU time of this process.
func used() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// sound checks what must be so in the record of any run, whatever happens in it.
func sound(h *history.History) error {
	var at history.Time
	var step int
	var server, committed int64
	over := map[string]bool{}    // lives
	under := map[string]string{} // the reconcile of each key that is under way, by life
	answered := map[int]bool{}   // requests
	for i := range h.Events {
		e := &h.Events[i]
		wrong := func(format string, args ...any) error {
			return fmt.Errorf("event %d, %s by %s at %s: %s", i, e.Kind, e.Actor(), history.Clock(e.At), fmt.Sprintf(format, args...))
		}
		switch {
		case e.Index != i:
			return wrong("its index is %d", e.Index)
		case e.At < at || e.Step < step || e.Server < server:
			return wrong("time, step or revision goes back: %v %d %d after %v %d %d", e.At, e.Step, e.Server, at, step, server)
		case over[e.Actor()] && e.Kind != history.Fault:
			return wrong("its life is over")
		}
		at, step, server = e.At, e.Step, e.Server
		for _, c := range e.Changes {
			if c.Revision <= committed || c.Revision > server {
				return wrong("it commits revision %d after %d, and the server is at %d", c.Revision, committed, server)
			}
			committed = c.Revision
		}
		key := e.Actor() + " " + e.Reconcile[:strings.LastIndex(e.Reconcile, "#")+1]
		switch e.Kind {
		case history.Start:
			over[fmt.Sprintf("%s/%d", e.Process, e.Life-1)] = true
		case history.Crash:
			over[e.Actor()] = true
		case history.Handout:
			if under[key] != "" {
				return wrong("%s begins while %s is under way", e.Reconcile, under[key])
			}
			under[key] = e.Reconcile
		case history.Done:
			if under[key] != e.Reconcile {
				return wrong("%s ends while %q is under way", e.Reconcile, under[key])
			}
			delete(under, key)
		case history.Reply:
			if e.Call < 0 {
				break // the request was lost on its way
			}
			if q := &h.Events[e.Call]; q.Kind != history.Request || q.Actor() != e.Actor() || answered[e.Call] || e.Call >= i {
				return wrong("it answers event %d, %s by %s", e.Call, q.Kind, q.Actor())
			}
			answered[e.Call] = true
		}
	}
	return nil
}

// TestSoundComplains gives it records that cannot be.
func TestSoundComplains(t *testing.T) {
	for what, events := range map[string][]history.Event{
		"time goes back":       {{Kind: history.Fault, At: 2}, {Kind: history.Fault, At: 1}},
		"a life after its end": {{Kind: history.Crash, Process: "p", Life: 1}, {Kind: history.Done, Process: "p", Life: 1}},
		"two at once":          {{Kind: history.Handout, Reconcile: "c n/o #1"}, {Kind: history.Handout, Reconcile: "c n/o #2"}},
		"an end of nothing":    {{Kind: history.Done, Reconcile: "c n/o #1"}},
		"two answers":          {{Kind: history.Request}, {Kind: history.Reply}, {Kind: history.Reply}},
		"a future revision":    {{Kind: history.Request, Changes: []history.Change{{Revision: 7}}}},
	} {
		var h history.History
		for _, e := range events {
			h.Add(e)
		}
		if sound(&h) == nil {
			t.Errorf("%s: no complaint", what)
		}
	}
}
