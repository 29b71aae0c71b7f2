// This file holds the table: for each variant, which cases it fails under which faults.

package promotion

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"pgregory.net/rapid"

	"github.com/wavetank/wavetank/controllers/promotion"
	"github.com/wavetank/wavetank/scenarios/internal/matrix"
	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/fault"
)

// Table is the matrix of the scenario. A variant that is in neither Fail nor NotRun must pass.
func Table() matrix.Table[promotion.Variant] {
	return matrix.Table[promotion.Variant]{
		Variants: promotion.Variants(), Fixed: promotion.V8, Cases: Cases(),
		Predictions: predictions(), Situations: situations(),
	}
}

// Cases are the cases of the table.
func Cases() cases {
	return slices.Concat(tooMuch(), enough(), truth(), grounds(), odd(), pace(), refusedUnderFaults(), people(),
		everyFault())
}

type (
	cases    = []matrix.Case[promotion.Variant]
	variants = []promotion.Variant
	because  = map[promotion.Variant]string
)

// only are the variants of these names, and except all others.
func only(names string) []promotion.Variant { return matrix.Names[promotion.Variant](names) }

func except(names string) []promotion.Variant { return matrix.Except(promotion.Variants(), names) }

// notRun are variants that are not run, all for one reason.
func notRun(reason string, of variants) because { return matrix.Because(reason, of...) }

// Groups of variants.
const (
	forgetful = "V0 V1a"                // before anything looks at the record
	hasty     = "V0 V1a V1 V2"          // decide without all targets
	thread    = "V0 V1a V1 V2 V3"       // those of the thread
	afterward = "V0 V1a V1 V2 V3 V4 V5" // write down what they have done after it
)

// Reasons that stand for several cells.
const (
	livelock    = "it goes in circles even where no fault is injected"
	early       = "it sets no timers: it has promoted without waiting for the missing target"
	lateTarget  = "a target in the operator's own cluster is watched, so it wakes the operator when it appears"
	lateCluster = "the GitopsCluster's event, the error of a missing Secret, which is returned upstream, too, " +
		"and the first event of the cache that comes into sync all wake it"
	alike      = "it waits as one of those that are run"
	cornered   = "a corner is run with the end of the thread and with the fixes that write before they act"
	neverAgain = "it takes a refused order for done, and never gives another"
	fewer      = "it is run with one variant of each kind"
)

// tooMuch are the cases about whether too much happens: what may wake the operator between a
// promotion and the moment at which its cache knows of it, and what may keep it from writing down
// what it did. How often a promotion is attempted is asked only where neither a crash nor a lost
// reply is injected: after one of these an operator that must not forget has to ask again.
func tooMuch() cases {
	return cases{
		{Name: "default trace, nothing lags", Workload: of(quietly, movesOn), Property: attemptedOnce,
			Fail: only(forgetful), Notes: because{"V1": "it fails only when the event of its own status write " +
				"lands during the pass, and where nothing lags none does"}},
		{Name: "default trace", Workload: of(quietly, movesOn), Faults: lagging, Property: attemptedOnce,
			Fail: only("V0 V1a V1")},
		{Name: "app burst", Workload: of(quietly, comesInABurst), Faults: lagging, Property: attemptedOnce,
			Fail: only(thread)},
		{Name: "racing requeue", Workload: of(quietly, movesOn), Faults: laggingAndRequeued, Property: attemptedOnce,
			Fail: only(thread)},
		{Name: "an edit wakes it", Workload: of(quietly, isEdited), Faults: lagging, Property: attemptedOnce,
			Fail: only(thread)},
		{Name: "a cluster's event wakes it", Workload: of(remotely, clusterBeats), Faults: lagging,
			Property: attemptedOnce, Fail: only(thread)},
		{Name: "a leftover timer wakes it, classic queue", Workload: of(leftover(false), stagingAppears),
			Faults: lagging, Property: attemptedOnce, Fail: only("V0 V1a V3"),
			Notes: because{"V1": early, "V2": early}},
		{Name: "a leftover timer wakes it, priority queue", Workload: of(leftover(true), stagingAppears),
			Faults: lagging, Property: attemptedOnce, Fail: only(forgetful),
			Notes: because{"V1": early, "V2": early, "V3": "the priority queue has one entry for each key: the event " +
				"of the target uses the timer up, so none is left"}},
		{Name: "crash window", Workload: of(quietly, movesOn), Faults: crash, Property: effectOnce,
			Fail: only(afterward)},
		{Name: "lost patch reply", Workload: of(quietly, movesOn), Faults: lostPatch, Property: effectOnce,
			Fail: only(afterward)},
		{Name: "the last patch fails", Workload: of(quietly, movesOn), Faults: failingPatch, Property: effectOnce,
			Fail: only(afterward)},
		{Name: "two leaders", Workload: of(replicated, leadersOverlap), Faults: twoLeaders, Property: effectOnce,
			Fail: only(afterward), NotRun: because{"V6t": livelock}},
		{Name: "the repository moves", Workload: of(quietly, moves), Faults: unsure, Property: effectOnce,
			Fail: only(afterward), NotRun: notRun(fewer, only("V6t V7"))},
		{Name: "somebody else writes first", Workload: of(quietly, movesOn), Faults: conflicts, Property: effectOnce,
			Fail: only(forgetful), NotRun: notRun(fewer, only("V1 V2 V4 V5 V6 V6t V7"))},
		{Name: "a CI is told once in spite of a crash", Workload: of(notifying, isTold), Faults: crash,
			Property: notifiedOnce, Fail: only(afterward)},
	}
}

// enough are the cases about whether enough happens.
func enough() cases {
	three, two := between("dev", "staging", "prod"), between("dev", "staging")
	return cases{
		{Name: "arrives everywhere", Workload: of(three, func(s *World) { s.declare(everywhere); rollsOut(s) }),
			Property: worldSettles, Fail: only("V6t")},
		{Name: "comes back", Workload: of(two, comesBack), Property: everywhere, Fail: only("V7"),
			NotRun: notRun(fewer, only("V0 V1a V6t"))},
		{Name: "arrives in spite of a crash", Workload: of(three, rollsOut), Faults: crash, Property: everywhere,
			Fail: only("V6 V7"), NotRun: because{"V6t": livelock}},
		{Name: "arrives in spite of a failing forge", Workload: of(three, rollsOut), Faults: failingForge,
			Property: everywhere, Fail: except("V0 V6t V8"), NotRun: because{"V6t": livelock}},
		{Name: "made again, it is promoted", Workload: of(quietly, reborn.turn), Faults: slowly(time.Minute),
			Property: everywhere, Fail: only("V3 V7"), NotRun: notRun(cornered, except("V3 V6 V7 V8"))},
		{Name: "its kinds are installed late", Workload: of(unprepared, kindsAreInstalled), Property: everywhere,
			Fail: except("V8")},
		{Name: "the repository is corrected", Workload: of(two, isCorrected), Property: everywhere,
			Fail: except("V0 V1a V6t V8"), NotRun: notRun(fewer, only("V1a V6t"))},
		{Name: "a CI is told in spite of a crash", Workload: of(notifying, isToldAndSettles), Faults: crash,
			Property: notified, Fail: only("V6 V7"), NotRun: because{"V6t": livelock}},
		{Name: "a policy only on the environment", Workload: of(quietly, cornerOf(ownPolicy).turn),
			Faults: slowly(time.Minute), Property: noPanic, Fail: except("V6t V8"), NotRun: because{"V6t": livelock}},
	}
}

// truth are the cases about what the status says.
func truth() cases {
	unsettled, own := because{"V6t": livelock}, between("dev", "staging")
	return cases{
		{Name: "a late target is seen", Workload: of(own, appearsLate), Property: statusIsTrue,
			Notes: because{"V2": lateTarget}},
		{Name: "a late cluster is seen", Workload: of(between("dev", "prod"), becomesKnown), Faults: lagging,
			Property: statusIsTrue, Notes: because{"V2": lateCluster}},
		{Name: "a cluster moves", Workload: of(between("dev", "prod"), clusterMoves), Property: statusIsTrue,
			Fail: except("V8")},
		{Name: "the status is true after a burst", Workload: of(quietly, struggles), Faults: lagging,
			Property: statusIsTrue, Fail: only("V2 V3 V4 V6 V7"), NotRun: unsettled},
		{Name: "no livelock", Workload: of(quietly, movesOn), Faults: lagging, Property: noLivelock, Fail: only("V6t")},
		{Name: "recorded soon", Workload: of(quietly, movesOn), Faults: laggingAndRequeued, Property: recordedSoon,
			Fail: only("V0")},
		{Name: "says that a target does not exist", Workload: of(between("dev"), isAbsent), Property: saysAbsent,
			Fail: only(hasty), NotRun: unsettled, Notes: because{"V1": "the event of its own status write wakes it; " +
				"where the list of the cache is slow, that comes too early"}},
		{Name: "says that a target elsewhere does not exist", Workload: of(between("dev", "prod"), isAbsentThere),
			Property: saysAbsent, Fail: only(hasty), NotRun: unsettled},
		{Name: "says what it waits for", Workload: of(own, waits), Faults: failingForge, Property: actionable,
			Fail: except("V6t V8"), NotRun: unsettled},
		{Name: "says that the forge cannot be asked", Workload: of(quietly, losesForge), Faults: crash,
			Property: actionable, Fail: except("V6t V8"), NotRun: unsettled},
	}
}

// grounds are the cases about what a promotion rests on.
func grounds() cases {
	long, unsettled := of(between("dev", "staging", "prod"), backAndForth), because{"V6t": livelock}
	some := notRun(fewer, only("V4 V5 V6 V6t V7"))
	return cases{
		{Name: "only what the one before has proved", Workload: long, Faults: lagging, Property: inOrder,
			NotRun: unsettled},
		{Name: "nothing outdated", Workload: long, Faults: lagging, Property: notStale, NotRun: unsettled},
		{Name: "nothing while a target is missing", Workload: of(between("dev", "staging"), hastens), Faults: lagging,
			Property: complete, Fail: only(hasty), NotRun: unsettled},
		{Name: "nothing while a second target is missing", Workload: of(between("dev", "staging"), hastensWithSecond),
			Faults: lagging, Property: complete, Fail: only(hasty), NotRun: some},
		{Name: "nothing while a cluster cannot be read", Workload: of(between("dev", "prod"), hastensThere),
			Faults: lagging, Property: complete, Fail: only(hasty), NotRun: some},
	}
}

// odd are the corners.
func odd() (out cases) {
	add := func(name string, open opening, happens func(*World), faults func() []fault.Fault, fail string) {
		c := matrix.Case[promotion.Variant]{Name: name, Workload: of(open, happens), Faults: faults,
			Property: oncePerStay, Fail: only(fail), NotRun: notRun(cornered, except("V3 V6 V7 V8"))}
		if name == madeAgain {
			c.Notes = because{"V7": "its Promotion goes with the old pipeline, which the cache still holds when it " +
				"asks whether there is one"}
		}
		out = append(out, c)
	}
	add("comes back once", between("dev", "staging"), comesBack, lagging, "V3")
	for _, d := range []time.Duration{time.Millisecond, 30 * time.Second, 10 * time.Minute} {
		add(fmt.Sprintf("promoting takes %v", d), quietly, corners[0].turn, slowly(d), "")
	}
	fails := map[string]string{"ready some time after the revision": "V3", "dev flaps": "V3",
		"ready without a revision": "V3", "dev moves on and back": "V3", "an environment is added": "V3",
		madeAgain: "V3 V7", late: "V3 V7"}
	for _, c := range corners[1:] {
		if c.name != ownPolicy {
			add(c.name, quietly, c.turn, slowly(time.Minute), fails[c.name])
		}
	}
	return out
}

func cornerOf(name string) corner {
	return corners[slices.IndexFunc(corners, func(c corner) bool { return c.name == name })]
}

// pace are the cases about how soon.
func pace() cases {
	return cases{
		{Name: "ordered within three back-off periods", Workload: of(between("dev", "staging", "prod"),
			rollsOutForAWhile), Faults: lagging, Property: orderedSoon, Fail: only("V6t"),
			NotRun: notRun(alike, only("V1a V1 V4 V5 V7"))},
		{Name: "ready soon after a late target", Workload: of(between("dev", "staging"), appearsLate),
			Property: readySoon, NotRun: notRun(alike, except("V2 V3 V8")), Notes: because{"V2": lateTarget}},
		{Name: "ready soon after a late cluster", Workload: of(between("dev", "prod"), becomesKnown),
			Property: readySoon, NotRun: notRun(alike, except("V2 V3 V8")), Notes: because{"V2": lateCluster}},
		{Name: "retries are spaced", Workload: of(quietly, movesOn), Faults: failingForge, Property: spaced,
			Fail: only(forgetful), NotRun: notRun(neverAgain, only("V1 V2 V4 V5 V6 V6t V7")),
			Notes: because{"V0": "its own status write wakes it at once, whatever the back-off",
				"V1a": "it orders in every pass", "V3": neverAgain}},
	}
}

// refusedUnderFaults are the cases about whether orders that are refused settle into one for each
// period of back-off: while faults are injected, and when they have ended.
func refusedUnderFaults() (out cases) {
	const forgets = "a restart empties the work queue's memory, so its back-off begins anew"
	for _, class := range []struct {
		name    string
		faults  func() []fault.Fault
		empties bool // the work queue
	}{
		{"the cache lags", lagging, false},
		{"keys are queued again", func() []fault.Fault { return []fault.Fault{fault.RacingRequeue()} }, false},
		{"the operator is killed", crash, true},
		{"the operator is asked to stop", func() []fault.Fault { return []fault.Fault{fault.Restart(Operator)} }, true},
		{"replies are lost", func() []fault.Fault { return []fault.Fault{fault.LostReply(fault.In(Operator))} }, false},
	} {
		while := matrix.Case[promotion.Variant]{Name: "bounded orders while " + class.name, Property: restrained,
			Workload: of(quietly, isRefused), Faults: class.faults, NotRun: notRun(neverAgain, except("V0 V8"))}
		if class.empties {
			while.Fail, while.Notes = only("V0"), because{"V0": forgets}
		}
		after := while
		after.Name, after.Property, after.Notes = "orders settle after "+class.name, settles, because{"V3": neverAgain}
		after.Fail, after.NotRun = only("V3"), notRun(neverAgain, except("V0 V3 V8"))
		out = append(out, while, after)
	}
	return out
}

// people are the cases about what people find at the forge.
func people() cases {
	return cases{
		{Name: "one open pull request", Workload: of(quietly, outdoes), Faults: lagging, Property: oneOpen,
			NotRun: notRun("it pushes every revision to one branch, as V0 does", except("V0 V8"))},
		{Name: "nothing open after a rollback", Workload: of(quietly, rollsBack), Faults: lagging, Property: noneBack,
			Fail: except("V6t V8"), NotRun: because{"V6t": livelock}},
	}
}

// everyFault is the case of the fixed variant: all that it promises, under all that can be injected
// there. Another cluster under every fault is in the suite.
func everyFault() cases {
	return cases{{Name: "every fault", Workload: anything, Property: effectOnce,
		Faults: func() []fault.Fault { return append(EveryFault(), fault.LeaderOverlap()) },
		NotRun: matrix.OnlyFixed(promotion.Variants(), promotion.V8)}}
}

// Everything is a long story with all that environments and people may do, and every property that
// must hold of the fixed variant. How often a promotion is attempted is not asked: where replies
// are lost, the fix must ask again.
func Everything(v promotion.Variant, faults ...fault.Fault) func(*sim.World) {
	return scenario(between("dev", "staging", "prod"), func(s *World) {
		s.sometimes()
		backAndForth(s)
	}, v, everything, faults...)
}

// anything is any of the longer stories, each with all that must hold in it.
var anything = &matrix.Workload[promotion.Variant]{New: func(v promotion.Variant, _ []string,
	faults ...fault.Fault) func(*sim.World) {
	return func(w *sim.World) {
		told := []string{notifiedOnce, notified, statusIsTrue}
		stories := []func(*sim.World){
			scenario(between("dev", "staging", "prod"), backAndForth, v, everything, faults...),
			scenario(quietly, anyCorner, v, holds, faults...),
			scenario(quietly, anyMoment, v, holds, faults...),
			scenario(notifying, isToldAndSettles, v, told, faults...),
			scenario(replicated, leadersOverlap, v, []string{effectOnce}, faults...),
		}
		stories[sim.Draw(w, "story", rapid.IntRange(0, len(stories)-1))](w)
	}
}}

func lagging() []fault.Fault { return []fault.Fault{fault.StaleCache(30 * time.Second)} }

func laggingAndRequeued() []fault.Fault { return append(lagging(), fault.RacingRequeue()) }

func crash() []fault.Fault { return []fault.Fault{fault.Crash(Operator)} }

// ofPatch are the operator's writes to the pipeline.
func ofPatch() []fault.Scope {
	return []fault.Scope{fault.In(Operator), fault.OfKind("Pipeline"), fault.OnVerb("patch")}
}

func lostPatch() []fault.Fault { return []fault.Fault{fault.LostReply(ofPatch()...)} }

func conflicts() []fault.Fault { return []fault.Fault{fault.Conflict(ofPatch()...)} }

// failingPatch answers them with all that can go wrong with a patch.
func failingPatch() []fault.Fault {
	return []fault.Fault{fault.ServerError(ofPatch()...),
		fault.Rejected("the status cannot be written now", ofPatch()...)}
}

func twoLeaders() []fault.Fault {
	return append(lagging(), fault.LeaderOverlap(), fault.Pause(Operator, 30*time.Second))
}

// slowly lets the outside take its time to answer.
func slowly(d time.Duration) func() []fault.Fault {
	return func() []fault.Fault { return append(lagging(), fault.SlowEffect(d)) }
}

func failingForge() []fault.Fault { return []fault.Fault{fault.FailedEffect()} }

// unsure are the faults after which nobody but the forge knows what became of an order.
func unsure() []fault.Fault { return append(crash(), fault.LostReply(fault.In(Operator))) }

// EveryFault is all that the harness knows to do to an operator and to the outside. Where scopes
// narrow whose watches end, nobody is cut off.
func EveryFault(watches ...fault.Scope) []fault.Fault {
	faults := []fault.Fault{
		fault.StaleCache(30 * time.Second), fault.Crash(Operator), fault.RacingRequeue(), fault.LostReply(),
		fault.Conflict(), fault.ServerError(), fault.Unreachable(time.Minute), fault.SlowEffect(10 * time.Minute),
		fault.FailedEffect(), fault.DoubledEffect(), fault.MissedStates(30*time.Second, watches...),
		fault.DroppedWatch(watches...), fault.Relist(watches...), fault.Expired(watches...),
		fault.StaleServer(10 * time.Second), fault.Pause(Operator, 10*time.Second), fault.Restart(Operator),
		fault.Rejected("this cannot be written now", fault.In(Operator)),
		fault.Forbidden(time.Minute, fault.In(Operator)),
	}
	if len(watches) > 0 {
		faults = slices.DeleteFunc(faults,
			func(f fault.Fault) bool { return strings.HasPrefix(f.String(), "Unreachable") })
	}
	return faults
}
