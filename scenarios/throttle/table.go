// This file holds the table: for each variant, which cases it fails under which faults.

package throttle

import (
	"slices"
	"time"

	"github.com/wavetank/wavetank/controllers/throttle"
	"github.com/wavetank/wavetank/scenarios/internal/matrix"
)

// Table is the matrix of the scenario. A variant that neither fails nor is omitted must pass.
func Table() matrix.Table[throttle.Variant] {
	return matrix.Table[throttle.Variant]{
		Variants: throttle.Variants(), Fixed: throttle.V4,
		Cases: matrix.Narrow(slices.Concat(repetition, schedules(), neighbours, openness, arrival, effects),
			throttle.V1h, throttle.V4w),
	}
}

type (
	row     = matrix.Case[throttle.Variant]
	cases   = []row
	remarks = []matrix.Remark
)

var note, omit = matrix.Note, matrix.Omit

// Variants that often fail together: all but the fixed one, those that do not throttle, and those
// that try again only when there is an event.
const (
	faulty  = "V0a V0b V0c V1 V2 V1+V2 V3"
	never   = "V0a V0b V0c V3"
	waiting = "V0a V0b V2 V1+V2 V3"
)

// Reasons of several cells.
const (
	kubelet = "it keeps to the kubelet's schedule, see “once an incarnation”, " +
		"and from the back-off of 300 s on that is twice within 610 s"
	otherwise = "legal names end the reported refusal, but a write can be refused for another reason"
)

// goesRound is a remark on two cases.
var goesRound = omit("V0a V0c", "it goes round and round, and so comes by in time")

// Workloads of more than one case.
var (
	longName = of(asReported, applied(Poisoned("poisoned"), whole))
	tooLong  = of(legal, applied(Verbose("verbose", tooMuch), whole))
	busy     = of(silent, inTurn(frequentWrites(Poisoned("poisoned")), sleep(whole)))
	watched  = of(quiet, inTurn(apply(Example("plain")), beats("plain", 20, 50*time.Millisecond), sleep(dwell)))
	unheard  = of(quiet, oneEdited)
	raced    = of(quiet, oneEdited)
	failed   = of(quiet, oneEdited)
	grownOut = of(outgrown, relaxed)
)

// repetition are the cases about how often handlers are called if their progress is refused: as
// reported, with other causes of the hot loop's events, and with other refusals.
var repetition = cases{
	{Name: "bounded, long name", Workload: longName, Faults: late, Property: bounded, Fail: "V0a V0c V1",
		Remarks: remarks{note("V1", kubelet)}},
	{Name: "bounded, too much to write down", Workload: tooLong, Faults: late, Property: bounded,
		Fail: "V0a V0c V1 V3", Remarks: remarks{note("V1", kubelet)}},
	{Name: "bounded, second record refused", Workload: of(afterOne, applied(Poisoned("poisoned"), whole)),
		Faults: late, Property: bounded, Fail: "V0a V0c V1"},
	{Name: "permanent for the same input, long name", Workload: busy, Faults: nuisances, Property: neverAgain,
		Fail: faulty},
	{Name: "permanent for the same input, too much to write down",
		Workload: of(quiet, frequentWrites(Verbose("verbose", tooMuch))), Faults: nuisances, Property: neverAgain,
		Fail: faulty},
	{Name: "once an incarnation", Workload: longName, Faults: late, Property: oncePerIncarnation,
		Fail: "V0a V0b V0c V2 V1+V2 V3"},

	{Name: "bounded in a storm of events", Workload: busy, Faults: nuisances, Property: bounded,
		Fail: "V0a V0b V0c V1", Remarks: remarks{note("V1", kubelet)}},
	{Name: "bounded, a child is mirrored", Workload: of(mirrored, applied(Poisoned("poisoned"), whole)),
		Faults: nuisances, Property: bounded, Fail: "V0a V0b V0c V1", Remarks: remarks{note("V1", kubelet)}},
	{Name: "bounded, repeated lists",
		Workload: of(silent, inTurn(apply(Poisoned("poisoned"), Example("busy")),
			lateBeats("busy", 45, 4*time.Second), sleep(whole))), Faults: relists, Property: bounded,
		Fail: "V0a V0b V0c V1", Remarks: remarks{note("V1", kubelet)}},
	{Name: "the newest counts in a storm of edits",
		Workload: of(silent, inTurn(apply(Poisoned("poisoned")), edits)), Faults: lateBy(leg), Property: newest},

	{Name: "bounded, denied by a webhook", Workload: of(denying, applied(Example("denied"), whole)), Faults: late,
		Property: bounded, Fail: "V0a V0c V1 V3", Remarks: remarks{note("V1", kubelet)}},
	{Name: "bounded, webhook away", Workload: of(silentHook, inTurn(sleep(whole), back, recovers)),
		Faults: failing, Property: bounded, Fail: "V0a V0c V1 V3", Remarks: remarks{note("V1", kubelet)}},
	{Name: "bounded, a schema has grown", Workload: grownOut, Faults: failing, Property: bounded, Fail: "V0c V1",
		Remarks: remarks{note("V1", kubelet)}},
}

// schedules are the cases about delays, also while faults are injected, and when they have ended.
func schedules() (out cases) {
	noDelays := remarks{omit(never, "it has no delays of its own"),
		omit("V1", "its delays are the kubelet's, see “once an incarnation”")}
	out = cases{
		{Name: "on schedule in spite of crashes", Workload: of(terse, applied(Verbose("wordy", wordy), whole)),
			Faults: crash, Property: scheduled, Fail: "V2 V1+V2", Remarks: noDelays},
		{Name: "on schedule, restarted every five minutes",
			Workload: of(terse, inTurn(applied(Verbose("wordy", wordy), dwell), stop, sleep(dwell), stop, sleep(dwell),
				stop, sleep(time.Minute))), Faults: late, Property: scheduled, Fail: "V2 V1+V2", Remarks: noDelays},
		{Name: "delays start over",
			Workload: of(terse, inTurn(applied(Verbose("relapsed", wordy), dwell), set("relapsed", "output", "5"),
				sleep(dwell), set("relapsed", "output", "2000"), sleep(dwell))), Faults: relists, Property: startsOver,
			Remarks: noDelays},
	}
	forgets := note("V2 V1+V2", "its delays are in memory only, so a restart resets them")
	add := func(class string, f faults, fail string, remarks ...matrix.Remark) {
		w := of(terseQuiet, refusedUnderFaults)
		out = append(out, row{Name: "bounded attempts while " + class, Workload: w, Faults: f, Property: restrained,
			Fail: fail, Remarks: remarks},
			row{Name: "it settles after " + class, Workload: w, Faults: f, Property: settles, Fail: never})
	}
	add("the cache lags", lagging, never)
	add("watches end", relists, never)
	add("writes fail or replies are lost", failing, never)
	add("the operator is killed", crash, never+" V2 V1+V2", forgets)
	add("the operator is asked to stop", restart, never+" V2 V1+V2", forgets)
	return out
}

// neighbours are the cases about what one object does to another.
var neighbours = cases{
	{Name: "isolation", Workload: of(asReported, inTurn(apply(Poisoned("poisoned")), comeAndGo)),
		Faults: troubles("poisoned"), Property: isolated, Fail: "V1"},
	{Name: "isolation outside the net", Workload: of(legal, inTurn(apply(garbled()), comeAndGo)), Faults: late,
		Property: isolated, Fail: "V1 V1+V2"},
	{Name: "isolation, a finalizer for what is being deleted",
		Workload: of(quiet, inTurn(apply(finalized("deleted", foreignFinalizer)), remove("deleted"), sleep(dwell)),
			keepsForeign), Faults: nuisances, Property: noEnd, Fail: "V1"},
	{Name: "isolation, a handler fails", Workload: of(quiet, oneEdited, called), Faults: failingHandler,
		Property: noEnd, Fail: "V1h"},
	{Name: "isolation, an object vanishes",
		Workload: of(quiet, inTurn(apply(Example("vanished")), remove("vanished"), sleep(dwell))), Faults: lagging,
		Property: noEnd},
	{Name: "isolation, 50 poisoned and 10 workers",
		Workload: of(tenWorkers, inTurn(crowd, sleep(30*time.Second), amongEvents)),
		Faults:   failingFor("poisoned-00"), Property: isolated, Fail: faulty,
		Remarks: remarks{note("V0b V3", "its workers keep their objects for 5 s in case something follows")}},
}

// openness are the cases about whether one can see what is the matter.
var openness = cases{
	{Name: "never silent", Workload: tooLong, Faults: late, Property: neverSilent, Fail: faulty},
	{Name: "never silent, status denied too", Workload: of(denyingAll, applied(Example("denied"), dwell)),
		Faults: nuisances, Property: neverSilent, Fail: faulty},
	{Name: "actionable", Workload: of(legal, applied(Verbose("verbose", tooMuch), soon)), Faults: late,
		Property: actionable, Fail: faulty},
	{Name: "actionable, a schema has grown", Workload: grownOut, Faults: failing, Property: actionable,
		Fail: faulty},
	// Watchers are root tasks: if one fails, the operator stops. The thread says that only
	// workers are not covered.
	{Name: "no zombie",
		Workload: of(legalEarly, inTurn(apply(Example("plain")), lateBeats("plain", 5, time.Minute))),
		Faults:   failingWatch, Property: noZombie, Fail: "V4w"},
}

// arrival are the cases about whether an object is handled in the end.
var arrival = cases{
	{Name: "recovers without an event", Workload: of(quiet, oneEdited), Faults: failingPatch, Property: called,
		Fail:    waiting,
		Remarks: remarks{note("V3", "legal names end the reported refusal, but a write can fail for another reason")}},
	{Name: "status refused for a while",
		Workload: of(quiet, inTurn(apply(terseStatus, Example("refused")), sleep(dwell), apply(crd), settle)),
		Faults:   nuisances, Property: handled, Fail: faulty},
	{Name: "an edit makes it legal", Workload: of(asReported, mended(4*time.Minute, dwell)),
		Faults: lateBy(2 * time.Second), Property: handledSoon, Fail: "V1 V2 V1+V2", Remarks: remarks{goesRound}},
	{Name: "an edit after ten minutes", Workload: of(asReported, mended(620*time.Second, dwell+10*time.Second)),
		Faults: lateBy(2 * time.Second), Property: handledAtAll, Fail: "V2 V1+V2", Remarks: remarks{goesRound}},
	{Name: "recovers when a webhook allows it",
		Workload: of(denyingQuiet, inTurn(apply(Example("denied")), sleep(time.Minute), lift(true), recovers)),
		Faults:   lateBy(2 * time.Second), Property: recovered, Fail: waiting, Remarks: remarks{note("V3", otherwise)}},
	{Name: "recovers when the webhook is back", Workload: of(silentQuiet, answered), Faults: lateBy(2 * time.Second),
		Property: recovered, Fail: waiting,
		Remarks: remarks{note("V3", otherwise),
			omit("V0c", "it tries twice a second, as in the column before this one")}},
}

// effects are the cases about whether everything happens once where writes do work, and about
// answers of the API server.
var effects = cases{
	{Name: "effect once, crash", Workload: of(quiet, oneEdited), Faults: crash, Property: effectOnce, Fail: faulty},
	{Name: "effect once, lost reply", Workload: unheard, Faults: lostReply, Property: effectOnce, Fail: faulty},
	{Name: "called once, lost reply", Workload: unheard, Faults: lostReply, Property: calledOnce, Fail: "V0c V1"},
	{Name: "effect once, stale watch", Workload: watched, Faults: lagging, Property: effectOnce, Fail: faulty},
	{Name: "called once, stale watch", Workload: watched, Faults: lagging, Property: neverAgain, Fail: faulty},
	{Name: "a foreign finalizer", Workload: of(quiet, inTurn(hold, sleep(dwell))), Faults: lagging,
		Property: keepsForeign, Fail: faulty},

	{Name: "called once, another writer is first", Workload: raced, Faults: conflict, Property: neverAgain},
	{Name: "a conflict is no failure", Workload: raced, Faults: conflict, Property: noFailure},
	{Name: "called once, the server fails", Workload: failed, Faults: failingPatch, Property: neverAgain,
		Fail: "V0c V1"},
	{Name: "server errors are retried in the client", Workload: failed, Faults: failingPatch, Property: insists,
		Fail: faulty},
	{Name: "no handler for what has vanished",
		Workload: of(quiet, inTurn(apply(Example("forced")), sleep(time.Second), remove("forced"), release("forced"),
			sleep(dwell))),
		Faults: lagging, Property: notVanished, Fail: faulty},
	{Name: "every fault", Workload: of(lively, everything, ofEverything...), Faults: everyFault,
		Property: effectOnce, Remarks: remarks{matrix.OnlyFixed(throttle.V4)}},
}

// ofEverything are further properties of the fixed variant under every fault. None bounds a time,
// because the program may be dead, frozen or cut off.
var ofEverything = []string{bounded, scheduled, noEnd, calledOnce, notVanished, keepsForeign, noZombie,
	handled}
