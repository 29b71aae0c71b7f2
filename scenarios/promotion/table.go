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

type cases = []matrix.Case[promotion.Variant]

// A row of the table, and remarks on it.
var row, note, omit = matrix.NewCase[promotion.Variant], matrix.Note, matrix.Omit

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

// tooMuch are the cases about whether too much happens: what may wake the operator between a
// promotion and the moment at which its cache knows of it, and what may keep it from writing down
// what it did. How often a promotion is attempted is asked only where neither a crash nor a lost
// reply is injected: after one of these an operator that must not forget has to ask again.
var tooMuch = cases{
	row("default trace, nothing lags", of(quietly, movesOn), nil, attemptedOnce, forgetful, note("V1",
		"it fails only when the event of its own status write lands during the pass, and where nothing lags none "+
			"does")),
	row("default trace", of(quietly, movesOn), lagging, attemptedOnce, "V0 V1a V1"),
	row("app burst", of(quietly, comesInABurst), lagging, attemptedOnce, thread),
	row("racing requeue", of(quietly, movesOn), laggingAndRequeued, attemptedOnce, thread, note("V1 V2 V3",
		"without lag it passes, see “racing requeue, nothing lags”")),
	row("racing requeue, nothing lags", of(quietly, movesOn), requeued, attemptedOnce, forgetful),
	row("an edit wakes it", of(quietly, isEdited), lagging, attemptedOnce, thread),
	row("a cluster's event wakes it", of(remotely, clusterBeats), lagging, attemptedOnce, thread),
	row("a leftover timer wakes it, classic queue", of(leftover(false), stagingAppears), lagging, attemptedOnce,
		"V0 V1a V3", note("V1 V2", early)),
	row("a leftover timer wakes it, priority queue", of(leftover(true), stagingAppears), lagging, attemptedOnce,
		forgetful, note("V1 V2", early), note("V3", "the priority queue has one entry for each key: the event of "+
			"the target uses the timer up, so none is left")),
	row("crash window", of(quietly, movesOn), crash, effectOnce, afterward),
	row("lost patch reply", of(quietly, movesOn), lostPatch, effectOnce, afterward),
	row("the last patch fails", of(quietly, movesOn), failingPatch, effectOnce, afterward),
	row("two leaders", of(replicated, leadersOverlap), twoLeaders, effectOnce, afterward, unsettled),
	row("two leaders, nothing lags", of(replicated, leadersOverlap), onlyLeaders, effectOnce, afterward, unsettled),
	row("the namespace goes meanwhile", of(quietly, namespaceGoes), slowNamespace, effectOnce, forgetful,
		omit("all but V0 V1a V3 V8", fewer)),
	row("somebody else writes first", of(quietly, movesOn), conflicts, effectOnce, forgetful,
		omit("all but V0 V1a V3 V8", fewer)),
	row("a CI is told once in spite of a crash", of(notifying, isTold), crash, notifiedOnce, afterward),
}

// enough are the cases about whether enough happens.
var enough = cases{
	row("arrives everywhere", of(three, func(s *World) { s.declare(everywhere); rollsOut(s) }), nil,
		properties.WorldSettles, "V6t"),
	row("comes back", of(two, comesBack), nil, everywhere, "V7", omit("V0 V1a V6t", fewer)),
	row("arrives in spite of a crash", of(three, rollsOut), crash, everywhere, "V6 V7", unsettled),
	row("arrives in spite of a failing forge", of(three, rollsOut), failingForge, everywhere, "V1a "+recording,
		unsettled),
	row("made again, it is promoted", of(quietly, cornerOf(madeAgain).turn), slowly(time.Minute), everywhere,
		"V3 V7", cornering),
	row("its kinds are installed late", of(unprepared, kindsAreInstalled), nil, everywhere, unfixed+" V6t"),
	row("the repository is corrected", of(two, isCorrected), nil, everywhere, recording, omit("V1a V6t", fewer)),
	row("a CI is told in spite of a crash", of(notifying, isToldAndSettles), crash, notified, "V6 V7", unsettled),
	row("a policy only on the environment", of(quietly, cornerOf(ownPolicy).turn), slowly(time.Minute),
		properties.NoPanic, unfixed, unsettled),
}

// truth are the cases about what the status says.
var truth = cases{
	row("a late target is seen", of(two, appearsLate), nil, statusIsTrue, "",
		note("V2", "a target in the operator's own cluster is watched, so it wakes the operator when it appears")),
	row("a late cluster is seen", of(far, becomesKnown), lagging, statusIsTrue, "", note("V2",
		"the GitopsCluster's event, the error of a missing Secret, which is returned upstream, too, and the "+
			"first event of the cache that comes into sync all wake it")),
	row("a cluster moves", of(far, clusterMoves), nil, statusIsTrue, unfixed+" V6t"),
	row("the status is true after a burst", of(quietly, bursts), lagging, statusIsTrue, "V2 V3 V4 V6 V7", unsettled),
	row("no livelock", of(quietly, movesOn), lagging, noLivelock, "V6t"),
	row("recorded soon", of(quietly, movesOn), laggingAndRequeued, recordedSoon, "V0"),
	row("says that a target does not exist", of(between("dev"), isAbsent), nil, saysAbsent, hasty, unsettled,
		note("V1", "the event of its own status write wakes it; where the list of the cache is slow, that comes "+
			"too early")),
	row("says that a target elsewhere does not exist", of(far, isAbsentThere), nil, saysAbsent, hasty, unsettled),
	row("says what it waits for", of(two, waits), failingForge, actionable, unfixed, unsettled),
	row("says that the forge cannot be asked", of(quietly, losesForge), crash, actionable, unfixed, unsettled),
}

// outcomes are the cases about what the status says of a promotion that was ordered.
var outcomes = cases{
	row("says succeeded only when it is", of(quietly, movesOn), failingForge, outcomeIsTrue, "V8s", unsettled),
	row("says that an order was refused", of(quietly, staysRefused), nil, failureIsSaid, "V0 V8s", unsettled),
	row("names the pull request in spite of lost replies", of(three, rollsOut), lostReplies, isLinked, "V8u",
		omit("all but V0 V3 V8", fewer)),
}

// grounds are the cases about what a promotion rests on.
var grounds = cases{
	row("only what the one before has proved", long, lagging, inOrder, "", unsettled),
	row("nothing outdated", long, lagging, notStale, "", unsettled),
	row("nothing while a target is missing", of(two, hastens), lagging, complete, hasty, unsettled),
	row("nothing while a cluster cannot be read", of(far, hastensThere), lagging, complete, hasty,
		omit("all but V0 V1a V1 V2 V3 V8", fewer)),
}

// odd are the corners.
func odd() cases {
	out := cases{row("comes back once", of(two, comesBack), lagging, oncePerStay, "V3", cornering)}
	for _, d := range []time.Duration{time.Millisecond, 30 * time.Second, 10 * time.Minute} {
		name := fmt.Sprintf("promoting takes %v", d)
		out = append(out, row(name, of(quietly, corners[0].turn), slowly(d), oncePerStay, "", cornering))
	}
	for _, c := range corners[1:] {
		remarks := []matrix.Remark{cornering}
		switch c.name {
		case ownPolicy:
			continue // it is about panics
		case madeAgain:
			remarks = append(remarks, note("V7", "its Promotion goes with the old pipeline, which the cache still "+
				"holds when it asks whether there is one"))
		}
		out = append(out, row(c.name, of(quietly, c.turn), slowly(time.Minute), oncePerStay, c.fails, remarks...))
	}
	return out
}

// pace are the cases about how soon.
var pace = cases{
	row("ordered within three back-off periods", of(three, rollsOutForAWhile), lagging, orderedSoon, "V6t",
		omit("V1a V1 V4 V5 V7", alike)),
	row("retries are spaced", of(quietly, movesOn), failingForge, spaced, forgetful,
		omit("all but V0 V1a V3 V8", neverAgain), note("V3", neverAgain), note("V1a", "it orders in every pass"),
		note("V0", "its own status write wakes it at once, whatever the back-off")),
}

// refusedUnderFaults are the cases about whether orders that are refused settle into one for each
// period of back-off: while faults are injected, and when they have ended.
func refusedUnderFaults() (out cases) {
	const forgets = "a restart empties the work queue's memory, so its back-off begins anew"
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
			row("bounded orders while "+class.name, both, class.faults, restrained, class.fail,
				omit("all but V0 V8", neverAgain), note(class.fail, forgets)),
			row("orders settle after "+class.name, both, class.faults, settles, "V3",
				omit("all but V0 V3 V8", neverAgain), note("V3", neverAgain)))
	}
	return out
}

// people are the cases about what people find at the forge.
var people = cases{
	row("one open pull request", of(quietly, outdoes), lagging, oneOpen, "",
		omit("all but V0 V8", "it pushes every revision to one branch, as V0 does")),
	row("nothing open after a rollback", of(quietly, rollsBack), lagging, noneBack, unfixed, unsettled),
}

// everyFault is the case of the fixed variant: all that it promises, under all that can be injected
// there. Another cluster under every fault is in the suite.
var everyFault = cases{row("every fault", anything, func() []fault.Fault {
	return append(EveryFault(), fault.LeaderOverlap())
}, effectOnce, "", matrix.OnlyFixed(promotion.V8))}

// Everything is a long story with all that environments and people may do, and every property that
// must hold of the fixed variant. How often a promotion is attempted is not asked: where replies
// are lost, the fix must ask again.
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
// narrow whose watches end, nobody is cut off.
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
