// This file exists for what happens: each telling is a scenario that asks one question of a variant, under faults.

package promotion

import (
	"time"

	"github.com/wavetank/wavetank/controllers/promotion"
	"github.com/wavetank/wavetank/sim"
)

// The sentences under which the properties are declared.
const (
	AttemptedOnce   = "each revision is attempted at most once"
	TakesEffectOnce = "each revision takes effect at most once"
	oncePerStay     = "a revision takes effect no more often than it came to the first environment"
	inOrder         = "an environment gets only what the one before it has proved"
	notStale        = "nothing outdated is promoted"
	complete        = "nothing is promoted while a target cannot be read"
	Everywhere      = "every environment gets its revision"
	isRecorded      = "every promotion is recorded"
	statusIsTrue    = "the status says what is the case"
	noLivelock      = "nothing is tried in vain again and again"
	recordedSoon    = "an order is recorded as soon as it is given"
	actionable      = "the status says what is being waited for"
	ToldOnce        = "a CI is told at most once of each revision"
	Told            = "a CI is told of each revision"
)

// dwell is how long a telling watches where it must not ask the world to settle, because one of its variants never does.
const dwell = 3 * time.Minute

// quietly opens the story with everything at v1 before the operator has anything to do, so that what follows is the
// only reason to run.
func quietly(w *sim.World, v promotion.Variant, environments ...string) *Story {
	s := Begin(w, v, environments...)
	s.Apply(Namespace("shop"))
	for _, env := range environments {
		s.Apply(Namespace(env), App(env))
		s.Runs(env, "v1")
	}
	s.Apply(Pipeline(environments...))
	w.Sleep(dwell)
	return s
}

// OneEvent is the default trace: dev reports a new revision once, in a world that is otherwise at rest.
func OneEvent(v promotion.Variant, faults ...sim.Fault) func(*sim.World) {
	return func(w *sim.World) {
		s := quietly(w, v, "dev", "staging")
		w.Inject(faults...)
		w.Always(AttemptedOnce, s.Git.AttemptedOncePerRevision)
		s.Runs("dev", "v2")
		w.Sleep(dwell)
	}
}

// Burst is what Flux really does around a rollout: it writes the application's status several times.
func Burst(v promotion.Variant, faults ...sim.Fault) func(*sim.World) {
	return func(w *sim.World) {
		s := quietly(w, v, "dev", "staging")
		w.Inject(faults...)
		w.Always(AttemptedOnce, s.Git.AttemptedOncePerRevision)
		s.Struggles("dev", "v2")
		for range 3 {
			s.Runs("dev", "v2")
			w.Sleep(5 * time.Millisecond)
			s.Struggles("dev", "v2")
		}
		s.Runs("dev", "v2")
		w.Sleep(dwell)
	}
}

// OneEffect is OneEvent, but asks how often the promotion takes effect, not how often it is attempted.
func OneEffect(v promotion.Variant, faults ...sim.Fault) func(*sim.World) {
	return func(w *sim.World) {
		s := quietly(w, v, "dev", "staging")
		w.Inject(faults...)
		w.Always(TakesEffectOnce, s.Git.OncePerRevision)
		s.Runs("dev", "v2")
		w.Sleep(dwell)
	}
}

// Arrives asks whether a revision gets everywhere in the end.
func Arrives(v promotion.Variant, faults ...sim.Fault) func(*sim.World) {
	return func(w *sim.World) {
		s := Begin(w, v, "dev", "staging", "prod")
		w.Inject(faults...)
		w.Eventually(Everywhere, s.Promoted)
		s.Open()
		s.Runs("dev", "v1")
		w.Settle()
		for range 2 { // staging, then prod
			s.Deliver()
			w.Settle()
		}
	}
}

// Returns rolls dev back to what it ran before, and asks for that to arrive too.
func Returns(v promotion.Variant, faults ...sim.Fault) func(*sim.World) {
	return func(w *sim.World) {
		s := Begin(w, v, "dev", "staging")
		w.Inject(faults...)
		w.Eventually(Everywhere, s.Promoted)
		s.returns()
	}
}

// ReturnsOnce is Returns, but asks whether each stay of dev at a revision is promoted only once.
func ReturnsOnce(v promotion.Variant, faults ...sim.Fault) func(*sim.World) {
	return func(w *sim.World) {
		s := Begin(w, v, "dev", "staging")
		w.Inject(faults...)
		w.Always(oncePerStay, s.OncePerStay)
		s.returns()
	}
}

func (s *Story) returns() {
	s.Open()
	s.Runs("dev", "v1")
	s.Settle()
	s.Deliver()
	for _, revision := range []string{"v2", "v1", "v2"} {
		s.Runs("dev", revision)
		s.Settle()
		s.Deliver()
	}
	s.Settle()
}

// Late lets one target appear after the pipeline, and no pipeline event tells of it.
func Late(v promotion.Variant, faults ...sim.Fault) func(*sim.World) {
	return func(w *sim.World) {
		s := Begin(w, v, "dev", "staging")
		w.Inject(faults...)
		w.Eventually(statusIsTrue, s.StatusIsTrue)
		s.Apply(Namespace("shop"), Namespace("dev"), Namespace("staging"), App("dev"), Pipeline("dev", "staging"))
		w.Sleep(time.Minute)
		s.Apply(App("staging"))
		w.Settle()
	}
}

// Truthful asks whether the status comes to say what is the case after a burst. A variant that ignores its own status
// writes may compare what it sees with a stale copy of its status, find no difference, write nothing, and never be woken
// again: this is not in the thread, the runs found it.
func Truthful(v promotion.Variant, faults ...sim.Fault) func(*sim.World) {
	return func(w *sim.World) {
		s := quietly(w, v, "dev", "staging")
		w.Inject(faults...)
		w.Eventually(statusIsTrue, s.StatusIsTrue)
		for range 3 {
			s.Struggles("dev", "v2")
			s.Runs("dev", "v2")
		}
		w.Settle()
	}
}

// Conduct asks nothing of the outcome, only how the operator goes about it.
func Conduct(v promotion.Variant, faults ...sim.Fault) func(*sim.World) {
	return func(w *sim.World) {
		s := quietly(w, v, "dev", "staging")
		w.Inject(faults...)
		w.Always(noLivelock, s.NoLivelock)
		s.Runs("dev", "v2")
		w.Sleep(dwell)
	}
}

// Bookkeeping is OneEvent, but asks for the record.
func Bookkeeping(v promotion.Variant, faults ...sim.Fault) func(*sim.World) {
	return func(w *sim.World) {
		s := quietly(w, v, "dev", "staging")
		w.Inject(faults...)
		w.Always(recordedSoon, s.RecordedSoon)
		s.Runs("dev", "v2")
		w.Sleep(dwell)
	}
}

// Waits lets a pipeline wait: for a target, for dev to become ready, for people or for the forge.
func Waits(v promotion.Variant, faults ...sim.Fault) func(*sim.World) {
	return func(w *sim.World) {
		s := Begin(w, v, "dev", "staging")
		w.Inject(faults...)
		w.Eventually(actionable, s.Actionable)
		s.Apply(Namespace("shop"), Namespace("dev"), Namespace("staging"), App("dev"), Pipeline("dev", "staging"))
		w.Sleep(dwell)
		s.Apply(App("staging"))
		s.Runs("staging", "v1")
		s.Struggles("dev", "v2")
		w.Sleep(dwell)
		s.Runs("dev", "v2")
		w.Sleep(dwell)
		w.Settle()
	}
}

// Everything is a long story with all that the environments and people may do, and every property that must hold of the
// full cure. How often a promotion is attempted is not asked: where replies are lost, the cure must ask again.
func Everything(v promotion.Variant, faults ...sim.Fault) func(*sim.World) {
	return func(w *sim.World) {
		s := Begin(w, v, "dev", "staging", "prod")
		w.Inject(faults...)
		w.Always(TakesEffectOnce, s.Git.OncePerRevision)
		w.Always(oncePerStay, s.OncePerStay)
		w.Always(inOrder, s.InOrder)
		w.Always(notStale, s.NotStale)
		w.Always(complete, s.CompleteInformation)
		w.Always(noLivelock, s.NoLivelock)
		w.Eventually(Everywhere, s.Promoted)
		w.Eventually(isRecorded, s.Recorded)
		w.Eventually(statusIsTrue, s.StatusIsTrue)
		w.Sometimes("a promotion is ordered by a pass that began with a stale cache", s.OrderedOnStaleCache)
		w.Sometimes("the operator dies between promoting and recording", s.CrashedMidPromotion)
		w.Sometimes("the reply to an accepted order is lost", s.LostReplyToOrder)
		w.Sometimes("an order is repeated, and changes nothing", s.AttemptedTwice)
		s.backAndForth()
	}
}

// backAndForth is a rollout through three environments, with a burst, a rollback while a pull request is open, and a
// revision that comes and goes faster than anyone may notice.
func (s *Story) backAndForth() {
	s.Open()
	for _, env := range s.Environments {
		s.Runs(env, "v1")
	}
	s.Settle()
	s.Struggles("dev", "v1")
	for range 3 {
		s.Struggles("dev", "v2")
		s.Runs("dev", "v2")
	}
	s.Settle()
	s.Deliver() // staging follows, prod is next
	s.Settle()
	s.Runs("dev", "v1")
	s.Settle()
	s.Runs("dev", "v3")
	s.Sleep(time.Second)
	s.Runs("dev", "v1")
	s.Deliver()
	s.Settle()
}

// Crowd is what no deployment should do: three replicas with several workers and no leader, two pipelines over one
// application, and a pipeline that is deleted and made again under its name.
func Crowd(v promotion.Variant, faults ...sim.Fault) func(*sim.World) {
	return func(w *sim.World) {
		s := Begin(w, v, "dev", "staging")
		w.Inject(faults...)
		for _, name := range []string{"second", "third"} {
			s.Replica(name, v, 3)
			w.Inject(sim.Crash(name))
		}
		w.Always(TakesEffectOnce, s.Git.OncePerRevision)
		w.Always(oncePerStay, s.OncePerStay)
		w.Always(inOrder, s.InOrder)
		w.Always(notStale, s.NotStale)
		w.Eventually(Everywhere, s.Promoted)
		w.Eventually(isRecorded, s.Recorded)
		w.Eventually(statusIsTrue, s.StatusIsTrue)

		twin := Pipeline(s.Environments...)
		twin.Name = "twin"
		s.Open()
		s.Apply(twin)
		s.Runs("dev", "v1")
		s.Runs("staging", "v1")
		s.Settle()
		s.Struggles("dev", "v2")
		s.Runs("dev", "v2")
		s.Settle()
		s.Remove(Pipeline())
		s.Apply(Pipeline(s.Environments...))
		s.Settle()
		s.Deliver()
		s.Runs("dev", "v1")
		s.Settle()
	}
}
