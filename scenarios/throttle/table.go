// This file exists to hold the whole story as a table: for each variant, which question it fails
// under which faults.

package throttle

import (
	"slices"

	"github.com/wavetank/wavetank/controllers/throttle"
	"github.com/wavetank/wavetank/scenarios/internal/matrix"
)

// Table is the story's word. A variant that is neither caught nor unasked must hold.
func Table() matrix.Table[throttle.Variant] {
	return matrix.Table[throttle.Variant]{
		Variants: throttle.Variants(), Fixed: throttle.V4, Cases: Columns(), Predictions: predictions(),
	}
}

// predictions were made from reading the code, before anything ran.
func predictions() []matrix.Prediction[throttle.Variant] {
	const recovers = "recovers without an event"
	return []matrix.Prediction[throttle.Variant]{
		{Says: "a handler's own writes to the object make the hot loop go round", Case: "bounded, long name",
			Variant: throttle.V0a, Fails: true},
		{Says: "so do another writer's heartbeats", Case: "bounded in a storm of events", Variant: throttle.V0b,
			Fails: true},
		{Says: "so does a child's state that is mirrored onto the object", Case: "bounded, a child is mirrored",
			Variant: throttle.V0b, Fails: true},
		{Says: "so do lists that are made anew", Case: "bounded, lists anew", Variant: throttle.V0b, Fails: true},
		{Says: "if nothing writes, the object is dropped after one failure", Case: recovers, Variant: throttle.V0b,
			Fails: true},
		{Says: "and then there is no hot loop", Case: "bounded, long name", Variant: throttle.V0b, Fails: false},
		{Says: "a throttle never retries on its own", Case: recovers, Variant: throttle.V2, Fails: true},
		{Says: "nor does what shipped", Case: recovers, Variant: throttle.V1V2, Fails: true},
		{Says: "a restart sets the throttle's delay back to a second",
			Case: "on schedule, restarted every five minutes", Variant: throttle.V2, Fails: true},
	}
}

// Columns is the table, a question in each; see [matrix.Case].
func Columns() []column {
	return slices.Concat(repetition(), suppliers(), schedules(), neighbourhood(), openness(), arrival(), effects(),
		answers(), rejections(), rejectionsAfter(), all())
}

type (
	column  = matrix.Case[throttle.Variant]
	because = map[throttle.Variant]string
)

func variants(names ...throttle.Variant) []throttle.Variant { return names }

// faulty are all but the fixed variant.
var faulty = variants("V0a", "V0b", "V0c", "V1", "V2", "V1+V2", "V3")

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
	kubelet = "it keeps to the kubelet's schedule, see “once an incarnation”, " +
		"and from the back-off of 300 s on that is twice within 610 s"
	first   = "the effect comes before anything is written down of it"
	noDelay = "it has no delays of its own"
	idle    = "who does not try again calls no handler twice"
)

// Scenes of which more than one thing is asked.
var (
	longName = workload(asReported, onePoisoned)
	tooLong  = workload(legal, oneVerbose)
	stormy   = workload(silent, storm)
)

// repetition are the questions how often handlers are called for what cannot be written down.
func repetition() []column {
	return []column{
		{
			Name: "bounded, long name", Workload: longName, Faults: late, Property: bounded,
			Fail:  variants("V0a", "V0c", "V1"),
			Notes: because{"V1": kubelet},
		},
		{
			Name: "bounded, too much to write down", Workload: tooLong, Faults: late, Property: bounded,
			Fail:  variants("V0a", "V0c", "V3"),
			Notes: because{"V1": "in five minutes the kubelet starts it five times"},
		},
		{
			Name: "bounded, second record refused", Workload: workload(afterOne, onePoisoned), Faults: late,
			Property: bounded,
			Fail:     variants("V0a", "V0c", "V1"),
		},
		{
			Name: "permanent for the same input, long name", Workload: stormy, Faults: nuisances, Property: calledOnce,
			Fail: faulty,
		},
		{
			Name: "permanent for the same input, too much to write down", Workload: workload(quiet, verboseStorm),
			Faults: nuisances, Property: calledOnce,
			Fail: faulty,
		},
		{
			Name: "once an incarnation", Workload: longName, Faults: late, Property: oncePerIncarnation,
			Fail: variants("V0a", "V0b", "V0c", "V2", "V1+V2", "V3"),
		},
	}
}

// suppliers are the questions who makes a hot loop go round, where handlers write to nothing but
// what they make.
func suppliers() []column {
	return []column{
		{
			Name: "bounded in a storm of events", Workload: stormy, Faults: nuisances, Property: bounded,
			Fail: variants("V0a", "V0b", "V0c"),
		},
		{
			Name: "bounded, a child is mirrored", Workload: workload(mirrored, onePoisoned), Faults: nuisances,
			Property: bounded,
			Fail:     variants("V0a", "V0b", "V0c", "V1"),
			Notes:    because{"V1": kubelet},
		},
		{
			Name: "bounded, lists anew", Workload: workload(silent, relisted), Faults: relists, Property: bounded,
			Fail: variants("V0a", "V0b", "V0c"),
		},
		{
			Name: "the newest counts in a storm of edits", Workload: workload(silent, edits), Faults: atOnce,
			Property: newest,
		},
	}
}

// schedules are the questions about delays.
func schedules() []column {
	return []column{
		{
			Name: "on schedule in spite of crashes", Workload: workload(terse, oneWordy), Faults: crash,
			Property: scheduled,
			NotRun:   schedulers(),
			Fail:     variants("V2", "V1+V2"),
		},
		{
			Name: "on schedule, restarted every five minutes", Workload: workload(terse, restarted), Faults: late,
			Property: scheduled,
			NotRun:   schedulers(),
			Fail:     variants("V2", "V1+V2"),
		},
		{
			Name: "delays begin anew", Workload: workload(terse, relapse), Faults: relists, Property: startsOver,
			NotRun: schedulers(),
		},
	}
}

// schedulers has the reasons why those that do not throttle are not asked about it.
func schedulers() because {
	out := unasked(noDelay, "V0a", "V0b", "V0c", "V3")
	out["V1"] = "its delays are the kubelet's, see “once an incarnation”"
	return out
}

// neighbourhood are the questions what one object does to another.
func neighbourhood() []column {
	return []column{
		{
			Name: "isolation", Workload: workload(asReported, neighbours), Faults: troubles("poisoned"),
			Property: isolated,
			Fail:     variants("V1"),
		},
		{
			Name: "isolation outside the net", Workload: workload(legal, garbled), Faults: late, Property: isolated,
			Fail: variants("V1", "V1+V2"),
		},
		{
			Name: "isolation, a finalizer for what is being deleted", Workload: workload(quiet, deletedAtOnce),
			Faults: nuisances, Property: noEnd,
			Fail: variants("V1"),
		},
		{
			Name: "isolation, an object vanishes", Workload: workload(quiet, vanished), Faults: lag, Property: noEnd,
		},
		{
			Name: "isolation, 50 poisoned and 10 workers", Workload: workload(tenWorkers, crowd),
			Faults: failingFor("poisoned-00"), Property: isolated,
			Fail:  variants("V0a", "V0c", "V1", "V2", "V1+V2", "V3"),
			Notes: because{"V3": "its workers keep their objects for 5 s in case something follows"},
		},
	}
}

// all is everything at once.
func all() []column {
	return []column{{
		Name: "every fault", New: always, Faults: EveryFault, Property: effectOnce,
		NotRun: matrix.OnlyFixed(throttle.Variants(), throttle.V4),
	}}
}
