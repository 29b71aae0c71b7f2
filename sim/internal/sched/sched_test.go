package sched

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wavetank/wavetank/internal/story"
	"github.com/wavetank/wavetank/sim/internal/choice"
)

// fakeWorld is a world of fake actions. It records which of them were performed, and when.
type fakeWorld struct {
	*Scheduler
	performed []string
	stepped   int // calls of Stepped
	quiet     func() (woke bool)
	held      map[string]time.Duration // by order
	choices   *choice.Recorder
}

func (f *fakeWorld) Quiet() (woke bool) { return f.quiet != nil && f.quiet() }

func (f *fakeWorld) Stepped() { f.stepped++ }

func (f *fakeWorld) Held(a *Action) time.Duration { return f.held[a.Order] }

// run calls f with a new world, in a bubble. answer answers every choice; nil takes the default.
func run(t *testing.T, answer func(choice.Point) int, f func(t *testing.T, w *fakeWorld)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		if answer == nil {
			answer = func(choice.Point) int { return 0 }
		}
		w := &fakeWorld{choices: choice.New(choice.Func(answer)), held: map[string]time.Duration{}}
		w.Scheduler = New(w.choices, w)
		f(t, w)
	})
}

// action is an action with an order, due after a delay.
func (f *fakeWorld) action(order string, delay time.Duration) *Action {
	return &Action{
		Order: order, Actor: choice.Actor{Name: order},
		Delay: func() time.Duration { return delay },
		Do:    func() { f.performed = append(f.performed, fmt.Sprintf("%s@%v", order, f.Now())) },
	}
}

func (f *fakeWorld) park(orders ...string) {
	for _, order := range orders {
		f.Park(f.action(order, 0))
	}
}

// drain performs all that becomes due before a time.
func (f *fakeWorld) drain(until time.Duration) {
	for f.Step(until) {
	}
}

func (f *fakeWorld) expect(t *testing.T, want string) {
	t.Helper()
	if got := strings.Join(f.performed, " "); got != want {
		t.Errorf("performed %s, want %s", got, want)
	}
}

func TestActionsOfOnePhaseAreTakenInCanonicalOrder(t *testing.T) {
	run(t, nil, func(t *testing.T, w *fakeWorld) {
		w.park("c", "a", "b")
		w.drain(0)
		w.expect(t, "a@0s b@0s c@0s")
	})
}

func TestEqualActionsKeepTheirOrderOfArrival(t *testing.T) {
	run(t, nil, func(t *testing.T, w *fakeWorld) {
		for i := range 5 {
			a := w.action("same", 0)
			a.Do = func() { w.performed = append(w.performed, fmt.Sprint(i)) }
			w.Park(a)
		}
		w.drain(0)
		w.expect(t, "0 1 2 3 4")
	})
}

func TestTheDefaultChoiceIsTheOldestAction(t *testing.T) {
	run(t, nil, func(t *testing.T, w *fakeWorld) {
		w.park("b")
		w.Quiesce()
		w.park("a")
		w.Quiesce()
		w.drain(0)
		w.expect(t, "b@0s a@0s")
	})
}

// Of two actions the one that was due earlier is the older, whichever was parked first.
func TestAgeIsCountedFromTheDueTime(t *testing.T) {
	run(t, nil, func(t *testing.T, w *fakeWorld) {
		w.held["first"], w.held["second"] = 3*time.Second, 3*time.Second
		w.Park(w.action("first", 2*time.Second))
		w.Park(w.action("second", time.Second))
		w.drain(time.Minute)
		w.expect(t, "second@3s first@3s")
	})
}

func TestTimeMovesOnlyWhenNothingCanHappen(t *testing.T) {
	run(t, nil, func(t *testing.T, w *fakeWorld) {
		w.Park(w.action("late", 3*time.Second))
		w.Park(w.action("later", 5*time.Second))
		w.park("now", "now too")
		w.drain(4 * time.Second)
		w.expect(t, "now@0s now too@0s late@3s")
		if w.Now() != 4*time.Second {
			t.Errorf("the time is %v; Step should stop at 4s", w.Now())
		}
		if p := w.Pending(); len(p) != 1 || p[0].Order != "later" || p[0].Due() != 5*time.Second || p[0].Since() != 0 {
			t.Errorf("pending: %v", p)
		}
	})
}

// Actions park others that are due at once: the time stands still for all of them.
func TestAStepMayParkTheNextAction(t *testing.T) {
	run(t, nil, func(t *testing.T, w *fakeWorld) {
		first := w.action("first", time.Second)
		perform := first.Do
		first.Do = func() { perform(); w.park("second") }
		w.Park(first)
		w.drain(time.Minute)
		w.expect(t, "first@1s second@1s")
	})
}

func TestDelaysAreAskedInCanonicalOrderWhenTheActionIsAdmitted(t *testing.T) {
	run(t, nil, func(t *testing.T, w *fakeWorld) {
		var asked []string
		for _, order := range []string{"c", "a", "b"} {
			a := w.action(order, 0)
			a.Delay = func() time.Duration { asked = append(asked, order); return 0 }
			w.Park(a)
		}
		if len(asked) > 0 {
			t.Errorf("Park has asked for the delay of %v", asked)
		}
		w.drain(0)
		if !slices.Equal(asked, []string{"a", "b", "c"}) {
			t.Errorf("delays were asked in the order %v", asked)
		}
	})
}

func TestAnActionMayWithdrawItselfInDelay(t *testing.T) {
	run(t, nil, func(t *testing.T, w *fakeWorld) {
		a := w.action("a", 0)
		a.Delay = func() time.Duration { w.Drop(a); return 0 }
		w.Park(a)
		w.park("b")
		w.drain(0)
		w.expect(t, "b@0s")
	})
}

// The choice "next" names the actors of the due actions, the oldest first. It is asked only where
// there are several, and its answer decides.
func TestTheNextActionIsAChoice(t *testing.T) {
	var points []string
	answer := func(p choice.Point) int {
		points = append(points, fmt.Sprintf("%s of %v", p.Kind, p.Actors))
		return p.N - 1
	}
	run(t, answer, func(t *testing.T, w *fakeWorld) {
		named := w.action("b", 0)
		named.Actor = choice.Actor{Process: "op/1", Name: "worker"}
		w.Park(named)
		w.park("a", "c")
		w.drain(0)
		w.expect(t, "c@0s b@0s a@0s")
		if want := []string{"next of [ a op/1 worker  c]", "next of [ a op/1 worker]"}; !slices.Equal(points, want) {
			t.Errorf("choices: %q, want %q", points, want)
		}
	})
}

func TestFairSchedulingAsksNothingAndTakesTheOldest(t *testing.T) {
	asked := 0
	run(t, func(p choice.Point) int { asked++; return p.N - 1 }, func(t *testing.T, w *fakeWorld) {
		w.SetFair(true)
		w.park("b", "a")
		w.drain(0)
		w.expect(t, "a@0s b@0s")
		if w.choices.Choose(story.Label{Kind: story.Seed}, 2) != 0 || asked > 0 {
			t.Errorf("%d choices were asked while scheduling was fair", asked)
		}
		w.SetFair(false)
		w.park("d", "c")
		w.Disturb()
		w.drain(0)
		w.expect(t, "a@0s b@0s d@0s c@0s")
	})
}

func TestSeasonalActionsWaitWhileSchedulingIsFair(t *testing.T) {
	run(t, nil, func(t *testing.T, w *fakeWorld) {
		a := w.action("cron", time.Second)
		a.Seasonal = true
		w.Park(a)
		w.SetFair(true)
		w.drain(time.Minute)
		w.expect(t, "")
		w.SetFair(false)
		w.drain(time.Hour)
		w.expect(t, "cron@1m0s")
	})
}

func TestHeldActionsWaitUntilTheirTime(t *testing.T) {
	run(t, nil, func(t *testing.T, w *fakeWorld) {
		w.held["frozen"] = 7 * time.Second
		w.park("frozen", "free")
		w.drain(time.Minute)
		w.expect(t, "free@0s frozen@7s")
	})
}

func TestDroppedActionsDoNotHappen(t *testing.T) {
	run(t, nil, func(t *testing.T, w *fakeWorld) {
		early, late, kept := w.action("early", 0), w.action("late", time.Second), w.action("kept", 0)
		for _, a := range []*Action{early, late, kept} {
			w.Park(a)
		}
		if !w.Drop(early) || w.Drop(early) {
			t.Error("Drop must say once that the action had not happened")
		}
		w.drain(0)
		if !w.Drop(late) || !late.Happened() || len(w.Pending()) > 0 || !w.Idle() {
			t.Errorf("an admitted action was dropped and is still pending: %v", w.Pending())
		}
		if w.Drop(kept) {
			t.Error("Drop says that an action which was performed had not happened")
		}
		w.drain(time.Minute)
		w.expect(t, "kept@0s")
	})
}

func TestAWorldIsIdleWhenOnlyIdleActionsArePending(t *testing.T) {
	run(t, nil, func(t *testing.T, w *fakeWorld) {
		renewal := w.action("renewal", time.Hour)
		renewal.Idle = true
		w.Park(renewal)
		w.park("work")
		w.Quiesce()
		if w.Idle() {
			t.Error("the world is idle, and work is pending")
		}
		w.Step(0)
		if !w.Idle() || len(w.Pending()) != 1 {
			t.Errorf("the world is not idle; pending: %v", w.Pending())
		}
	})
}

// Injected delays end with the faults. What an action takes by itself stays, and idle actions keep
// their time.
func TestHurryTakesInjectedDelaysAway(t *testing.T) {
	run(t, nil, func(t *testing.T, w *fakeWorld) {
		slow, idle := w.action("slow", time.Hour), w.action("idle", 3*time.Second)
		slow.Own, idle.Idle = 2*time.Second, true
		w.Park(slow)
		w.Park(idle)
		w.Park(w.action("injected", time.Hour))
		w.drain(time.Second)
		w.Hurry()
		w.drain(time.Minute)
		w.expect(t, "injected@1s slow@2s idle@3s")
	})
}
