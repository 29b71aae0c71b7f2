// This file exists for the rest of the table: how long things take, environments in
// several places, what people and installers do at the wrong moment, and every fault at once.

package promotion

import (
	"slices"
	"strings"
	"time"

	"pgregory.net/rapid"

	"github.com/wavetank/wavetank/controllers/promotion"
	"github.com/wavetank/wavetank/scenarios/internal/matrix"
	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/fault"
)

// Reasons that stand for several cells.
const (
	foundLater = "its extra scenarios and its table do not name it; it came out of reading the fix again"
	swallowed  = "named among the defects upstream, without a cell; the error of the set-up is swallowed, " +
		"and the operator runs without a controller"
)

// numbers are the questions how soon.
func numbers() []column {
	return []column{
		{
			Name: "ordered within three back-off periods", New: workload(between("dev", "staging", "prod"),
				askOrderedSoon, rollsOutForAWhile), Faults: lag, Property: orderedSoon,
			Fail: variants("V6t"), NotRun: alike("V1a", "V1", "V4", "V5", "V7"),
		},
		{
			Name: "ready soon after a late target",
			New:  workload(between("dev", "staging"), askReadySoon, appearsLate), Property: readySoon,
			NotRun: alike("V0", "V1a", "V1", "V4", "V5", "V6", "V6t", "V7"),
			Notes: because{"V2": "a target in the operator's own cluster is watched, " +
				"so it wakes the operator when it appears"},
		},
		{
			Name: "ready soon after a late cluster", New: workload(between("dev", "prod"), askReadySoon, becomesKnown),
			Property: readySoon,
			NotRun:   alike("V0", "V1a", "V1", "V4", "V5", "V6", "V6t", "V7"),
			Notes:    because{"V2": lateCluster},
		},
		{
			Name: "retries are spaced", New: workload(quietly, askSpaced, movesOn), Faults: failingForge,
			Property: spaced,
			Fail:     variants("V0", "V1a"), Skip: variants("V1", "V2", "V4", "V5", "V6", "V6t", "V7"),
			Notes: because{
				"V0": "its own status write wakes it at once, whatever the back-off", "V1a": "it orders in every pass",
			},
		},
	}
}

// alike are variants of which a question about waiting is not asked.
func alike(names ...promotion.Variant) map[promotion.Variant]string {
	out := map[promotion.Variant]string{}
	for _, v := range names {
		out[v] = "it waits as one of those that are asked"
	}
	return out
}

// uneven is a rollout through environments of two targets each, one of them in another cluster.
var uneven = &matrix.Workload[promotion.Variant]{New: func(v promotion.Variant, sentences []string,
	faults ...fault.Fault) func(*sim.World) {
	asks := map[string]func(*World){inOrder: askInOrder, notStale: askNotStale, complete: askComplete}
	return workload(inTwoClusters("dev", "staging", "prod"), func(s *World) {
		for _, sentence := range sentences {
			asks[sentence](s)
		}
	}, (*World).unevenly)(v, faults...)
}}

// apart are the questions on what grounds it happens where environments run in more than one place.
func apart() []column {
	early, later := variants("V0", "V1a", "V1", "V2"), variants("V4", "V5", "V6", "V6t", "V7")
	return []column{
		{
			Name: "nothing while a second target is missing", New: HastySecond, Faults: lag, Property: complete,
			Fail: early, Skip: later,
		},
		{
			Name: "nothing while a cluster cannot be read", New: HastyAway, Faults: lag, Property: complete,
			Fail: early, Skip: later,
		},
	}
}

// wrongMoments are the questions about the wrong moment.
func wrongMoments() []column {
	all := slices.DeleteFunc(promotion.Variants(),
		func(v promotion.Variant) bool { return v == promotion.V6t || v == promotion.V8 })
	return []column{
		{
			Name: "its kinds are installed late", New: InstalledLate, Property: Everywhere,
			Fail: append(all, promotion.V6t),
		},
		{
			Name: "the repository moves", New: Rehoused, Faults: unsure, Property: TakesEffectOnce,
			Fail: variants("V0", "V1a", "V1", "V2", "V3", "V4", "V5"), Skip: variants("V6t", "V7"),
		},
		{
			Name: "the repository is corrected", New: Mistyped, Property: Everywhere,
			Fail: variants("V1", "V2", "V3", "V4", "V5", "V6", "V7"), Skip: variants("V1a", "V6t"),
		},
		{
			Name: "says that the forge cannot be asked", New: ForgeDown, Faults: crash, Property: actionable,
			Fail: all, Skip: variants("V6t"),
		},
		{
			Name: "one open pull request", New: Outdone, Faults: lag, Property: oneOpen,
			Skip: variants("V1a", "V1", "V2", "V3", "V4", "V5", "V6", "V6t", "V7"),
		},
		{
			Name: "nothing open after a rollback", New: RolledBack, Faults: lag, Property: noneBack,
			Fail: all, Skip: variants("V6t"),
		},
		{
			Name: "somebody else writes first", New: OneEffect, Faults: conflicts, Property: TakesEffectOnce,
			Fail: variants("V0", "V1a"), Skip: variants("V1", "V2", "V4", "V5", "V6", "V6t", "V7"),
		},
	}
}

// everyFault is the column of the fixed variant: all that it answers is asked, and all that can be
// injected there does. Another cluster under every fault is in the suite.
func everyFault() []column {
	return []column{{
		Name: "every fault", New: Anything, Faults: func() []fault.Fault {
			return append(EveryFault(),
				fault.LeaderOverlap())
		}, Property: TakesEffectOnce,
		NotRun: matrix.OnlyFixed(promotion.Variants(), promotion.V8),
	}}
}

// Anything is any of the longer stories, with all that is asked in it.
func Anything(v promotion.Variant, faults ...fault.Fault) func(*sim.World) {
	stories := []Workload{LongRollout, Corners, WrongMoments, NotifiedOnce, Overlap}
	return func(w *sim.World) {
		stories[sim.Draw(w, "story", rapid.IntRange(0, len(stories)-1))](v, faults...)(w)
	}
}

// unsure are the faults after which nobody but the forge knows what became of an order.
func unsure() []fault.Fault {
	return []fault.Fault{fault.Crash(Operator), fault.LostReply(fault.In(Operator))}
}

func conflicts() []fault.Fault {
	return []fault.Fault{fault.Conflict(fault.In(Operator), fault.OfKind("Pipeline"), fault.OnVerb("patch"))}
}

// EveryFault is all that the harness knows to do to an operator and to the outside. Where scopes
// narrow whose watches end, nobody is cut off.
func EveryFault(watches ...fault.Scope) []fault.Fault {
	faults := []fault.Fault{
		fault.StaleCache(30 * time.Second), fault.Crash(Operator), fault.RacingRequeue(),
		fault.LostReply(), fault.Conflict(), fault.ServerError(), fault.Unreachable(time.Minute),
		fault.SlowEffect(10 * time.Minute), fault.FailedEffect(), fault.DoubledEffect(),
		fault.MissedStates(30*time.Second, watches...), fault.DroppedWatch(watches...), fault.Relist(watches...),
		fault.Expired(watches...),
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
