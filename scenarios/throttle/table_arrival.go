// This file exists for the part of the table that is about what one sees, what happens in the end,
// and what happens once.

package throttle

// openness are the questions whether one can see what is the matter.
func openness() []column {
	return []column{
		{
			Name: "never silent", Scene: tooLong, Faults: late, Broken: neverSilent,
			Caught:  uncured,
			Dossier: "✗ ✗ ✗ ✗ ✗ ✗ ✗ ✓",
		},
		{
			Name: "actionable", Scene: tell(legal, briefly), Faults: late, Broken: actionable,
			Caught:  uncured,
			Dossier: "✗ ✗ ✗ ✗ ✗ ✗ ✗ ✓",
		},
		{
			Name: "no zombie", Scene: listening, Faults: failingWatch, Broken: noZombie,
			Caught:  variants("V0a", "V0b", "V2", "V3"),
			Dossier: "✗ ✗ ✓ ✓ ✗ ✓ ✗ ✓",
		},
	}
}

// arrival are the questions whether an object is handled in the end.
func arrival() []column {
	const waits = extra + "; who only waits keeps the user waiting too, for as long as the back-off has grown to"
	const round = "it goes round and round, and so comes by in time"
	return []column{
		{
			Name: "recovers without an event", Scene: tell(quiet, oneEdited), Faults: failingPatch, Broken: called,
			Caught:  variants("V0a", "V0b", "V2", "V1+V2", "V3"),
			Dossier: "✗ ✗ ✓ ✓ ✗ ✗ ✓ ✓",
			Because: because{"V3": "legal names end the reported refusal, but a write can fail for another reason"},
		},
		{
			Name: "recovers by events of its own", Scene: tell(legal, oneEdited), Faults: failingPatch, Broken: called,
			Caught:  variants("V0a", "V0b", "V2", "V1+V2", "V3"),
			Dossier: "– – – – – – – –",
			Because: because{"": "an object whose first write fails, the finalizer's, has had no handler that could make an event"},
		},
		{
			Name: "status refused for a while", Scene: tell(quiet, refusedAWhile), Faults: nuisances, Broken: handled,
			Caught:  uncured,
			Dossier: "– – – – – – – –",
			Because: because{"": extra + ", one write of two refused; the record says that all is done, so what has no record of its own is never written"},
		},
		{
			Name: "an edit makes it legal", Scene: tell(asReported, mended), Faults: soonHeard, Broken: handledSoon,
			Unasked: unasked(round, "V0a", "V0c"),
			Caught:  variants("V1", "V2", "V1+V2"),
			Dossier: "– – – – – – – –",
			Because: because{"": waits},
		},
		{
			Name: "an edit after ten minutes", Scene: tell(asReported, mendedLate), Faults: soonHeard, Broken: handledAtAll,
			Unasked: unasked(round, "V0a", "V0c"),
			Caught:  variants("V2", "V1+V2"),
			Dossier: "– – – – – – – –",
			Because: because{"": extra + ": a crash loop waits for five minutes at most, a throttle for ten"},
		},
	}
}

// Scenes in which everything happens once, or does not.
var (
	watched = tell(quiet, oneWatched)
	crashed = tell(quiet, oneEdited)
	unheard = tell(quiet, oneEdited)
	raced   = tell(quiet, oneEdited)
	failed  = tell(quiet, oneEdited)
)

// effects are the questions whether everything happens once where writes do work.
func effects() []column {
	const stale = "what was read may be older than what the operator itself has written"
	return []column{
		{
			Name: "effect once, crash", Scene: crashed, Faults: crash, Broken: effectOnce,
			Caught:  uncured,
			Dossier: "– – – – – – – –",
			Because: because{"": without + ": " + first},
		},
		{
			Name: "effect once, lost reply", Scene: unheard, Faults: lostReply, Broken: effectOnce,
			Caught:  uncured,
			Dossier: "– – – – – – – –",
			Because: because{"": without + ": " + first},
		},
		{
			Name: "called once, lost reply", Scene: unheard, Faults: lostReply, Broken: calledOnce,
			Caught:  variants("V0c", "V1"),
			Dossier: "– – – – – – – –",
			Because: because{"": without + "; " + idle},
		},
		{
			Name: "effect once, stale watch", Scene: watched, Faults: lag, Broken: effectOnce,
			Caught:  uncured,
			Dossier: "– – – – – – – –",
			Because: because{"": without + ": " + stale},
		},
		{
			Name: "called once, stale watch", Scene: watched, Faults: lag, Broken: calledOnce,
			Caught:  uncured,
			Dossier: "– – – – – – – –",
			Because: because{"": without + ": " + stale},
		},
		{
			Name: "a foreign finalizer", Scene: tell(quiet, heldByAnother), Faults: lag, Broken: keepsForeign,
			Caught:  uncured,
			Dossier: "– – – – – – – –",
			Because: because{"": extra + "; a merge patch replaces the whole list"},
		},
	}
}

// answers are the questions whether the API server's answers are told apart.
func answers() []column {
	const never = without + "; who does not name what it has read is never answered 409"
	return []column{
		{
			Name: "effect once, somebody else writes first", Scene: raced, Faults: conflict, Broken: effectOnce,
			Dossier: "– – – – – – – –",
			Because: because{"": never},
		},
		{
			Name: "called once, somebody else writes first", Scene: raced, Faults: conflict, Broken: calledOnce,
			Dossier: "– – – – – – – –",
			Because: because{"": never},
		},
		{
			Name: "a conflict is no failure", Scene: raced, Faults: conflict, Broken: noFailure,
			Dossier: "– – – – – – – –",
			Because: because{"": never},
		},
		{
			Name: "called once, the server fails", Scene: failed, Faults: failingPatch, Broken: calledOnce,
			Caught:  variants("V0c", "V1"),
			Dossier: "– – – – – – – –",
			Because: because{"": without + "; " + idle},
		},
		{
			Name: "server errors are retried in the client", Scene: failed, Faults: failingPatch, Broken: insists,
			Caught:  uncured,
			Dossier: "– – – – – – – –",
			Because: because{"": without + "; client-go does so only where the server says when"},
		},
		{
			Name: "no handler for what has vanished", Scene: tell(quiet, forced), Faults: lag, Broken: notVanished,
			Caught:  uncured,
			Dossier: "– – – – – – – –",
			Because: because{"": without + "; a 404 is a success of what is written last, and says of what is written first that there is nothing to do"},
		},
		{
			Name: "never silent, no status to write to", Scene: tell(quiet, noPlace), Faults: nuisances, Broken: neverSilent,
			Caught:  uncured,
			Dossier: "– – – – – – – –",
			Because: because{"": without + "; a 404 is no success if the object is there"},
		},
	}
}
