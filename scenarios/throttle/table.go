// This file exists to hold the whole story as a table: for each variant, which question it fails under which faults.

package throttle

import (
	"slices"
	"time"

	"github.com/wavetank/wavetank/controllers/throttle"
	"github.com/wavetank/wavetank/scenarios/internal/verdicts"
	"github.com/wavetank/wavetank/sim"
)

// Table is the story's word. A variant that is neither caught nor skipped must hold.
func Table() verdicts.Table[throttle.Variant] {
	return verdicts.Table[throttle.Variant]{Variants: throttle.Variants(), Cure: throttle.V4, Columns: Columns(), AtLeast: verdicts.Enough}
}

// Columns is the table, a question in each; see [verdicts.Column].
func Columns() []column {
	return slices.Concat(repetition(), neighbourhood(), openness(), arrival(), effects(), rejections(), rejectionsAfter())
}

type (
	column  = verdicts.Column[throttle.Variant]
	because = map[throttle.Variant]string
)

func variants(names ...throttle.Variant) []throttle.Variant { return names }

// uncured are all but the full cure.
var uncured = variants("V0a", "V0b", "V0c", "V1", "V2", "V1+V2", "V3")

// repetition are the questions how often handlers are called for what cannot be written down.
func repetition() []column {
	return []column{
		{
			Name: "bounded, long name", Tell: told(asReported, askBounded, onePoisoned), Broken: bounded,
			Caught:  variants("V0a", "V0c", "V1"),
			Dossier: "✗ ✓ ✗ ~ ✓ ✓ ✓ ✓",
			Because: because{"V1": "it keeps to the kubelet's schedule, see “once a life”, and from the back-off of 300 s on that is twice within 610 s"},
		},
		{
			Name: "bounded, too much to write down", Tell: told(legal, askBounded, oneVerbose), Broken: bounded,
			Caught:  variants("V0a", "V0c", "V1", "V3"),
			Dossier: "✗ ✓ ✗ ~ ✓ ✓ ✗ ✓",
			Because: because{"V1": "it keeps to the kubelet's schedule, see “once a life”, and from the back-off of 300 s on that is twice within 610 s"},
		},
		{
			Name: "bounded, second record refused", Tell: told(afterOne, askBounded, onePoisoned), Broken: bounded,
			Caught:  variants("V0a", "V0c", "V1"),
			Dossier: "– – – – – – – –",
			Because: because{"": "an extra scenario of its; a record that was persisted before changes nothing for the next one"},
		},
		{
			Name: "bounded in a storm of events", Tell: told(silent, askBounded, storm), Broken: bounded,
			Caught:  variants("V0a", "V0b", "V0c"),
			Dossier: "– – – – – – – –",
			Because: because{"": "an extra scenario of its; V0b is V0a as soon as somebody else writes, and in 20 s V1 dies twice"},
		},
		{
			Name: "the newest counts in a storm of edits", Tell: told(silent, askNewest, edits), Broken: newest,
			Dossier: "– – – – – – – –",
			Because: because{"": "an extra scenario of its, by which every variant keeps: what was not looked at is forgotten when something newer comes"},
		},
		{
			Name: "on schedule in spite of restarts", Tell: told(legal, askScheduled, oneVerbose), Faults: crash, Broken: scheduled,
			Skipped: variants("V0a", "V0b", "V0c", "V1", "V3"),
			Caught:  variants("V2", "V1+V2"),
			Dossier: "– – – – – – – –",
			Because: because{"": "it says that a restart resets the delay, without a cell; true, unless attempts are counted on the object before they are made"},
		},
		{
			Name: "once a life", Tell: told(asReported, askOncePerLife, onePoisoned), Broken: oncePerLife,
			Skipped: variants("V0a", "V0b", "V0c", "V2", "V1+V2", "V3", "V4"),
			Dossier: "– – – – – – – –",
			Because: because{"": "a property of its for V1, without a cell"},
		},
		{
			Name: "delays begin anew", Tell: told(legal, askStartsOver, relapse), Broken: startsOver,
			Skipped: variants("V0a", "V0b", "V0c", "V1", "V3"),
			Dossier: "– – – – – – – –",
			Because: because{"": "a property of its, without a cell"},
		},
	}
}

// neighbourhood are the questions what one object does to another.
func neighbourhood() []column {
	return []column{
		{
			Name: "isolation", Tell: told(asReported, askIsolated, neighbours), Broken: isolated,
			Caught:  variants("V1"),
			Dossier: "✓ ✓ ✓ ✗ ✓ ✓ ✓ ✓",
		},
		{
			Name: "isolation outside the net", Tell: told(legal, askIsolated, garbled), Broken: isolated,
			Caught:  variants("V1", "V1+V2"),
			Dossier: "– – – ✗ – ✗ – –",
			Because: because{"": "what swallows errors swallows these too"},
		},
		{
			Name: "isolation, a finalizer for what is being deleted", Tell: told(quiet, askIsolated, deletedAtOnce), Faults: lag, Broken: isolated,
			Caught:  variants("V1"),
			Dossier: "– – – – – – – –",
			Because: because{"": "an extra scenario of its: 422 for an operator that has not heard of the deletion, 409 for the one that names what it has read"},
		},
		{
			Name: "isolation, an object vanishes", Tell: told(quiet, askIsolated, vanished), Faults: lag, Broken: isolated,
			Dossier: "– – – – – – – –",
			Because: because{"": "a property of its, without a cell: 404 for a patch is a success"},
		},
		{
			Name: "isolation, 50 poisoned and 10 workers", Tell: told(tenWorkers, askIsolated, crowd), Broken: isolated,
			Caught:  variants("V0a", "V0c", "V1", "V2", "V1+V2"),
			Dossier: "– – – – – – – –",
			Because: because{"": "an extra scenario of its; a throttled object keeps its worker while it sleeps, and a hot loop keeps it for ever"},
		},
	}
}

// openness are the questions whether one can see what is the matter.
func openness() []column {
	return []column{
		{
			Name: "never silent", Tell: told(legal, askNeverSilent, briefly), Broken: neverSilent,
			Caught:  uncured,
			Dossier: "✗ ✗ ✗ ✗ ✗ ✗ ✗ ✓",
		},
		{
			Name: "actionable", Tell: told(legal, askActionable, briefly), Broken: actionable,
			Caught:  uncured,
			Dossier: "✗ ✗ ✗ ✗ ✗ ✗ ✗ ✓",
		},
		{
			Name: "no zombie", Tell: listening, Faults: failingWatch, Broken: noZombie,
			Caught:  variants("V0a", "V0b", "V2", "V3"),
			Dossier: "✗ ✗ ✓ ✓ ✗ ✓ ✗ ✓",
		},
	}
}

// arrival are the questions whether an object is handled in the end.
func arrival() []column {
	return []column{
		{
			Name: "recovers without an event", Tell: told(quiet, askCalled, oneEdited), Faults: failingPatch, Broken: called,
			Caught:  variants("V0a", "V0b", "V2", "V1+V2", "V3"),
			Dossier: "✗ ✗ ✓ ✓ ✗ ✗ ✓ ✓",
			Because: because{"V3": "legal names end the reported refusal, but a write can fail for another reason"},
		},
		{
			Name: "recovers by events of its own", Tell: told(legal, askCalled, oneEdited), Faults: failingPatch, Broken: called,
			Caught:  variants("V0a", "V0b", "V2", "V1+V2", "V3"),
			Dossier: "– – – – – – – –",
			Because: because{"": "an object whose first write fails, the finalizer's, has had no handler that could make an event"},
		},
		{
			Name: "status refused for a while", Tell: told(quiet, askHandled, refusedAWhile), Broken: handled,
			Caught:  uncured,
			Dossier: "– – – – – – – –",
			Because: because{"": "an extra scenario of its, one write of two refused; the record says that all is done, so what has no record of its own is never written"},
		},
		{
			Name: "an edit makes it legal", Tell: told(asReported, askHandledSoon, mended), Broken: handledSoon,
			Skipped: variants("V0a", "V0c"),
			Caught:  variants("V1", "V2", "V1+V2"),
			Dossier: "– – – – – – – –",
			Because: because{"": "an extra scenario of its; who only waits keeps the user waiting too, for as long as the back-off has grown to", "V0a": "not asked: it goes round and round, and so comes by in time", "V0c": "not asked: it goes round and round, and so comes by in time"},
		},
		{
			Name: "an edit after ten minutes", Tell: told(asReported, askHandledAtAll, mendedLate), Broken: handledAtAll,
			Skipped: variants("V0a", "V0c"),
			Caught:  variants("V2", "V1+V2"),
			Dossier: "– – – – – – – –",
			Because: because{"": "an extra scenario of its: a crash loop waits for five minutes at most, a throttle for ten", "V0a": "not asked: it goes round and round, and so comes by in time", "V0c": "not asked: it goes round and round, and so comes by in time"},
		},
	}
}

// effects are the questions whether everything happens once where writes do work.
func effects() []column {
	return []column{
		{
			Name: "effect once, crash", Tell: told(quiet, askEffectOnce, oneEdited), Faults: crash, Broken: effectOnce,
			Caught:  uncured,
			Dossier: "– – – – – – – –",
			Because: because{"": "a property of its, without a cell: the effect comes before anything is written down of it"},
		},
		{
			Name: "effect once, lost reply", Tell: told(quiet, askEffectOnce, oneEdited), Faults: lostReply, Broken: effectOnce,
			Caught:  uncured,
			Dossier: "– – – – – – – –",
			Because: because{"": "a property of its, without a cell: the effect comes before anything is written down of it"},
		},
		{
			Name: "effect once, stale watch", Tell: told(quiet, askEffectOnce, oneWatched), Faults: lag, Broken: effectOnce,
			Caught:  uncured,
			Dossier: "– – – – – – – –",
			Because: because{"": "a property of its, without a cell: what was read may be older than what the operator itself has written"},
		},
		{
			Name: "effect once, somebody else writes first", Tell: told(quiet, askEffectOnce, oneEdited), Faults: conflict, Broken: effectOnce,
			Skipped: uncured,
			Dossier: "– – – – – – – –",
			Because: because{"": "a property of its, without a cell; only who names what it has read can be answered 409, and the full cure does that before the effect"},
		},
		{
			Name: "a foreign finalizer", Tell: told(quiet, askKeepsForeign, heldByAnother), Faults: lag, Broken: keepsForeign,
			Caught:  uncured,
			Dossier: "– – – – – – – –",
			Because: because{"": "an extra scenario of its; a merge patch replaces the whole list"},
		},
		{
			Name: "every fault", Tell: told(asReported, askEverything, everything), Faults: EveryFault, Broken: effectOnce,
			Skipped: uncured,
			Dossier: "– – – – – – – ✓",
		},
	}
}

func crash() []sim.Fault { return []sim.Fault{sim.Crash(Operator)} }

func conflict() []sim.Fault { return []sim.Fault{sim.Conflict()} }

func lag() []sim.Fault { return []sim.Fault{sim.StaleCache(30 * time.Second)} }

func lostReply() []sim.Fault { return []sim.Fault{sim.LostReply(sim.In(Operator))} }

func failingPatch() []sim.Fault {
	return []sim.Fault{sim.ServerError(sim.In(Operator), sim.OfKind("KopfExample"), sim.OnVerb("patch"))}
}

func failingWatch() []sim.Fault {
	return []sim.Fault{
		sim.ServerError(sim.In(Operator), sim.OnVerb("list")), sim.ServerError(sim.In(Operator), sim.OnVerb("watch")),
	}
}

// EveryFault is all that the harness knows to do to an operator in its cluster.
func EveryFault() []sim.Fault {
	return []sim.Fault{
		sim.StaleCache(30 * time.Second), sim.Crash(Operator), sim.LostReply(sim.In(Operator)), sim.Conflict(),
		sim.ServerError(sim.In(Operator)), sim.Unreachable(time.Minute),
	}
}
