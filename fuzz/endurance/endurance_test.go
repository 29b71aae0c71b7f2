package endurance

import (
	"flag"
	"fmt"
	"testing"
	"time"

	"github.com/wavetank/wavetank/fuzz/internal/usage"
	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/sim"
)

var full = flag.Bool("soak.full", false,
	"ten controllers with 1,000 objects each for ten hours, twice, instead of a small world")

// window is what a run keeps of its record: longer than any fault lasts.
const window = 5 * time.Minute

// hourly is what is measured at the end of an hour.
type hourly struct {
	events int
	heap   uint64
}

// TestSoak makes one run, and the same once more: with a world that holds out, both have the same
// history.
func TestSoak(t *testing.T) {
	size := Small
	if *full {
		size = Full
	}
	before, cpu := usage.Heap(), usage.CPU()
	var hours []hourly
	var hashes []uint64
	day := Day(size, func(hour int, w *sim.World) {
		h := w.History()
		hours = append(hours, hourly{h.Len(), usage.Heap()})
		if *full {
			fmt.Printf("hour %2d: %s of virtual time, %7d events, heap %4d MB, %.0f s of CPU time\n", hour,
				history.Clock(h.Now()), h.Len(),
				hours[len(hours)-1].heap>>20, (usage.CPU() - cpu).Seconds())
		}
		if hour == size.Hours {
			hashes = append(hashes, h.Hash())
		}
	})
	r := sim.Explore(t, func(w *sim.World) {
		w.Always("the record is sound", sound())
		day(w)
	}, sim.Runs(1), sim.For(0), sim.Verify(1), sim.Shrink(0), sim.Strategy("storm"), sim.Seed(1),
		sim.MaxSteps(1<<40), sim.Window(window))
	if r.Failure != nil {
		t.Fatal(r.Failure.Text())
	}
	if r.Doubled != 1 || len(hashes) != 2 || hashes[0] != hashes[1] {
		t.Errorf("%d runs were doubled, and the histories have the hashes %x", r.Doubled, hashes)
	}
	if r.Virtual < time.Duration(size.Hours)*time.Hour {
		t.Errorf("the run took %v of virtual time, not %d hours", r.Virtual, size.Hours)
	}
	idle := 0
	for _, f := range r.Faults {
		if f.Injected == 0 {
			idle++
			if *full {
				t.Errorf("%s was never injected at %d opportunities", f.Fault, f.Opportunities)
			}
		}
	}
	if idle > len(r.Faults)/2 {
		t.Errorf("%d of %d faults were never injected", idle, len(r.Faults))
	}
	flat(t, before, hours[:size.Hours+1])
	t.Logf("a run of %d steps, %d reconciles, %d requests and %v of virtual time; both runs took %.0f s of CPU time "+
		"and %.0f s", r.Steps, r.Reconciles,
		r.Requests, r.Virtual.Round(time.Second), (usage.CPU() - cpu).Seconds(), r.Elapsed.Seconds())
}

// flat asks that a run needs no more memory the longer it is, and that nothing is left of it. What
// may grow a little is the choice sequence, the marks of events and the ledger of effects:
// without a window, the heap grows fivefold from there.
func flat(t *testing.T, before uint64, hours []hourly) {
	const slack = 16 << 20 // what libraries keep of what they have seen
	var at [5]hourly
	for i := range at {
		at[i] = hours[i*(len(hours)-1)/4]
	}
	for _, later := range at[2:] {
		if later.heap > at[1].heap+at[1].heap/4+slack {
			t.Errorf("the heap has grown from %d MB after %d events to %d MB after %d", at[1].heap>>20, at[1].events,
				later.heap>>20, later.events)
		}
	}
	after := usage.Heap()
	if after > before+slack {
		t.Errorf("after the runs the heap holds %d MB, %d MB before", after>>20, before>>20)
	}
	t.Logf("heap: %d MB before, %d MB after a quarter of the run, %d MB after a half, %d MB after three, "+
		"%d MB at its end, %d MB afterwards", before>>20,
		at[1].heap>>20, at[2].heap>>20, at[3].heap>>20, at[4].heap>>20, after>>20)
}

// sound checks, as it happens, what must be so in the record of any run.
func sound() func(*history.History) error {
	c, read := &checker{over: map[string]bool{}, under: map[history.KeyID]history.Reconcile{},
		open: map[string]map[int]bool{}}, 0
	return func(h *history.History) error {
		for events := h.Since(read); len(events) > 0; events = events[1:] {
			e := &events[0]
			if what := c.check(e, read); what != "" {
				return fmt.Errorf("event %d, %s by %s at %s: %s", read, e.Kind, e.Actor(), history.Clock(e.At), what)
			}
			read++
		}
		return nil
	}
}

type checker struct {
	at                history.Time
	step              int
	server, committed int64
	over              map[string]bool                     // lives
	under             map[history.KeyID]history.Reconcile // the reconcile of each key that is under way, by life
	open              map[string]map[int]bool             // requests without an answer, by life
}

// check says what is wrong with an event.
func (c *checker) check(e *history.Event, index int) string {
	switch {
	case e.Index != index:
		return fmt.Sprintf("its index is %d", e.Index)
	case e.At < c.at || e.Step < c.step || e.Server < c.server:
		return fmt.Sprintf("time, step or revision goes back: %v %d %d after %v %d %d", e.At, e.Step, e.Server, c.at,
			c.step, c.server)
	case c.over[e.Actor()] && e.Kind != history.Fault:
		return "its life is over"
	}
	c.at, c.step, c.server = e.At, e.Step, e.Server
	for _, ch := range e.Changes {
		if ch.Revision <= c.committed || ch.Revision > c.server {
			return fmt.Sprintf("it commits revision %d after %d, and the server is at %d", ch.Revision, c.committed,
				c.server)
		}
		c.committed = ch.Revision
	}
	key := e.KeyID()
	switch e.Kind {
	case history.Start:
		c.end(fmt.Sprintf("%s/%d", e.Process, e.Incarnation-1))
	case history.Crash:
		c.end(e.Actor())
	case history.Dequeue:
		if !c.under[key].None() {
			return fmt.Sprintf("%s begins while %s is under way", e.Reconcile, c.under[key])
		}
		c.under[key] = e.Reconcile
	case history.Done:
		if c.under[key] != e.Reconcile {
			return fmt.Sprintf("%s ends while %q is under way", e.Reconcile, c.under[key].String())
		}
		delete(c.under, key)
	case history.Request:
		if c.open[e.Actor()] == nil {
			c.open[e.Actor()] = map[int]bool{}
		}
		c.open[e.Actor()][index] = true
	case history.Reply:
		if e.Call >= 0 && !c.open[e.Actor()][e.Call] { // one that was lost on its way answers event -1
			return fmt.Sprintf("it answers event %d, which asked for nothing or has been answered", e.Call)
		}
		delete(c.open[e.Actor()], e.Call)
	}
	return ""
}

func (c *checker) end(life string) {
	c.over[life] = true
	delete(c.open, life)
}

// TestSoundComplains gives it records that cannot be.
func TestSoundComplains(t *testing.T) {
	key := history.Key{Controller: "c", Namespace: "n", Name: "o"}
	for what, events := range map[string][]history.Event{
		"time goes back": {{Kind: history.Fault, At: 2}, {Kind: history.Fault, At: 1}},
		"a life after its end": {{Kind: history.Crash, Process: "p", Incarnation: 1},
			{Kind: history.Done, Process: "p", Incarnation: 1}},
		"two at once": {{Kind: history.Dequeue, Reconcile: history.Reconcile{Key: key, N: 1}},
			{Kind: history.Dequeue, Reconcile: history.Reconcile{Key: key, N: 2}}},
		"an end of nothing": {{Kind: history.Done, Reconcile: history.Reconcile{Key: key, N: 1}}},
		"two answers":       {{Kind: history.Request}, {Kind: history.Reply}, {Kind: history.Reply}},
		"another's answer":  {{Kind: history.Request, Process: "p"}, {Kind: history.Reply, Process: "q"}},
		"a future revision": {{Kind: history.Request, Changes: []history.Change{{Revision: 7}}}},
	} {
		var h history.History
		for _, e := range events {
			h.Add(e)
		}
		if sound()(&h) == nil {
			t.Errorf("%s: no complaint", what)
		}
	}
}
