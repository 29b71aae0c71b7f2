package sched

import (
	"slices"
	"testing"
	"time"

	"github.com/wavetank/wavetank/sim/internal/choice"
)

// One step performs one action. When Step returns, the goroutines that the action woke are blocked
// again, and the actions that they parked are for the next step.
func TestAStepIsOneActionAndThenQuiescence(t *testing.T) {
	run(t, nil, func(t *testing.T, w *fakeWorld) {
		wake, ready := make(chan bool, 1), false
		go func() {
			<-wake
			ready = true
			w.park("c")
		}()
		a := w.action("a", 0)
		a.Do = func() {
			if !w.Performing() {
				t.Error("Performing is false while an action is performed")
			}
			wake <- true
		}
		w.Park(a)
		w.park("b")
		for i, want := range []string{"", "b@0s", "b@0s c@0s"} {
			if !w.Step(0) || w.Steps() != i+1 || w.stepped != i+1 {
				t.Errorf("step %d: the scheduler counts %d and its observer %d", i+1, w.Steps(), w.stepped)
			}
			w.expect(t, want)
			if !ready || w.Performing() {
				t.Errorf("step %d has returned before the goroutine that it woke was blocked", i+1)
			}
		}
		if w.Step(0) {
			t.Error("there was a fourth step")
		}
	})
}

func TestQuiesceTakesActionsInAndPerformsNone(t *testing.T) {
	run(t, nil, func(t *testing.T, w *fakeWorld) {
		w.park("a")
		if len(w.Pending()) > 0 {
			t.Error("the action is pending before the bubble was quiet")
		}
		w.Quiesce()
		w.expect(t, "")
		if p := w.Pending(); len(p) != 1 || p[0].Happened() {
			t.Errorf("pending: %v", p)
		}
	})
}

// An observer may resume goroutines when all are blocked. The scheduler waits until it has no more
// to wake.
func TestQuiesceWaitsForGoroutinesThatTheObserverWakes(t *testing.T) {
	run(t, nil, func(t *testing.T, w *fakeWorld) {
		turns := 0
		w.quiet = func() bool {
			if turns == 3 {
				return false
			}
			turns++
			go w.park("woken")
			return true
		}
		w.Quiesce()
		if len(w.Pending()) != 3 {
			t.Errorf("%d actions are pending; the observer has woken 3 goroutines that park one each", len(w.Pending()))
		}
	})
}

// Notes run in canonical order on the scheduling goroutine, before the observer is notified of the
// quiet.
func TestNotesRunInOrderAtTheNextQuietMoment(t *testing.T) {
	run(t, nil, func(t *testing.T, w *fakeWorld) {
		var got []string
		w.quiet = func() bool { got = append(got, "quiet"); return false }
		for _, order := range []string{"c", "a", "b"} {
			go w.Note(order, func() { got = append(got, order) })
		}
		w.Quiesce()
		if want := []string{"a", "b", "c", "quiet"}; !slices.Equal(got, want) {
			t.Errorf("%v, want %v", got, want)
		}
		w.Quiesce()
		if len(got) != 5 {
			t.Errorf("a note ran twice: %v", got)
		}
	})
}

// A timer of the world's fires before the next action is due. Step returns then, so that its caller
// can judge the new situation, and the time is the timer's.
func TestAGoroutineThatWakesTheSchedulerEndsTheStep(t *testing.T) {
	run(t, nil, func(t *testing.T, w *fakeWorld) {
		w.Park(w.action("late", time.Hour))
		go func() {
			time.Sleep(time.Second)
			w.Wake()
		}()
		if !w.Step(2*time.Hour) || w.Now() != time.Second || w.Steps() != 0 {
			t.Errorf("Step has returned at %v after %d steps; the timer fires at 1s", w.Now(), w.Steps())
		}
		w.drain(2 * time.Hour)
		w.expect(t, "late@1h0m0s")
	})
}

// A goroutine whose timer fires as an action becomes due has its turn before the scheduler decides:
// what it parks is one of the alternatives.
func TestTimersOfTheSameInstantComeFirst(t *testing.T) {
	run(t, takeLast, func(t *testing.T, w *fakeWorld) {
		w.Park(w.action("a", time.Second))
		go func() {
			time.Sleep(time.Second)
			w.park("b")
		}()
		w.drain(time.Minute)
		w.expect(t, "b@1s a@1s")
	})
}

func takeLast(p choice.Point) int { return p.N - 1 }

// A wake-up of this phase was taken in with it and does not end the time that passes next.
func TestAnOldWakeUpIsForgotten(t *testing.T) {
	run(t, nil, func(t *testing.T, w *fakeWorld) {
		w.Wake()
		if w.Step(time.Second) || w.Now() != time.Second {
			t.Errorf("Step has ended at %v because of a wake-up before it", w.Now())
		}
	})
}

func TestCurrentIsWhatTheStepSaysUntilTimePasses(t *testing.T) {
	run(t, nil, func(t *testing.T, w *fakeWorld) {
		var seen any
		a := w.action("a", 0)
		a.Do = func() { w.SetCurrent("reply to b"); go func() { seen = w.Current() }() }
		w.Park(a)
		w.drain(0)
		if seen != "reply to b" {
			t.Errorf("a goroutine of the step sees %v as its cause", seen)
		}
		w.drain(time.Second)
		if w.Current() != nil {
			t.Errorf("after time has passed the cause is %v", w.Current())
		}
	})
}

// Code that works between two steps calls Disturb. The next step then admits the actions that
// arrived before it decides.
func TestDisturbMakesTheNextStepLookFirst(t *testing.T) {
	for disturbed, want := range map[bool]string{true: "c@0s a@0s b@0s", false: "c@0s b@0s a@0s"} {
		run(t, takeLast, func(t *testing.T, w *fakeWorld) {
			w.park("b", "c")
			w.Step(0)
			w.park("a")
			if disturbed {
				w.Disturb()
			}
			w.drain(0)
			w.expect(t, want)
		})
	}
}

// The same world makes the same run, whatever order its goroutines come in.
func TestRunsRepeat(t *testing.T) {
	var first []string
	for i := range 20 {
		run(t, choice.NewRandom(7).Choose, func(t *testing.T, w *fakeWorld) {
			orders := []string{"a", "b", "c", "d", "e", "f"}
			for j := range orders {
				go w.park(orders[(i+j)%len(orders)])
			}
			w.drain(time.Minute)
			if i == 0 {
				first = w.performed
			} else if !slices.Equal(w.performed, first) {
				t.Errorf("run %d performed %v and the first one %v", i, w.performed, first)
			}
		})
	}
}
