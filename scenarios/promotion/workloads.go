// This file exists for what happens: each workload is a scenario that asks one question of a
// variant, under faults.

package promotion

import (
	"time"

	"github.com/wavetank/wavetank/controllers/promotion"
	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/fault"
)

// The sentences under which the properties are declared.
const (
	AttemptedOnce      = "each revision is attempted at most once"
	TakesEffectOnce    = "each revision takes effect at most once"
	oncePerStay        = "a revision takes effect no more often than it came to the first environment"
	inOrder            = "an environment gets only what the one before it has proved"
	notStale           = "nothing outdated is promoted"
	complete           = "nothing is promoted while a target cannot be read"
	Everywhere         = "every environment gets its revision"
	isRecorded         = "every promotion is recorded"
	statusIsTrue       = "the status says what is the case"
	noLivelock         = "nothing is tried in vain again and again"
	recordedSoon       = "an order is recorded as soon as it is given"
	actionable         = "the status says what is being waited for"
	saysAbsent         = "the status says that a missing target does not exist"
	NotifiedAtMostOnce = "a CI is told at most once of each revision"
	NotifiedEver       = "a CI is told of each revision"
	orderedSoon        = "what is due is ordered within three back-off periods"
	readySoon          = "a pipeline is whole as soon as its targets are"
	spaced             = "who was refused waits longer each time before the next order"
	oneOpen            = "people find one open pull request for an environment"
	noneBack           = "nothing is open that would undo a rollback"
)

// dwell is how long a workload watches where it must not ask the world to settle, because one of
// its variants never does.
const dwell = 3 * time.Minute

// Workload is what happens to a variant, under faults, with what is asked of it.
type Workload = func(v promotion.Variant, faults ...fault.Fault) func(*sim.World)

// workload opens the story, lets faults be injected from there on, asks something, and lets
// something happen.
func workload(open func(*sim.World, promotion.Variant) *World, ask, happen func(*World)) Workload {
	return func(v promotion.Variant, faults ...fault.Fault) func(*sim.World) {
		return func(w *sim.World) {
			s := open(w, v)
			w.Inject(faults...)
			ask(s)
			happen(s)
		}
	}
}

// between opens the story with the operator alone; nothing is applied yet.
func between(environments ...string) func(*sim.World, promotion.Variant) *World {
	return func(w *sim.World, v promotion.Variant) *World { return Begin(w, v, environments...) }
}

// quietly opens the story with everything at v1 before the operator has anything to do, so that
// what follows is the only reason to run.
func quietly(w *sim.World, v promotion.Variant) *World {
	s := Begin(w, v, "dev", "staging")
	s.Apply(Namespace("shop"))
	for _, env := range s.Environments {
		s.Apply(Namespace(env), App(env))
		s.Runs(env, "v1")
	}
	s.Apply(Pipeline(s.Environments...))
	w.Sleep(dwell)
	return s
}

// What workloads ask.
func askAttemptedOnce(s *World)   { s.Always(AttemptedOnce, s.Git.AttemptedOncePerRevision) }
func askTakesEffectOnce(s *World) { s.Always(TakesEffectOnce, s.Git.OncePerRevision) }
func askOncePerStay(s *World)     { s.Always(oncePerStay, s.OncePerStay) }
func askNoLivelock(s *World)      { s.Always(noLivelock, s.NoLivelock) }
func askRecordedSoon(s *World)    { s.Always(recordedSoon, s.RecordedSoon) }
func askEverywhere(s *World)      { s.Eventually(Everywhere, s.Promoted) }
func askStatusIsTrue(s *World)    { s.Eventually(statusIsTrue, s.StatusIsTrue) }
func askActionable(s *World)      { s.Eventually(actionable, s.Actionable) }
func askInOrder(s *World)         { s.Always(inOrder, s.InOrder) }
func askNotStale(s *World)        { s.Always(notStale, s.NotStale) }
func askComplete(s *World)        { s.Always(complete, s.CompleteInformation) }
func askOrderedSoon(s *World)     { s.Always(orderedSoon, s.OrderedSoon) }
func askReadySoon(s *World)       { s.Always(readySoon, s.ReadySoon) }
func askSpaced(s *World)          { s.Always(spaced, s.Spaced) }
func askOneOpen(s *World)         { s.Eventually(oneOpen, s.OneOpen) }
func askNoneBack(s *World)        { s.Eventually(noneBack, s.NoneBack) }

var (
	// OneEvent is the default trace: dev reports a new revision once, in a world that is otherwise
	// at rest.
	OneEvent = workload(quietly, askAttemptedOnce, movesOn)
	// OneEffect is OneEvent, but asks how often the promotion takes effect, not how often it is
	// attempted.
	OneEffect = workload(quietly, askTakesEffectOnce, movesOn)
	// Conduct asks nothing of the outcome, only how the operator goes about it.
	Conduct = workload(quietly, askNoLivelock, movesOn)
	// Recording is OneEvent, but asks for the record.
	Recording = workload(quietly, askRecordedSoon, movesOn)
	// Burst is what Flux really does around a rollout: it writes the application's status several
	// times.
	Burst = workload(quietly, askAttemptedOnce, comesInABurst)
	// Truthful asks whether the status comes to say what is the case after a burst. A variant that
	// ignores its own status writes may compare what it sees with a stale copy of its status, find
	// no difference, write nothing, and never be woken again: this is not in the thread, the runs
	// found it.
	Truthful = workload(quietly, askStatusIsTrue, struggles)
	// Arrives asks whether a revision gets everywhere in the end.
	Arrives = workload(between("dev", "staging", "prod"), askEverywhere, rollsOut)
	// Returns rolls dev back to what it ran before, and asks for that to arrive too.
	Returns = workload(between("dev", "staging"), askEverywhere, (*World).returns)
	// ReturnsOnce is Returns, but asks whether each stay of dev at a revision is promoted only
	// once.
	ReturnsOnce = workload(between("dev", "staging"), askOncePerStay, (*World).returns)
	// Late lets one target appear after the pipeline, and no pipeline event shows it.
	Late = workload(between("dev", "staging"), askStatusIsTrue, appearsLate)
	// Waits lets a pipeline wait: for a target, for dev to become ready, for people or for the
	// forge.
	Waits = workload(between("dev", "staging"), askActionable, waits)
	// Hasty has dev ready with a revision while staging is missing, and asks whether anything is
	// promoted before all targets can be read.
	Hasty = workload(between("dev", "staging"), askComplete, hastens)
	// Everything is a long story with all that the environments and people may do, and every
	// property that must hold of the fixed variant. How often a promotion is attempted is not
	// asked: where replies are lost, the fix must ask again.
	Everything = workload(between("dev", "staging", "prod"), askEverything, (*World).backAndForth)
	// LongRollout is Everything, but does not insist that all that makes it worth its while happens
	// in every campaign.
	LongRollout = workload(between("dev", "staging", "prod"), askProperties, (*World).backAndForth)
)

func movesOn(s *World) {
	s.Runs("dev", "v2")
	s.Sleep(dwell)
}

func comesInABurst(s *World) {
	s.Struggles("dev", "v2")
	for range 3 {
		s.Runs("dev", "v2")
		s.Sleep(5 * time.Millisecond)
		s.Struggles("dev", "v2")
	}
	movesOn(s)
}

func struggles(s *World) {
	for range 3 {
		s.Struggles("dev", "v2")
		s.Runs("dev", "v2")
	}
	s.Settle()
}

func rollsOut(s *World) {
	s.Open()
	s.Runs("dev", "v1")
	s.Settle()
	for range 2 { // staging, then prod
		s.Deliver()
		s.Settle()
	}
}

// rollsOutForAWhile is rollsOut where the world need not settle.
func rollsOutForAWhile(s *World) {
	s.Open()
	s.Runs("dev", "v1")
	for range 2 {
		s.Sleep(dwell)
		s.Deliver()
	}
	s.Sleep(dwell)
}

func (s *World) returns() {
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

func appearsLate(s *World) {
	s.openWithoutStaging()
	s.Sleep(time.Minute)
	s.Apply(App("staging"))
	s.Settle()
}

// openWithoutStaging is Open, but the application of staging is missing.
func (s *World) openWithoutStaging() {
	s.Apply(Namespace("shop"), Namespace("dev"), Namespace("staging"), App("dev"), Pipeline("dev", "staging"))
}

func waits(s *World) {
	s.openWithoutStaging()
	s.Sleep(dwell)
	s.Apply(App("staging"))
	s.Runs("staging", "v1")
	s.Struggles("dev", "v2")
	s.Sleep(dwell)
	movesOn(s)
	s.Settle()
}

func hastens(s *World) {
	s.openWithoutStaging()
	s.Runs("dev", "v1")
	s.Sleep(time.Minute)
	s.Apply(App("staging"))
	s.Settle()
}

func askEverything(s *World) {
	askProperties(s)
	s.Sometimes("a promotion is ordered by a pass that began with a stale cache", s.OrderedOnStaleCache)
	s.Sometimes("the operator dies between promoting and recording", s.CrashedMidPromotion)
	s.Sometimes("the reply to an accepted order is lost", s.LostReplyToOrder)
	s.Sometimes("an order is repeated, and changes nothing", s.AttemptedTwice)
}

func askProperties(s *World) {
	askTakesEffectOnce(s)
	askOncePerStay(s)
	askInOrder(s)
	askNotStale(s)
	askComplete(s)
	askNoLivelock(s)
	askEverywhere(s)
	s.Eventually(isRecorded, s.Recorded)
	askStatusIsTrue(s)
	askTidy(s)
}

// askTidy asks for what the operator promises the people at the forge, and how soon it orders.
func askTidy(s *World) {
	askOneOpen(s)
	askNoneBack(s)
	askOrderedSoon(s)
}

// backAndForth is a rollout through three environments, with a burst, a rollback while a pull
// request is open, and a revision that comes and goes faster than anyone may notice.
func (s *World) backAndForth() {
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

// Crowd is what no deployment should do: three replicas with several workers and no leader, two
// pipelines over one application, and a pipeline that is deleted and made again under its name.
func Crowd(v promotion.Variant, faults ...fault.Fault) func(*sim.World) {
	return func(w *sim.World) {
		s := Begin(w, v, "dev", "staging")
		w.Inject(faults...)
		for _, name := range []string{"second", "third"} {
			s.Replica(name, v, 3)
			w.Inject(fault.Crash(name))
		}
		askTakesEffectOnce(s)
		askOncePerStay(s)
		askInOrder(s)
		askNotStale(s)
		askEverywhere(s)
		s.Eventually(isRecorded, s.Recorded)
		askStatusIsTrue(s)

		second := Pipeline(s.Environments...)
		second.Name = "twin"
		s.Open()
		s.Apply(second)
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
