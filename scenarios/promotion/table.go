// This file exists to hold the whole story as a table: for each variant, which question it fails under which faults.

package promotion

import (
	"time"

	"github.com/wavetank/wavetank/controllers/promotion"
	"github.com/wavetank/wavetank/sim"
)

// Column is one question asked of all variants.
type Column struct {
	// Name of the column.
	Name string
	// Tell is the scenario, under Faults. Every run asks for fresh faults.
	Tell   Telling
	Faults func() []sim.Fault
	// Caught are the variants that must fail; Broken is the property under which they do.
	Caught []promotion.Variant
	Broken string
	// Skipped are the variants of which the question makes no sense, because they fail a simpler one.
	Skipped []promotion.Variant
}

// Columns is the table. A variant that is neither caught nor skipped must hold.
func Columns() []Column {
	return []Column{
		{
			Name: "default trace, nothing lags", Tell: OneEvent, Faults: none, Broken: AttemptedOnce,
			Caught: variants("V0", "V1a"),
		},
		{
			Name: "default trace", Tell: OneEvent, Faults: lag, Broken: AttemptedOnce,
			Caught: variants("V0", "V1a", "V1"),
		},
		{
			Name: "app burst", Tell: Burst, Faults: lag, Broken: AttemptedOnce,
			Caught: variants("V0", "V1a", "V1", "V2", "V3"),
		},
		{
			Name: "racing requeue", Tell: OneEvent, Faults: lagAndRequeue, Broken: AttemptedOnce,
			Caught: variants("V0", "V1a", "V1", "V2", "V3"),
		},
		{
			Name: "crash window", Tell: OneEffect, Faults: crash, Broken: TakesEffectOnce,
			Caught: variants("V0", "V1a", "V1", "V2", "V3", "V4", "V5"),
		},
		{
			Name: "lost patch reply", Tell: OneEffect, Faults: lostPatch, Broken: TakesEffectOnce,
			Caught: variants("V0", "V1a", "V1", "V2", "V3", "V4", "V5"),
		},
		{
			Name: "arrives everywhere", Tell: Arrives, Faults: none, Broken: "the world settles",
			Caught: variants("V6t"),
		},
		{
			Name: "comes back", Tell: Returns, Faults: none, Broken: Everywhere,
			Caught: variants("V7"), Skipped: variants("V0", "V1a", "V6t"),
		},
		{
			Name: "arrives in spite of a crash", Tell: Arrives, Faults: crash, Broken: Everywhere,
			Caught: variants("V6", "V7"), Skipped: variants("V6t"),
		},
		{
			Name: "arrives in spite of a failing forge", Tell: Arrives, Faults: failingForge, Broken: Everywhere,
			Caught: variants("V1a", "V1", "V2", "V3", "V4", "V5", "V6", "V7"), Skipped: variants("V6t"),
		},
		{
			Name: "a late target is seen", Tell: Late, Faults: none, Broken: statusIsTrue,
		},
		{
			Name: "the status is true after a burst", Tell: Truthful, Faults: lag, Broken: statusIsTrue,
			Caught: variants("V2", "V3", "V4", "V6", "V7"), Skipped: variants("V6t"),
		},
		{
			Name: "no livelock", Tell: Conduct, Faults: lag, Broken: noLivelock,
			Caught: variants("V6t"),
		},
		{
			Name: "recorded soon", Tell: Bookkeeping, Faults: lagAndRequeue, Broken: recordedSoon,
			Caught: variants("V0"),
		},
		{
			Name: "says what it waits for", Tell: Waits, Faults: failingForge, Broken: actionable,
			Caught: variants("V0"), Skipped: variants("V6t"),
		},
	}
}

func variants(names ...promotion.Variant) []promotion.Variant { return names }

func none() []sim.Fault { return nil }

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
