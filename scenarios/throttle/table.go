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
			throttle.V4w),
	}
}

type cases = []matrix.Case[throttle.Variant]

// A row of the table, and remarks on it.
var row, note, omit = matrix.NewCase[throttle.Variant], matrix.Note, matrix.Omit

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
	tooShort  = "the case ends before the kubelet's schedule would break it; “bounded, long name” lasts for longer"
	otherwise = "legal names end the reported refusal, but a write can be refused for another reason"
)

// goesRound is a remark on two cases.
var goesRound = omit("V0a V0c", "it goes round and round, and so comes by in time")

// Workloads of more than one case.
var (
	longName = of(asReported, applied(Poisoned("poisoned"), whole))
	tooLong  = of(legal, applied(Verbose("verbose", tooMuch), dwell))
	busy     = of(silent, frequentWrites(Poisoned("poisoned")))
	watched  = of(quiet, inTurn(apply(Example("plain")), beats("plain", 20, 50*time.Millisecond), sleep(dwell)))
	unheard  = of(quiet, oneEdited)
	raced    = of(quiet, oneEdited)
	failed   = of(quiet, oneEdited)
	grownOut = of(outgrown, relaxed)
)

// repetition are the cases about how often handlers are called for what cannot be written down: as
// reported, by who makes a hot loop go round where handlers write to nothing but what they make,
// and by other rejections.
var repetition = cases{
	row("bounded, long name", longName, late, bounded, "V0a V0c V1", note("V1", kubelet)),
	row("bounded, too much to write down", tooLong, late, bounded, "V0a V0c V3", note("V1", tooShort)),
	row("bounded, second record refused", of(afterOne, applied(Poisoned("poisoned"), whole)), late, bounded,
		"V0a V0c V1"),
	row("permanent for the same input, long name", busy, nuisances, neverAgain, faulty),
	row("permanent for the same input, too much to write down", of(quiet, frequentWrites(Verbose("verbose", tooMuch))),
		nuisances, neverAgain, faulty),
	row("once an incarnation", longName, late, oncePerIncarnation, "V0a V0b V0c V2 V1+V2 V3"),

	row("bounded in a storm of events", busy, nuisances, bounded, "V0a V0b V0c"),
	row("bounded, a child is mirrored", of(mirrored, applied(Poisoned("poisoned"), whole)), nuisances, bounded,
		"V0a V0b V0c V1", note("V1", kubelet)),
	row("bounded, lists anew",
		of(silent, inTurn(apply(Poisoned("poisoned"), Example("busy")), lateBeats("busy", 45, 4*time.Second))),
		relists, bounded, "V0a V0b V0c"),
	row("the newest counts in a storm of edits", of(silent, inTurn(apply(Poisoned("poisoned")), edits)), lateBy(leg),
		newest, ""),

	row("bounded, denied by a webhook", of(denying, applied(Example("denied"), whole)), late, bounded,
		"V0a V0c V1 V3", note("V1", kubelet)),
	row("bounded, webhook away for ten minutes", of(silentHook, answered), failing, bounded, "V0a V0c V3",
		note("V1", tooShort)),
	row("bounded, a schema has grown", grownOut, failing, bounded, "V0c", note("V1", tooShort)),
}

// schedules are the cases about delays, also while faults are injected, and when they have ended.
func schedules() (out cases) {
	noDelays := []matrix.Remark{omit(never, "it has no delays of its own"),
		omit("V1", "its delays are the kubelet's, see “once an incarnation”")}
	out = cases{
		row("on schedule in spite of crashes", of(terse, applied(Verbose("wordy", wordy), whole)), crash, scheduled,
			"V2 V1+V2", noDelays...),
		row("on schedule, restarted every five minutes", of(terse, inTurn(applied(Verbose("wordy", wordy), dwell), stop,
			sleep(dwell), stop, sleep(dwell), stop, sleep(time.Minute))), late, scheduled, "V2 V1+V2", noDelays...),
		row("delays begin anew", of(terse, inTurn(applied(Verbose("relapsed", wordy), dwell),
			set("relapsed", "output", "5"), sleep(dwell), set("relapsed", "output", "2000"), sleep(dwell))), relists,
			startsOver, "", noDelays...),
	}
	forgets := note("V2 V1+V2", "its delays are in memory only, so a restart begins them anew")
	add := func(class string, f faults, fail string, remarks ...matrix.Remark) {
		w := of(terseQuiet, refusedUnderFaults)
		out = append(out, row("bounded attempts while "+class, w, f, restrained, fail, remarks...),
			row("it settles after "+class, w, f, settles, never))
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
	row("isolation", of(asReported, inTurn(apply(Poisoned("poisoned")), comeAndGo)), troubles("poisoned"), isolated,
		"V1"),
	row("isolation outside the net", of(legal, inTurn(apply(garbled()), comeAndGo)), late, isolated, "V1 V1+V2"),
	row("isolation, a finalizer for what is being deleted",
		of(quiet, inTurn(apply(finalized("deleted", foreignFinalizer)), remove("deleted"), sleep(dwell))), nuisances,
		noEnd, "V1"),
	row("isolation, an object vanishes",
		of(quiet, inTurn(apply(Example("vanished")), remove("vanished"), sleep(dwell))), lagging, noEnd, ""),
	row("isolation, 50 poisoned and 10 workers", of(tenWorkers, inTurn(crowd, sleep(30*time.Second), amongEvents)),
		failingFor("poisoned-00"), isolated, faulty,
		note("V0b V3", "its workers keep their objects for 5 s in case something follows")),
}

// openness are the cases about whether one can see what is the matter.
var openness = cases{
	row("never silent", tooLong, late, neverSilent, faulty),
	row("never silent, status denied too", of(denyingAll, applied(Example("denied"), dwell)), nuisances,
		neverSilent, faulty),
	row("actionable", of(legal, applied(Verbose("verbose", tooMuch), soon)), late, actionable, faulty),
	row("actionable, a schema has grown", grownOut, failing, actionable, faulty),
	// Watchers are root tasks: if one fails, the operator stops. The thread says that only
	// workers are not covered.
	row("no zombie", of(legalEarly, inTurn(apply(Example("plain")), lateBeats("plain", 5, time.Minute))),
		failingWatch, noZombie, "V4w"),
}

// arrival are the cases about whether an object is handled in the end.
var arrival = cases{
	row("recovers without an event", of(quiet, oneEdited), failingPatch, called, waiting,
		note("V3", "legal names end the reported refusal, but a write can fail for another reason")),
	row("status refused for a while",
		of(quiet, inTurn(apply(terseStatus, Example("refused")), sleep(dwell), apply(crd), settle)), nuisances,
		handled, faulty),
	row("an edit makes it legal", of(asReported, mended(4*time.Minute, dwell)), lateBy(2*time.Second), handledSoon,
		"V1 V2 V1+V2", goesRound),
	row("an edit after ten minutes", of(asReported, mended(620*time.Second, dwell+10*time.Second)),
		lateBy(2*time.Second), handledAtAll, "V2 V1+V2", goesRound),
	row("recovers when a webhook allows it",
		of(denyingQuiet, inTurn(apply(Example("denied")), sleep(time.Minute), lift(true), recovers)),
		lateBy(2*time.Second), recovered, waiting, note("V3", otherwise)),
	row("recovers when the webhook is back", of(silentQuiet, answered), lateBy(2*time.Second), recovered, waiting,
		note("V3", otherwise), omit("V0c", "it tries twice a second, as in the column before this one")),
}

// effects are the cases about whether everything happens once where writes do work, and about
// answers of the API server.
var effects = cases{
	row("effect once, crash", of(quiet, oneEdited), crash, effectOnce, faulty),
	row("effect once, lost reply", unheard, lostReply, effectOnce, faulty),
	row("called once, lost reply", unheard, lostReply, calledOnce, "V0c V1"),
	row("effect once, stale watch", watched, lagging, effectOnce, faulty),
	row("called once, stale watch", watched, lagging, neverAgain, faulty),
	row("a foreign finalizer", of(quiet, inTurn(hold, sleep(dwell))), lagging, keepsForeign, faulty),

	row("called once, somebody else writes first", raced, conflict, neverAgain, ""),
	row("a conflict is no failure", raced, conflict, noFailure, ""),
	row("called once, the server fails", failed, failingPatch, neverAgain, "V0c V1"),
	row("server errors are retried in the client", failed, failingPatch, insists, faulty),
	row("no handler for what has vanished", of(quiet,
		inTurn(apply(Example("forced")), sleep(time.Second), remove("forced"), release("forced"), sleep(dwell))),
		lagging, notVanished, faulty),
	row("every fault", of(lively, everything, ofEverything...), everyFault, effectOnce, "",
		matrix.OnlyFixed(throttle.V4)),
}

// ofEverything are what else the fixed variant keeps under every fault. Not how soon something
// happens after something else: the program may be dead, frozen or cut off for as long as that
// takes.
var ofEverything = []string{bounded, scheduled, noEnd, calledOnce, notVanished, keepsForeign, noZombie,
	handled}
