// This file exists to hold the whole story as a table: for each variant, which question it fails under which faults.

package promotion

import (
	"slices"
	"time"

	"github.com/wavetank/wavetank/controllers/promotion"
	"github.com/wavetank/wavetank/scenarios/internal/verdicts"
	"github.com/wavetank/wavetank/sim"
)

// Columns is the table, a question in each; see [verdicts.Column].
func Columns() []column { return slices.Concat(once(), arrival(), manners()) }

// Reasons that stand for several cells.
const (
	beyond   = "its table has no such question, which stands among its properties or came out of the runs"
	livelock = "not asked: it goes in circles even where nothing strikes"
)

// once are the questions whether too much happens.
func once() []column {
	return []column{
		{
			Name: "default trace, nothing lags", Tell: OneEvent, Broken: AttemptedOnce,
			Caught:  variants("V0", "V1a"),
			Dossier: "✗ ✗ – ✓ ✓ ✓ ✓ ✓ ✓ ✓ ✓",
			Because: because{"V1": "it falls only when the event of its own status write lands during the pass, and where nothing lags none does"},
		},
		{
			Name: "default trace", Tell: OneEvent, Faults: lag, Broken: AttemptedOnce,
			Caught:  variants("V0", "V1a", "V1"),
			Dossier: "✗ ✗ ✗ ✓ ✓ ✓ ✓ ✓ ✓ ✓ ✓",
		},
		{
			Name: "app burst", Tell: Burst, Faults: lag, Broken: AttemptedOnce,
			Caught:  variants("V0", "V1a", "V1", "V2", "V3"),
			Dossier: "✗ ✗ ✗ ✗ ✗ ✓ ✓ ✓ ✓ ✓ ✓",
		},
		{
			Name: "racing requeue", Tell: OneEvent, Faults: lagAndRequeue, Broken: AttemptedOnce,
			Caught:  variants("V0", "V1a", "V1", "V2", "V3"),
			Dossier: "– – – – – – – – – – –",
			Because: because{"": "a leftover timer or a resync is not in its table; it does what a burst does"},
		},
		{
			Name: "crash window", Tell: OneEffect, Faults: crash, Broken: TakesEffectOnce,
			Caught:  variants("V0", "V1a", "V1", "V2", "V3", "V4", "V5"),
			Dossier: "✗ ✗ ✗ ✗ ✗ ✗ ✗ ✓ ✓ ✓ ✓",
		},
		{
			Name: "lost patch reply", Tell: OneEffect, Faults: lostPatch, Broken: TakesEffectOnce,
			Caught:  variants("V0", "V1a", "V1", "V2", "V3", "V4", "V5"),
			Dossier: "✗ ✗ ✗ ✗ ✗ ✗ ✗ ✓ ✓ ✓ ✓",
		},
	}
}

// arrival are the questions whether enough happens.
func arrival() []column {
	return []column{
		{
			Name: "arrives everywhere", Tell: Arrives, Broken: "the world settles",
			Caught:  variants("V6t"),
			Dossier: "✓ ✓ ✓ ✓ ✓ ✓ ✓ ✓ ✗ ✓ ✓",
		},
		{
			Name: "comes back", Tell: Returns, Broken: Everywhere,
			Caught: variants("V7"), Skipped: variants("V0", "V1a", "V6t"),
			Dossier: "– – – – – – – – – ✗ ✓",
			Because: because{"": "it asks this of V7 and V8 only; a record in the status is written over by the next revision, so a return is a new promotion"},
		},
		{
			Name: "arrives in spite of a crash", Tell: Arrives, Faults: crash, Broken: Everywhere,
			Caught: variants("V6", "V7"), Skipped: variants("V6t"),
			Dossier: "– – – – – – – ✗ ✗ ✗ ✓",
			Because: because{"": "without an intent there is none to lose; asked all the same", "V6t": livelock},
		},
		{
			Name: "arrives in spite of a failing forge", Tell: Arrives, Faults: failingForge, Broken: Everywhere,
			Caught: variants("V1a", "V1", "V2", "V3", "V4", "V5", "V6", "V7"), Skipped: variants("V6t"),
			Dossier: "✓ ✗ ✗ ✗ ✗ ✗ ✗ ✗ ✗ ✗ ✓",
			Because: because{"V6t": livelock},
		},
		{
			Name: "a late target is seen", Tell: Late, Broken: statusIsTrue,
			Dossier: "✓ ✓ ✓ ✗ ✓ ✓ ✓ ✓ ✓ ✓ ✓",
			Because: because{"V2": "a target in the operator's own cluster is watched, so it wakes the operator when it appears"},
		},
	}
}

// manners are the questions how it happens.
func manners() []column {
	return []column{
		{
			Name: "the status is true after a burst", Tell: Truthful, Faults: lag, Broken: statusIsTrue,
			Caught: variants("V2", "V3", "V4", "V6", "V7"), Skipped: variants("V6t"),
			Dossier: "– – – – – – – – – – –",
			Because: because{"": beyond},
		},
		{
			Name: "no livelock", Tell: Conduct, Faults: lag, Broken: noLivelock,
			Caught:  variants("V6t"),
			Dossier: "– – – – – – – – ✗ – –",
			Because: because{"": beyond},
		},
		{
			Name: "recorded soon", Tell: Bookkeeping, Faults: lagAndRequeue, Broken: recordedSoon,
			Caught:  variants("V0"),
			Dossier: "– – – – – – – – – – –",
			Because: because{"": beyond},
		},
		{
			Name: "says what it waits for", Tell: Waits, Faults: failingForge, Broken: actionable,
			Caught: variants("V0"), Skipped: variants("V6t"),
			Dossier: "– – – – – – – – – – –",
			Because: because{"": beyond},
		},
	}
}

// Table is the story's word. A variant that is neither caught nor skipped must hold.
func Table() verdicts.Table[promotion.Variant] {
	return verdicts.Table[promotion.Variant]{Variants: promotion.Variants(), Cure: promotion.V8, Columns: Columns()}
}

type (
	column  = verdicts.Column[promotion.Variant]
	because = map[promotion.Variant]string
)

func variants(names ...promotion.Variant) []promotion.Variant { return names }

func lag() []sim.Fault { return []sim.Fault{sim.StaleCache(30 * time.Second)} }

func lagAndRequeue() []sim.Fault {
	return []sim.Fault{sim.StaleCache(30 * time.Second), sim.RacingRequeue()}
}

func crash() []sim.Fault { return []sim.Fault{sim.Crash(Operator)} }

func lostPatch() []sim.Fault {
	return []sim.Fault{sim.LostReply(sim.In(Operator), sim.OfKind("Pipeline"), sim.OnVerb("patch"))}
}

func failingForge() []sim.Fault { return []sim.Fault{sim.FailedEffect()} }

// EveryFault is all that the harness knows to do to an operator and to the outside.
func EveryFault() []sim.Fault {
	return []sim.Fault{
		sim.StaleCache(30 * time.Second), sim.Crash(Operator), sim.RacingRequeue(),
		sim.LostReply(), sim.Conflict(), sim.ServerError(), sim.Unreachable(time.Minute),
		sim.SlowEffect(10 * time.Minute), sim.FailedEffect(), sim.DoubledEffect(),
	}
}
