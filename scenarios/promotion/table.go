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
	"github.com/wavetank/wavetank/scenarios/internal/properties"
	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/fault"
)

// Table is the matrix of the scenario. A variant that neither fails nor is omitted must pass.
func Table() matrix.Table[promotion.Variant] {
	return matrix.Table[promotion.Variant]{
		Variants: promotion.Variants(), Fixed: promotion.V8,
		Cases: matrix.Narrow(slices.Concat(tooMuch, enough, truth, outcomes, grounds, odd(), pace, refusedUnderFaults(),
			people, everyFault), promotion.V8s, promotion.V8u),
	}
}

type (
	row     = matrix.Case[promotion.Variant]
	cases   = []row
	remarks = []matrix.Remark
)

var note, omit = matrix.Note, matrix.Omit

// Groups of variants.
const (
	forgetful = "V0 V1a"                // before anything looks at the record
	hasty     = "V0 V1a V1 V2"          // decide without all targets
	thread    = "V0 V1a V1 V2 V3"       // those of the thread
	afterward = "V0 V1a V1 V2 V3 V4 V5" // write down what they have done after it
	recording = "V1 V2 V3 V4 V5 V6 V7"  // take a refused order for done
	unfixed   = forgetful + " " + recording
)

// Reasons that stand for several cells.
const (
	livelock   = "it goes in circles even where no fault is injected"
	early      = "it sets no timers: it has promoted without waiting for the missing target"
	alike      = "it waits as one of those that are run"
	cornered   = "a corner is run with the end of the thread and with the fixes that write before they act"
	neverAgain = "it takes a refused order for done, and never gives another"
	fewer      = "it is run with one variant of each kind"
)

// Remarks on several cases, and a workload of two.
var (
	unsettled = omit("V6t", livelock)
	long      = of(three, backAndForth)
	cornering = omit("all but V3 V6 V7 V8", cornered)
)

// tooMuch are the cases about repetition: what may wake the operator before its cache has the
// record of a promotion, and what may prevent that record. Attempts are counted only without
// crashes and lost replies, after which an operator must ask again.
var tooMuch = cases{
	{Name: "default trace, nothing lags", Workload: of(quietly, movesOn), Property: attemptedOnce, Fail: forgetful,
		Remarks: remarks{note("V1", "it fails only when the event of its own status write lands during the pass, "+
			"and where nothing lags none does")}},
	{Name: "default trace", Workload: of(quietly, movesOn), Faults: lagging, Property: attemptedOnce,
		Fail: "V0 V1a V1"},
	{Name: "app burst", Workload: of(quietly, comesInABurst), Faults: lagging, Property: attemptedOnce,
		Fail: thread},
	{Name: "racing requeue", Workload: of(quietly, movesOn), Faults: laggingAndRequeued, Property: attemptedOnce,
		Fail: thread, Remarks: remarks{note("V1 V2 V3", "without lag it passes, see “racing requeue, nothing lags”")}},
	{Name: "racing requeue, nothing lags", Workload: of(quietly, movesOn), Faults: requeued,
		Property: attemptedOnce, Fail: forgetful},
	{Name: "an edit wakes it", Workload: of(quietly, isEdited), Faults: lagging, Property: attemptedOnce,
		Fail: thread},
	{Name: "a cluster's event wakes it", Workload: of(remotely, clusterBeats), Faults: lagging,
		Property: attemptedOnce, Fail: thread},
	{Name: "a leftover timer wakes it, classic queue", Workload: of(leftover(false), stagingAppears),
		Faults: lagging, Property: attemptedOnce, Fail: "V0 V1a V3", Remarks: remarks{note("V1 V2", early)}},
	{Name: "a leftover timer wakes it, priority queue", Workload: of(leftover(true), stagingAppears),
		Faults: lagging, Property: attemptedOnce, Fail: forgetful,
		Remarks: remarks{note("V1 V2", early), note("V3", "the priority queue has one entry for each key: the "+
			"event of the target uses the timer up, so none is left")}},
	{Name: "crash window", Workload: of(quietly, movesOn), Faults: crash, Property: effectOnce, Fail: afterward},
	{Name: "lost patch reply", Workload: of(quietly, movesOn), Faults: lostPatch, Property: effectOnce,
		Fail: afterward},
	{Name: "the last patch fails", Workload: of(quietly, movesOn), Faults: failingPatch, Property: effectOnce,
		Fail: afterward},
	{Name: "two leaders", Workload: of(replicated, leadersOverlap), Faults: twoLeaders, Property: effectOnce,
		Fail: afterward, Remarks: remarks{unsettled}},
	{Name: "two leaders, nothing lags", Workload: of(replicated, leadersOverlap), Faults: onlyLeaders,
		Property: effectOnce, Fail: afterward, Remarks: remarks{unsettled}},
	{Name: "the namespace goes meanwhile", Workload: of(quietly, namespaceGoes), Faults: slowNamespace,
		Property: effectOnce, Fail: forgetful, Remarks: remarks{omit("all but V0 V1a V3 V8", fewer)}},
	{Name: "another writer is first", Workload: of(quietly, movesOn), Faults: conflicts, Property: effectOnce,
		Fail: forgetful, Remarks: remarks{omit("all but V0 V1a V3 V8", fewer)}},
	{Name: "a CI is told once in spite of a crash", Workload: of(notifying, isTold), Faults: crash,
		Property: notifiedOnce, Fail: afterward},
}

// enough are the cases about whether enough happens.
var enough = cases{
	{Name: "arrives everywhere", Workload: of(three, func(s *World) { s.declare(everywhere); rollsOut(s) }),
		Property: properties.WorldSettles, Fail: "V6t"},
	{Name: "comes back", Workload: of(two, comesBack), Property: everywhere, Fail: "V7",
		Remarks: remarks{omit("V0 V1a V6t", fewer)}},
	{Name: "arrives in spite of a crash", Workload: of(three, rollsOut), Faults: crash, Property: everywhere,
		Fail: "V6 V7", Remarks: remarks{unsettled}},
	{Name: "arrives in spite of a failing forge", Workload: of(three, rollsOut), Faults: failingForge,
		Property: everywhere, Fail: "V1a " + recording, Remarks: remarks{unsettled}},
	{Name: "made again, it is promoted", Workload: of(quietly, cornerOf(madeAgain).turn),
		Faults: slowly(time.Minute), Property: everywhere, Fail: "V3 V7", Remarks: remarks{cornering}},
	{Name: "its kinds are installed late", Workload: of(unprepared, kindsAreInstalled), Property: everywhere,
		Fail: unfixed + " V6t"},
	{Name: "the repository is corrected", Workload: of(two, isCorrected), Property: everywhere, Fail: recording,
		Remarks: remarks{omit("V1a V6t", fewer)}},
	{Name: "a CI is told in spite of a crash", Workload: of(notifying, isToldAndSettles), Faults: crash,
		Property: notified, Fail: "V6 V7", Remarks: remarks{unsettled}},
	{Name: "a policy only on the environment", Workload: of(quietly, cornerOf(ownPolicy).turn),
		Faults: slowly(time.Minute), Property: properties.NoPanic, Fail: unfixed, Remarks: remarks{unsettled}},
}

// truth are the cases about what the status says.
var truth = cases{
	{Name: "a late target is seen", Workload: of(two, appearsLate), Property: statusIsTrue,
		Remarks: remarks{note("V2", "a target in the operator's own cluster is watched, so it wakes the operator "+
			"when it appears")}},
	{Name: "a late cluster is seen", Workload: of(far, becomesKnown), Faults: lagging, Property: statusIsTrue,
		Remarks: remarks{note("V2", "the GitopsCluster's event, the error of a missing Secret, which is returned "+
			"upstream, too, and the first event of the cache that comes into sync all wake it")}},
	{Name: "a cluster moves", Workload: of(far, clusterMoves), Property: statusIsTrue, Fail: unfixed + " V6t"},
	{Name: "the status is true after a burst", Workload: of(quietly, bursts), Faults: lagging,
		Property: statusIsTrue, Fail: "V2 V3 V4 V6 V7", Remarks: remarks{unsettled}},
	{Name: "no livelock", Workload: of(quietly, movesOn), Faults: lagging, Property: noLivelock, Fail: "V6t"},
	{Name: "recorded soon", Workload: of(quietly, movesOn), Faults: laggingAndRequeued, Property: recordedSoon,
		Fail: "V0"},
	{Name: "says that a target does not exist", Workload: of(between("dev"), isAbsent), Property: saysAbsent,
		Fail: hasty,
		Remarks: remarks{unsettled, note("V1", "the event of its own status write wakes it; where the list of the "+
			"cache is slow, that comes too early")}},
	{Name: "says that a target elsewhere does not exist", Workload: of(far, isAbsentThere), Property: saysAbsent,
		Fail: hasty, Remarks: remarks{unsettled}},
	{Name: "says what it waits for", Workload: of(two, waits), Faults: failingForge, Property: actionable,
		Fail: unfixed, Remarks: remarks{unsettled}},
	{Name: "says that the forge cannot be asked", Workload: of(quietly, losesForge), Faults: crash,
		Property: actionable, Fail: unfixed, Remarks: remarks{unsettled}},
}

// outcomes are the cases about what the status says of a promotion that was ordered.
var outcomes = cases{
	{Name: "says succeeded only when it is", Workload: of(quietly, movesOn), Faults: failingForge,
		Property: outcomeIsTrue, Fail: "V8s", Remarks: remarks{unsettled}},
	{Name: "says that an order was refused", Workload: of(quietly, staysRefused), Property: failureIsSaid,
		Fail: "V0 V8s", Remarks: remarks{unsettled}},
	{Name: "names the pull request in spite of lost replies", Workload: of(three, rollsOut), Faults: lostReplies,
		Property: isLinked, Fail: "V8u", Remarks: remarks{omit("all but V0 V3 V8", fewer)}},
}

// grounds are the cases about what a promotion rests on.
var grounds = cases{
	{Name: "only what the one before has proved", Workload: long, Faults: lagging, Property: inOrder,
		Remarks: remarks{unsettled}},
	{Name: "nothing outdated", Workload: long, Faults: lagging, Property: notStale, Remarks: remarks{unsettled}},
	{Name: "nothing while a target is missing", Workload: of(two, hastens), Faults: lagging, Property: complete,
		Fail: hasty, Remarks: remarks{unsettled}},
	{Name: "nothing while a cluster cannot be read", Workload: of(far, hastensThere), Faults: lagging,
		Property: complete, Fail: hasty, Remarks: remarks{omit("all but V0 V1a V1 V2 V3 V8", fewer)}},
}

// odd are the corners.
func odd() cases {
	out := cases{row{Name: "comes back once", Workload: of(two, comesBack), Faults: lagging, Property: oncePerStay,
		Fail: "V3", Remarks: remarks{cornering}}}
	for _, d := range []time.Duration{time.Millisecond, 30 * time.Second, 10 * time.Minute} {
		name := fmt.Sprintf("promoting takes %v", d)
		out = append(out, row{Name: name, Workload: of(quietly, corners[0].turn), Faults: slowly(d),
			Property: oncePerStay, Remarks: remarks{cornering}})
	}
	for _, c := range corners[1:] {
		notes := remarks{cornering}
		switch c.name {
		case ownPolicy:
			continue // it is about panics
		case madeAgain:
			notes = append(notes, note("V7", "its Promotion goes with the old pipeline, which the cache still "+
				"holds when it asks whether there is one"))
		}
		out = append(out, row{Name: c.name, Workload: of(quietly, c.turn), Faults: slowly(time.Minute),
			Property: oncePerStay, Fail: c.fails, Remarks: notes})
	}
	return out
}

// pace are the cases about how soon.
var pace = cases{
	{Name: "ordered within three back-off periods", Workload: of(three, rollsOutForAWhile), Faults: lagging,
		Property: orderedSoon, Fail: "V6t", Remarks: remarks{omit("V1a V1 V4 V5 V7", alike)}},
	{Name: "retries are spaced", Workload: of(quietly, movesOn), Faults: failingForge, Property: spaced,
		Fail: forgetful,
		Remarks: remarks{omit("all but V0 V1a V3 V8", neverAgain), note("V3", neverAgain),
			note("V1a", "it orders in every pass"),
			note("V0", "its own status write wakes it at once, whatever the back-off")}},
}

// refusedUnderFaults are the cases about whether orders that are refused settle into one for each
// period of back-off: while faults are injected, and when they have ended.
func refusedUnderFaults() (out cases) {
	const forgets = "a restart empties the work queue's memory, so its back-off starts over"
	for _, class := range []struct {
		name   string
		faults func() []fault.Fault
		fail   string // who forgets its back-off
	}{
		{"the cache lags", lagging, ""},
		{"keys are queued again", requeued, ""},
		{"the operator is killed", crash, "V0"},
		{"the operator is asked to stop", restart, "V0"},
		{"replies are lost", lostReplies, ""},
	} {
		both := of(quietly, isRefused)
		out = append(out,
			row{Name: "bounded orders while " + class.name, Workload: both, Faults: class.faults, Property: restrained,
				Fail: class.fail, Remarks: remarks{omit("all but V0 V8", neverAgain), note(class.fail, forgets)}},
			row{Name: "orders settle after " + class.name, Workload: both, Faults: class.faults, Property: settles,
				Fail: "V3", Remarks: remarks{omit("all but V0 V3 V8", neverAgain), note("V3", neverAgain)}})
	}
	return out
}

// people are the cases about what people find at the forge.
var people = cases{
	{Name: "one open pull request", Workload: of(quietly, outdoes), Faults: lagging, Property: oneOpen,
		Remarks: remarks{omit("all but V0 V8", "it pushes every revision to one branch, as V0 does")}},
	{Name: "nothing open after a rollback", Workload: of(quietly, rollsBack), Faults: lagging, Property: noneBack,
		Fail: unfixed, Remarks: remarks{unsettled}},
}

// everyFault is the case of the fixed variant: all that it promises, under all that can be injected
// there. Another cluster under every fault is in the suite.
var everyFault = cases{row{Name: "every fault", Workload: anything,
	Faults: func() []fault.Fault {
		return append(EveryFault(), fault.LeaderOverlap())
	}, Property: effectOnce,
	Remarks: remarks{matrix.OnlyFixed(promotion.V8)}}}

// Everything is a long story of environments and people, with every property of the fixed variant.
// Attempts are not counted, because lost replies force the fix to ask again.
func Everything(v promotion.Variant, faults ...fault.Fault) func(*sim.World) {
	return scenario(three, inTurn((*World).sometimes, backAndForth), v, everything, faults...)
}

// anything is any of the longer stories, each with all that must hold in it.
var anything = &workload{New: func(v promotion.Variant, _ []string, faults ...fault.Fault) func(*sim.World) {
	return func(w *sim.World) {
		told := []string{notifiedOnce, notified, statusIsTrue}
		stories := []func(*sim.World){
			scenario(three, backAndForth, v, everything, faults...),
			scenario(quietly, anyCorner, v, holds, faults...),
			scenario(quietly, anyMoment, v, holds, faults...),
			scenario(notifying, isToldAndSettles, v, told, faults...),
			scenario(replicated, leadersOverlap, v, []string{effectOnce}, faults...),
		}
		stories[sim.Draw(w, "story", rapid.IntRange(0, len(stories)-1))](w)
	}
}}

// Faults of cases.
var (
	lagging = func() []fault.Fault {
		return []fault.Fault{fault.StaleCache(30*time.Second, fault.HardLimit())}
	}
	requeued           = func() []fault.Fault { return []fault.Fault{fault.RacingRequeue()} }
	laggingAndRequeued = func() []fault.Fault { return append(lagging(), requeued()...) }
	crash              = func() []fault.Fault { return []fault.Fault{fault.Crash(Operator)} }
	restart            = func() []fault.Fault { return []fault.Fault{fault.Restart(Operator)} }
	lostReplies        = func() []fault.Fault { return []fault.Fault{fault.LostReply(fault.In(Operator))} }
	failingForge       = func() []fault.Fault { return []fault.Fault{fault.FailedEffect()} }
	onlyLeaders        = func() []fault.Fault {
		return []fault.Fault{fault.LeaderOverlap(), fault.Pause(Operator, 30*time.Second)}
	}
	twoLeaders    = func() []fault.Fault { return append(lagging(), onlyLeaders()...) }
	slowNamespace = func() []fault.Fault { return []fault.Fault{fault.SlowNamespace(20 * time.Second)} }

	// ofPatch are the operator's writes to the pipeline. failingPatch answers them with all that
	// can go wrong with a patch.
	ofPatch      = []fault.Scope{fault.In(Operator), fault.OfKind("Pipeline"), fault.OnVerb("patch")}
	lostPatch    = func() []fault.Fault { return []fault.Fault{fault.LostReply(ofPatch...)} }
	conflicts    = func() []fault.Fault { return []fault.Fault{fault.Conflict(ofPatch...)} }
	failingPatch = func() []fault.Fault {
		return []fault.Fault{fault.ServerError(ofPatch...),
			fault.Rejected("the status cannot be written now", ofPatch...)}
	}
)

// slowly lets the outside take its time to answer.
func slowly(d time.Duration) func() []fault.Fault {
	return func() []fault.Fault { return append(lagging(), fault.SlowEffect(d)) }
}

// EveryFault is all that the harness knows to do to an operator and to the outside. Where scopes
// narrow whose watches end, no process is cut off.
func EveryFault(watches ...fault.Scope) []fault.Fault {
	faults := []fault.Fault{
		fault.StaleCache(30*time.Second, fault.HardLimit()),
		fault.Crash(Operator), fault.RacingRequeue(), fault.LostReply(),
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
