// This file exists for the part of the table that is about what one sees, what happens in the end,
// and what happens once.

package throttle

// openness are the questions whether one can see what is the matter.
func openness() []column {
	return []column{
		{
			Name: "never silent", Workload: tooLong, Faults: late, Property: neverSilent,
			Fail: faulty,
		},
		{
			Name: "actionable", Workload: workload(legal, briefly), Faults: late, Property: actionable,
			Fail: faulty,
		},
		{
			Name: "no zombie", Workload: listening, Faults: failingWatch, Property: noZombie,
			// Watchers are root tasks: if one fails, the operator stops. The thread says that only
			// workers are not covered.
		},
	}
}

// arrival are the questions whether an object is handled in the end.
func arrival() []column {
	const waits = extra + "; who only waits keeps the user waiting too, for as long as the back-off has grown to"
	const round = "it goes round and round, and so comes by in time"
	return []column{
		{
			Name: "recovers without an event", Workload: workload(quiet, oneEdited), Faults: failingPatch,
			Property: called,
			Fail:     variants("V0a", "V0b", "V2", "V1+V2", "V3"),
			Notes:    because{"V3": "legal names end the reported refusal, but a write can fail for another reason"},
		},
		{
			Name: "recovers by events of its own", Workload: workload(legal, oneEdited), Faults: failingPatch,
			Property: called,
			Fail:     variants("V0a", "V0b", "V2", "V1+V2", "V3"),
		},
		{
			Name: "status refused for a while", Workload: workload(quiet, refusedAWhile), Faults: nuisances,
			Property: handled,
			Fail:     faulty,
		},
		{
			Name: "an edit makes it legal", Workload: workload(asReported, mended), Faults: soonHeard,
			Property: handledSoon,
			NotRun:   unasked(round, "V0a", "V0c"),
			Fail:     variants("V1", "V2", "V1+V2"),
		},
		{
			Name: "an edit after ten minutes", Workload: workload(asReported, mendedLate), Faults: soonHeard,
			Property: handledAtAll,
			NotRun:   unasked(round, "V0a", "V0c"),
			Fail:     variants("V2", "V1+V2"),
		},
	}
}

// Scenes in which everything happens once, or does not.
var (
	watched = workload(quiet, oneWatched)
	crashed = workload(quiet, oneEdited)
	unheard = workload(quiet, oneEdited)
	raced   = workload(quiet, oneEdited)
	failed  = workload(quiet, oneEdited)
)

// effects are the questions whether everything happens once where writes do work.
func effects() []column {
	const stale = "what was read may be older than what the operator itself has written"
	return []column{
		{
			Name: "effect once, crash", Workload: crashed, Faults: crash, Property: effectOnce,
			Fail: faulty,
		},
		{
			Name: "effect once, lost reply", Workload: unheard, Faults: lostReply, Property: effectOnce,
			Fail: faulty,
		},
		{
			Name: "called once, lost reply", Workload: unheard, Faults: lostReply, Property: calledOnce,
			Fail: variants("V0c", "V1"),
		},
		{
			Name: "effect once, stale watch", Workload: watched, Faults: lag, Property: effectOnce,
			Fail: faulty,
		},
		{
			Name: "called once, stale watch", Workload: watched, Faults: lag, Property: calledOnce,
			Fail: faulty,
		},
		{
			Name: "a foreign finalizer", Workload: workload(quiet, heldByAnother), Faults: lag, Property: keepsForeign,
			Fail: faulty,
		},
	}
}

// answers are the cases about answers of the API server.
func answers() []column {
	const never = without + "; who does not name what it has read is never answered 409"
	return []column{
		{
			Name: "effect once, somebody else writes first", Workload: raced, Faults: conflict, Property: effectOnce,
		},
		{
			Name: "called once, somebody else writes first", Workload: raced, Faults: conflict, Property: calledOnce,
		},
		{
			Name: "a conflict is no failure", Workload: raced, Faults: conflict, Property: noFailure,
		},
		{
			Name: "called once, the server fails", Workload: failed, Faults: failingPatch, Property: calledOnce,
			Fail: variants("V0c", "V1"),
		},
		{
			Name: "server errors are retried in the client", Workload: failed, Faults: failingPatch, Property: insists,
			Fail: faulty,
		},
		{
			Name: "no handler for what has vanished", Workload: workload(quiet, forced), Faults: lag,
			Property: notVanished,
			Fail:     faulty,
		},
		{
			Name: "never silent, no status to write to", Workload: workload(quiet, noPlace), Faults: nuisances,
			Property: neverSilent,
			Fail:     faulty,
		},
	}
}
