// This file exists to hold the whole story as a table: for each variant, which question it fails
// under which faults.

package throttle

import (
	"slices"

	"github.com/wavetank/wavetank/controllers/throttle"
	"github.com/wavetank/wavetank/scenarios/internal/verdicts"
)

// Table is the story's word. A variant that is neither caught nor unasked must hold.
func Table() verdicts.Table[throttle.Variant] {
	return verdicts.Table[throttle.Variant]{
		Variants: throttle.Variants(), Cure: throttle.V4, Columns: Columns(), Foretold: predictions(), AtLeast: verdicts.Enough,
	}
}

// predictions are what the dossier derived from reading the code, without having seen it happen.
func predictions() []verdicts.Prediction[throttle.Variant] {
	const recovers = "recovers without an event"
	return []verdicts.Prediction[throttle.Variant]{
		{Says: "a handler's own writes to the object make the hot loop go round", Column: "bounded, long name", Variant: throttle.V0a, Falls: true},
		{Says: "so do another writer's heartbeats", Column: "bounded in a storm of events", Variant: throttle.V0b, Falls: true},
		{Says: "so does a child's state that is mirrored onto the object", Column: "bounded, a child is mirrored", Variant: throttle.V0b, Falls: true},
		{Says: "so do lists that are made anew", Column: "bounded, lists anew", Variant: throttle.V0b, Falls: true},
		{Says: "if nothing writes, the object is dropped after one failure", Column: recovers, Variant: throttle.V0b, Falls: true},
		{Says: "and then there is no hot loop", Column: "bounded, long name", Variant: throttle.V0b, Falls: false},
		{Says: "a throttle never retries on its own", Column: recovers, Variant: throttle.V2, Falls: true},
		{Says: "nor does what shipped", Column: recovers, Variant: throttle.V1V2, Falls: true},
		{Says: "a restart sets the throttle's delay back to a second", Column: "on schedule, restarted every five minutes", Variant: throttle.V2, Falls: true},
	}
}

// Columns is the table, a question in each; see [verdicts.Column].
func Columns() []column {
	return slices.Concat(repetition(), suppliers(), schedules(), neighbourhood(), openness(), arrival(), effects(), answers(), rejections(), rejectionsAfter(), all())
}

type (
	column  = verdicts.Column[throttle.Variant]
	because = map[throttle.Variant]string
)

func variants(names ...throttle.Variant) []throttle.Variant { return names }

// uncured are all but the full cure.
var uncured = variants("V0a", "V0b", "V0c", "V1", "V2", "V1+V2", "V3")

// unasked gives one reason for several variants.
func unasked(why string, names ...throttle.Variant) because {
	out := because{}
	for _, v := range names {
		out[v] = why
	}
	return out
}

// Reasons that stand for several cells.
const (
	extra   = "an extra scenario of its"
	without = "a property of its, without a cell"
	kubelet = "it keeps to the kubelet's schedule, see “once a life”, and from the back-off of 300 s on that is twice within 610 s"
	first   = "the effect comes before anything is written down of it"
	noDelay = "it has no delays of its own"
	idle    = "who does not try again calls no handler twice"
)

// Scenes of which more than one thing is asked.
var (
	longName = tell(asReported, onePoisoned)
	tooLong  = tell(legal, oneVerbose)
	stormy   = tell(silent, storm)
)

// repetition are the questions how often handlers are called for what cannot be written down.
func repetition() []column {
	return []column{
		{
			Name: "bounded, long name", Scene: longName, Faults: late, Broken: bounded,
			Caught:  variants("V0a", "V0c", "V1"),
			Dossier: "✗ ✓ ✗ ~ ✓ ✓ ✓ ✓",
			Because: because{"V1": kubelet},
		},
		{
			Name: "bounded, too much to write down", Scene: tooLong, Faults: late, Broken: bounded,
			Caught:  variants("V0a", "V0c", "V3"),
			Dossier: "✗ ✓ ✗ ~ ✓ ✓ ✗ ✓",
			Because: because{"V1": "in five minutes the kubelet starts it five times"},
		},
		{
			Name: "bounded, second record refused", Scene: tell(afterOne, onePoisoned), Faults: late, Broken: bounded,
			Caught:  variants("V0a", "V0c", "V1"),
			Dossier: "– – – – – – – –",
			Because: because{"": extra + "; a record that was persisted before changes nothing for the next one"},
		},
		{
			Name: "permanent for the same input, long name", Scene: stormy, Faults: nuisances, Broken: calledOnce,
			Caught:  uncured,
			Dossier: "– – – – – – – –",
			Because: because{"": without},
		},
		{
			Name: "permanent for the same input, too much to write down", Scene: tell(quiet, verboseStorm), Faults: nuisances, Broken: calledOnce,
			Caught:  uncured,
			Dossier: "– – – – – – – –",
			Because: because{"": without + "; the full cure keeps what the handler has come to, and tries to write down only that"},
		},
		{
			Name: "once a life", Scene: longName, Faults: late, Broken: oncePerLife,
			Caught:  variants("V0a", "V0b", "V0c", "V2", "V1+V2", "V3"),
			Dossier: "– – – – – – – –",
			Because: because{"": "a property of its for V1, without a cell; asked of all"},
		},
	}
}

// suppliers are the questions who makes a hot loop go round, where handlers write to nothing but
// what they make.
func suppliers() []column {
	return []column{
		{
			Name: "bounded in a storm of events", Scene: stormy, Faults: nuisances, Broken: bounded,
			Caught:  variants("V0a", "V0b", "V0c"),
			Dossier: "– – – – – – – –",
			Because: because{"": extra + "; V0b is V0a as soon as somebody else writes, and in 11 s V1 dies twice"},
		},
		{
			Name: "bounded, a child is mirrored", Scene: tell(mirrored, onePoisoned), Faults: nuisances, Broken: bounded,
			Caught:  variants("V0a", "V0b", "V0c", "V1"),
			Dossier: "– – – – – – – –",
			Because: because{"": "one of the suppliers of events that it foretells; every call makes a child, which is another event", "V1": kubelet},
		},
		{
			Name: "bounded, lists anew", Scene: tell(silent, relisted), Faults: relists, Broken: bounded,
			Caught:  variants("V0a", "V0b", "V0c"),
			Dossier: "– – – – – – – –",
			Because: because{"": "one of the suppliers of events that it foretells; in three minutes the kubelet starts V1 five times"},
		},
		{
			Name: "the newest counts in a storm of edits", Scene: tell(silent, edits), Faults: atOnce, Broken: newest,
			Dossier: "– – – – – – – –",
			Because: because{"": extra + ", by which every variant keeps: what was not looked at is forgotten when something newer comes"},
		},
	}
}

// schedules are the questions about delays.
func schedules() []column {
	return []column{
		{
			Name: "on schedule in spite of crashes", Scene: tell(terse, oneWordy), Faults: crash, Broken: scheduled,
			Unasked: schedulers(),
			Caught:  variants("V2", "V1+V2"),
			Dossier: "– – – – – – – –",
			Because: because{"": "it says that a restart resets the delay, without a cell; true, unless attempts are counted on the object before they are made"},
		},
		{
			Name: "on schedule, restarted every five minutes", Scene: tell(terse, restarted), Faults: late, Broken: scheduled,
			Unasked: schedulers(),
			Caught:  variants("V2", "V1+V2"),
			Dossier: "– – – – – – – –",
			Because: because{"": extra},
		},
		{
			Name: "delays begin anew", Scene: tell(terse, relapse), Faults: relists, Broken: startsOver,
			Unasked: schedulers(),
			Dossier: "– – – – – – – –",
			Because: because{"": without},
		},
	}
}

// schedulers has the reasons why those that do not throttle are not asked about it.
func schedulers() because {
	out := unasked(noDelay, "V0a", "V0b", "V0c", "V3")
	out["V1"] = "its delays are the kubelet's, see “once a life”"
	return out
}

// neighbourhood are the questions what one object does to another.
func neighbourhood() []column {
	return []column{
		{
			Name: "isolation", Scene: tell(asReported, neighbours), Faults: troubles("poisoned"), Broken: isolated,
			Caught:  variants("V1"),
			Dossier: "✓ ✓ ✓ ✗ ✓ ✓ ✓ ✓",
		},
		{
			Name: "isolation outside the net", Scene: tell(legal, garbled), Faults: late, Broken: isolated,
			Caught:  variants("V1", "V1+V2"),
			Dossier: "– – – ✗ – ✗ – –",
			Because: because{"": "an error in the operator's own bookkeeping; what swallows errors swallows these too"},
		},
		{
			Name: "isolation, a finalizer for what is being deleted", Scene: tell(quiet, deletedAtOnce), Faults: nuisances, Broken: noEnd,
			Caught:  variants("V1"),
			Dossier: "– – – – – – – –",
			Because: because{"": extra + ": 422 for an operator that has not heard of the deletion, 409 for the one that names what it has read"},
		},
		{
			Name: "isolation, an object vanishes", Scene: tell(quiet, vanished), Faults: lag, Broken: noEnd,
			Dossier: "– – – – – – – –",
			Because: because{"": without + ": 404 for a patch is a success"},
		},
		{
			Name: "isolation, 50 poisoned and 10 workers", Scene: tell(tenWorkers, crowd), Faults: failingFor("poisoned-00"), Broken: isolated,
			Caught:  variants("V0a", "V0c", "V1", "V2", "V1+V2", "V3"),
			Dossier: "– – – – – – – –",
			Because: because{"": extra + "; a throttled object keeps its worker while it sleeps, and a hot loop keeps it for ever",
				"V3": extra + "; its workers keep their objects for 5 s in case something follows"},
		},
	}
}

// all is everything at once.
func all() []column {
	return []column{{
		Name: "every fault", Tell: always, Faults: EveryFault, Broken: effectOnce,
		Unasked: verdicts.OnlyCure(throttle.Variants(), throttle.V4),
		Dossier: "– – – – – – – ✓",
	}}
}
