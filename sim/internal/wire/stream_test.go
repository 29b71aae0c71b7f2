package wire

import (
	"context"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wavetank/wavetank/models/apiserver"
)

const watchConfigMaps = configMaps + "?watch=1&resourceVersion=1"

// watch opens a watch of all ConfigMaps, in two steps.
func (w *world) watch(ctx context.Context, p http.RoundTripper, url string) {
	w.send(ctx, p, http.MethodGet, url, "")
	w.Sched.Disturb()
	opened := len(w.Watches.Streams()) + 1
	for len(w.Watches.Streams()) < opened && w.Sched.Step(w.Sched.Now()+time.Second) {
	}
}

// Every event of a watch is a step of its own, in the order of the commits.
func TestWatchEventsAreSteps(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		w.watch(context.Background(), w.program("p"), watchConfigMaps)
		for _, name := range []string{"b", "a", "c"} {
			w.commit(t, name)
		}
		expect(t, "behind", w.Watches.Streams()[0].Behind(), 3)
		for _, want := range []string{"[ADDED b]", "[ADDED b ADDED a]", "[ADDED b ADDED a ADDED c]"} {
			w.Sched.Step(time.Second)
			expect(t, "streamed", w.streamed, want)
		}
		expect(t, "behind", w.Watches.Streams()[0].Behind(), 0)
		expect(t, "cause", w.Sched.Current(), "watch(ConfigMap ADDED)")
	})
}

// An event that lags keeps those behind it back: a stream is never out of order.
func TestALaggingEventKeepsTheNextOnesBack(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		w.lag = func(f apiserver.Frame) time.Duration {
			return map[string]time.Duration{"slow": time.Minute}[f.Name]
		}
		w.watch(context.Background(), w.program("p"), watchConfigMaps)
		w.commit(t, "slow")
		w.commit(t, "fast")
		w.drain(59 * time.Second)
		expect(t, "streamed before the lag is over", w.streamed, "[]")
		w.drain(61 * time.Second)
		expect(t, "streamed when it is over", w.streamed, "[ADDED slow ADDED fast]")
	})
}

// Two streams are independent of each other: the default choice delivers to both, each in its
// order.
func TestStreamsOfTwoProcesses(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		for _, name := range []string{"q", "p"} {
			w.watch(context.Background(), w.program(name), watchConfigMaps)
		}
		w.commit(t, "a")
		w.commit(t, "b")
		var to []string
		w.drain(w.Sched.Now())
		for _, e := range w.History.Events {
			if e.Verb == "ADDED" {
				to = append(to, e.Process+" "+e.Ref.Name)
			}
		}
		expect(t, "deliveries", to, "[p a q a p b q b]")
	})
}

// What becomes of a stream whose next event is due.
func TestFates(t *testing.T) {
	for name, c := range map[string]struct {
		fate     Fate
		streamed string
		open     int
		lost     int // watches
	}{
		"arrives": {Arrives, "[ADDED a]", 1, 0},
		"drops":   {Drops, "[EOF]", 0, 1},
		"expires": {Expires, "[ERROR EOF]", 0, 1},
	} {
		t.Run(name, func(t *testing.T) {
			run(t, func(t *testing.T, w *world) {
				w.fate = func(apiserver.Frame) Fate { return c.fate }
				w.watch(context.Background(), w.program("p"), watchConfigMaps)
				w.commit(t, "a")
				w.drain(w.Sched.Now())
				expect(t, "streamed", w.streamed, c.streamed)
				expect(t, "open streams", len(w.Watches.Streams()), c.open)
				expect(t, "lost watches", len(w.Watches.Lost()), c.lost)
			})
		})
	}
}

// A waiting event lags again each time that it is due.
func TestAWaitingEventLagsAgain(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		times := 0
		w.lag = func(apiserver.Frame) time.Duration { return 10 * time.Second }
		w.fate = func(apiserver.Frame) Fate {
			if times++; times < 3 {
				return Waits
			}
			return Arrives
		}
		w.watch(context.Background(), w.program("p"), watchConfigMaps)
		opened := w.Sched.Now()
		w.commit(t, "a")
		w.drain(opened + 29*time.Second)
		expect(t, "streamed after two turns", w.streamed, "[]")
		w.drain(opened + 31*time.Second)
		expect(t, "streamed after three turns", w.streamed, "[ADDED a]")
	})
}

// The initial events of a watch-list come in one step, as one list would. An informer of a
// program's own has to list instead.
func TestAWatchListIsOneStep(t *testing.T) {
	const list = configMaps + "?watch=1&sendInitialEvents=true" +
		"&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true"
	run(t, func(t *testing.T, w *world) {
		w.commit(t, "a")
		w.commit(t, "b")
		p := w.program("p")
		own := w.send(context.Background(), p, http.MethodGet, list, "")
		expect(t, "answer to an informer of its own", own, http.StatusUnprocessableEntity)
		w.watch(WithSortedInformer(context.Background()), p, list)
		before := w.Sched.Steps()
		w.drain(w.Sched.Now())
		expect(t, "streamed", w.streamed, "[ADDED a ADDED b BOOKMARK]")
		expect(t, "steps", w.Sched.Steps()-before, 1)
		last := w.History.Events[len(w.History.Events)-1]
		expect(t, "event", last.Verb+" "+last.Note, "LIST 2 initial")
	})
}

// The server ends a watch after 5 to 10 minutes. How long is derived from what is watched, as the
// random time in the request is drawn in no order that the harness chooses.
func TestTheServerEndsOldWatches(t *testing.T) {
	ends := func(timeout string) (at time.Duration) {
		run(t, func(t *testing.T, w *world) {
			w.watch(context.Background(), w.program("p"), watchConfigMaps+timeout)
			if !w.Sched.Idle() {
				t.Error("an open watch keeps the world from being idle")
			}
			w.drain(4*time.Minute + 59*time.Second)
			for len(w.Watches.Streams()) > 0 && w.Sched.Step(time.Hour) {
			}
			at = w.Sched.Now()
			expect(t, "streamed", w.streamed, "[EOF]")
		})
		return at
	}
	one, other := ends("&timeoutSeconds=311"), ends("&timeoutSeconds=599")
	if one != other || one < 5*time.Minute || one > 10*time.Minute+time.Second {
		t.Errorf("watches that asked for 311 and 599 s ended at %v and %v", one, other)
	}
	expect(t, "end of a watch that asked for less", ends("&timeoutSeconds=299"), 299*time.Second+2*time.Millisecond)
}

// Watches without events last longer and longer, so that a long time takes few steps. An event
// makes them as short as before.
func TestWatchesWithoutEventsLastLonger(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		p := w.program("p")
		lasts := func() time.Duration {
			w.watch(context.Background(), p, watchConfigMaps+"&timeoutSeconds=400")
			begun := w.Sched.Now()
			for len(w.Watches.Streams()) > 0 && w.Sched.Step(w.Sched.Now()+100*24*time.Hour) {
			}
			return w.Sched.Now() - begun
		}
		usual := lasts()
		for range usualTimeouts - 1 {
			expect(t, "a watch without an event", lasts(), usual)
		}
		const wire = 10 * time.Second
		if d := lasts(); d < 2*usual-wire || d > 2*usual+wire {
			t.Errorf("after %d watches without an event the next lasts %v instead of twice %v", usualTimeouts, d, usual)
		}
		before := w.Sched.Steps()
		for w.Sched.Now() < 100*24*time.Hour {
			lasts()
		}
		if n := w.Sched.Steps() - before; n > 400 {
			t.Errorf("100 days take %d steps", n)
		}
		w.watch(context.Background(), p, watchConfigMaps+"&timeoutSeconds=400")
		begun := w.Sched.Now()
		w.commit(t, "a")
		w.Sched.Disturb()
		for len(w.Watches.Streams()) > 0 && w.Sched.Step(begun+100*24*time.Hour) {
		}
		if d := w.Sched.Now() - begun; d > usual+wire {
			t.Errorf("after an event the watch lasts %v", d)
		}
	})
}

// A reader that closes its stream needs no step; the server forgets the stream at the next quiet
// moment.
func TestAClosedStreamIsForgotten(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		w.watch(context.Background(), w.program("p"), watchConfigMaps)
		s := w.Watches.Streams()[0]
		s.body.Close()
		w.Sched.Quiesce()
		expect(t, "open streams", len(w.Watches.Streams()), 0)
		expect(t, "pending actions", len(w.Sched.Pending()), 0)
		w.commit(t, "a")
		w.drain(time.Minute)
		expect(t, "streamed", w.streamed, "[EOF]")
	})
}

// A stream whose context ends is closed in a step of its own.
func TestACancelledStreamEndsInAStep(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		ctx, cancel := context.WithCancel(context.Background())
		w.watch(ctx, w.program("p"), watchConfigMaps)
		cancel()
		synctest.Wait()
		expect(t, "streamed before the step", w.streamed, "[]")
		w.Sched.Disturb()
		w.Sched.Step(time.Second)
		expect(t, "streamed after it", w.streamed, "[EOF]")
		expect(t, "open streams", len(w.Watches.Streams()), 0)
	})
}

// The streams of a process that was killed end without a word, and nothing more is delivered to it.
func TestAStreamEndsWithItsProcess(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		p := w.program("p")
		ctx, cancel := context.WithCancel(context.Background())
		w.watch(ctx, p, watchConfigMaps)
		w.Bury(p.Port)
		w.commit(t, "a")
		w.drain(time.Minute)
		expect(t, "streamed", w.streamed, "[]")
		expect(t, "open streams", len(w.Watches.Streams()), 0)
		steps := w.Sched.Steps()
		cancel() // its context ends with it
		w.drain(time.Minute)
		expect(t, "streamed at its end", w.streamed, "[EOF]")
		expect(t, "steps of its end", w.Sched.Steps()-steps, 0)
	})
}
