// This file exists to hold the whole story as a table: for each variant, which question it fails
// under which faults.

package promotion

import (
	"fmt"
	"slices"
	"time"

	"github.com/wavetank/wavetank/controllers/promotion"
	"github.com/wavetank/wavetank/scenarios/internal/matrix"
	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/fault"
)

// Columns is the table, a question in each; see [matrix.Case].
func Columns() []column {
	return slices.Concat(once(), triggers(), arrival(), elsewhere(), manners(), grounds(), oddly(), numbers(), apart(),
		wrongMoments(), everyFault())
}

// Reasons that stand for several cells.
const (
	beyond      = "its table has no such question, which stands among its properties or came out of the runs"
	lateCluster = "the GitopsCluster's event, the error of a missing Secret, which is returned upstream, too, " +
		"and the first event of the cache that comes into sync all wake it"
	livelock = "not asked: it goes in circles even where no fault is injected"
	early    = "it sets no timers: it has promoted without waiting for the missing target"
	wakes    = "its list of triggers is about the record and the filter; the others are asked all the same"
)

// once are the questions whether too much happens.
func once() []column {
	return []column{
		{
			Name: "default trace, nothing lags", New: OneEvent, Property: AttemptedOnce,
			Fail: variants("V0", "V1a"),
			Notes: because{"V1": "it falls only when the event of its own status write lands during the pass, " +
				"and where nothing lags none does"},
		},
		{
			Name: "default trace", New: OneEvent, Faults: lag, Property: AttemptedOnce,
			Fail: variants("V0", "V1a", "V1"),
		},
		{
			Name: "app burst", New: Burst, Faults: lag, Property: AttemptedOnce,
			Fail: variants("V0", "V1a", "V1", "V2", "V3"),
		},
		{
			Name: "racing requeue", New: OneEvent, Faults: lagAndRequeue, Property: AttemptedOnce,
			Fail: variants("V0", "V1a", "V1", "V2", "V3"),
		},
		{
			Name: "crash window", New: OneEffect, Faults: crash, Property: TakesEffectOnce,
			Fail: variants("V0", "V1a", "V1", "V2", "V3", "V4", "V5"),
		},
		{
			Name: "lost patch reply", New: OneEffect, Faults: lostPatch, Property: TakesEffectOnce,
			Fail: variants("V0", "V1a", "V1", "V2", "V3", "V4", "V5"),
		},
	}
}

// arrival are the questions whether enough happens.
func arrival() []column {
	return []column{
		{
			Name: "arrives everywhere", New: Arrives, Property: "the world settles",
			Fail: variants("V6t"),
		},
		{
			Name: "comes back", New: Returns, Property: Everywhere,
			Fail: variants("V7"), Skip: variants("V0", "V1a", "V6t"),
		},
		{
			Name: "arrives in spite of a crash", New: Arrives, Faults: crash, Property: Everywhere,
			Fail: variants("V6", "V7"), Skip: variants("V6t"),
			Notes: because{"V6t": livelock},
		},
		{
			Name: "arrives in spite of a failing forge", New: Arrives, Faults: failingForge, Property: Everywhere,
			Fail: variants("V1a", "V1", "V2", "V3", "V4", "V5", "V6", "V7"), Skip: variants("V6t"),
			Notes: because{"V6t": livelock},
		},
		{
			Name: "a late target is seen", New: Late, Property: statusIsTrue,
			Notes: because{"V2": "a target in the operator's own cluster is watched, " +
				"so it wakes the operator when it appears"},
		},
	}
}

// manners are the questions how it happens.
func manners() []column {
	return []column{
		{
			Name: "the status is true after a burst", New: Truthful, Faults: lag, Property: statusIsTrue,
			Fail: variants("V2", "V3", "V4", "V6", "V7"), Skip: variants("V6t"),
		},
		{
			Name: "no livelock", New: Conduct, Faults: lag, Property: noLivelock,
			Fail: variants("V6t"),
		},
		{
			Name: "recorded soon", New: Recording, Faults: lagAndRequeue, Property: recordedSoon,
			Fail: variants("V0"),
		},
		{
			Name: "says that a target does not exist", New: Absent, Property: saysAbsent,
			Fail: variants("V0", "V1a", "V1", "V2"), Skip: variants("V6t"),
			Notes: because{"V1": "the event of its own status write wakes it; where the list of the cache is slow, " +
				"that comes too early"},
		},
		{
			Name: "says that a target elsewhere does not exist", New: AbsentAway, Property: saysAbsent,
			Fail: variants("V0", "V1a", "V1", "V2"), Skip: variants("V6t"),
		},
		{
			Name: "says what it waits for", New: Waits, Faults: failingForge, Property: actionable,
			Fail: variants("V0", "V1a", "V1", "V2", "V3", "V4", "V5", "V6", "V7"), Skip: variants("V6t"),
		},
	}
}

// longRollout is a long rollout, with a rollback and with revisions that come and go, of which
// several things are asked.
var longRollout = &matrix.Workload[promotion.Variant]{New: func(v promotion.Variant, sentences []string,
	faults ...fault.Fault) func(*sim.World) {
	asks := map[string]func(*World){inOrder: askInOrder, notStale: askNotStale}
	return workload(between("dev", "staging", "prod"), func(s *World) {
		for _, sentence := range sentences {
			asks[sentence](s)
		}
	}, (*World).backAndForth)(v, faults...)
}}

// grounds are the questions on what grounds it happens.
func grounds() []column {
	return []column{
		{
			Name: "only what the one before has proved", Workload: longRollout, Faults: lag, Property: inOrder,
			Skip: variants("V6t"),
		},
		{
			Name: "nothing outdated", Workload: longRollout, Faults: lag, Property: notStale, Skip: variants("V6t"),
		},
		{
			Name: "nothing while a target is missing", New: Hasty, Faults: lag, Property: complete,
			Fail: variants("V0", "V1a", "V1", "V2"), Skip: variants("V6t"),
		},
	}
}

// triggers are what may hand the pipeline out between a promotion and the moment at which the cache
// knows of it.
func triggers() []column {
	return []column{
		{
			Name: "an edit wakes it", New: Edited, Faults: lag, Property: AttemptedOnce,
			Fail: variants("V0", "V1a", "V1", "V2", "V3"),
		},
		{
			Name: "a cluster's event wakes it", New: ClusterEvent, Faults: lag, Property: AttemptedOnce,
			Fail: variants("V0", "V1a", "V1", "V2", "V3"),
		},
		{
			Name: "a leftover timer wakes it, classic queue", New: Leftover(false), Faults: lag,
			Property: AttemptedOnce,
			Fail:     variants("V0", "V1a", "V3"),
			Notes:    because{"V1": early, "V2": early},
		},
		{
			Name: "a leftover timer wakes it, priority queue", New: Leftover(true), Faults: lag,
			Property: AttemptedOnce,
			Fail:     variants("V0", "V1a"),
			Notes: because{"V1": early, "V2": early,
				"V3": "the priority queue has one entry for each key: the event of the target uses the timer up, " +
					"so none is left"},
		},
		{
			Name: "the last patch fails", New: OneEffect, Faults: failingPatch, Property: TakesEffectOnce,
			Fail: variants("V0", "V1a", "V1", "V2", "V3", "V4", "V5"),
		},
		{
			Name: "two leaders", New: Overlap, Faults: twoLeaders, Property: TakesEffectOnce,
			Fail: variants("V0", "V1a", "V1", "V2", "V3", "V4", "V5"),
			Skip: variants("V6t"),
		},
	}
}

// elsewhere are the questions about other clusters, and about a CI that is told by Events.
func elsewhere() []column {
	return []column{
		{
			Name: "a late cluster is seen", New: Remote, Faults: lag, Property: statusIsTrue,
			Notes: because{"V2": lateCluster},
		},
		{
			Name: "a cluster moves", New: Moves, Property: statusIsTrue,
			Fail: variants("V0", "V1a", "V1", "V2", "V3", "V4", "V5", "V6", "V6t", "V7"),
		},
		{
			Name: "a CI is told once in spite of a crash", New: Notified, Faults: crash, Property: NotifiedAtMostOnce,
			Fail: variants("V0", "V1a", "V1", "V2", "V3", "V4", "V5"),
		},
		{
			Name: "a CI is told in spite of a crash", New: NotifiedAtAll, Faults: crash, Property: NotifiedEver,
			Fail: variants("V6", "V7"), Skip: variants("V6t"),
			Notes: because{"V6t": livelock},
		},
	}
}

// oddly are the corners. They are asked of the thread's last word and of the fixes that write
// before they act.
func oddly() []column {
	others := variants("V0", "V1a", "V1", "V2", "V4", "V5", "V6t")
	columns := []column{
		{
			Name: "comes back once", New: ReturnsOnce, Faults: lag, Property: oncePerStay,
			Fail: variants("V3"), Skip: others,
		},
		{
			Name: "made again, it is promoted", New: Reborn, Faults: slowly(time.Minute), Property: Everywhere,
			Fail: variants("V3", "V7"), Skip: others,
		},
	}
	for _, d := range []time.Duration{time.Millisecond, 30 * time.Second, 10 * time.Minute} {
		columns = append(columns, column{
			Name: fmt.Sprintf("promoting takes %v", d), New: corners[0].tell, Faults: slowly(d), Property: oncePerStay,
			Skip: others,
		})
	}
	falls := []string{"ready some time after the revision", "dev flaps", "ready without a revision",
		"dev moves on and back", "an environment is added", reborn.name, late}
	for _, c := range corners[1:] {
		col := column{
			Name: c.name, New: c.tell, Faults: slowly(time.Minute), Property: oncePerStay, Skip: others,
		}
		switch {
		case c.name == ownPolicy.name:
			col.Property, col.Fail, col.Skip = "no panic", slices.DeleteFunc(promotion.Variants(),
				func(v promotion.Variant) bool { return v == promotion.V6t || v == promotion.V8 }), variants("V6t")
			col.Notes = because{"V6t": livelock}
		case slices.Contains(falls, c.name):
			col.Fail = variants("V3")
		}
		if c.name == late || c.name == reborn.name {
			col.Fail = variants("V3", "V7")
		}
		if c.name == reborn.name {
			col.Notes = because{"V7": "its Promotion goes with the old pipeline, " +
				"which the cache still holds when it asks whether there is one"}
		}
		columns = append(columns, col)
	}
	return columns
}

// Table is the story's word. A variant that is neither caught nor skipped must hold.
func Table() matrix.Table[promotion.Variant] {
	return matrix.Table[promotion.Variant]{Variants: promotion.Variants(), Fixed: promotion.V8, Cases: Columns()}
}

type (
	column  = matrix.Case[promotion.Variant]
	because = map[promotion.Variant]string
)

func variants(names ...promotion.Variant) []promotion.Variant { return names }

func lag() []fault.Fault { return []fault.Fault{fault.StaleCache(30 * time.Second)} }

func lagAndRequeue() []fault.Fault {
	return []fault.Fault{fault.StaleCache(30 * time.Second), fault.RacingRequeue()}
}

func crash() []fault.Fault { return []fault.Fault{fault.Crash(Operator)} }

func lostPatch() []fault.Fault {
	return []fault.Fault{fault.LostReply(fault.In(Operator), fault.OfKind("Pipeline"), fault.OnVerb("patch"))}
}

// failingPatch answers the operator's writes to the pipeline with all that can go wrong with a
// patch.
func failingPatch() []fault.Fault {
	scopes := []fault.Scope{fault.In(Operator), fault.OfKind("Pipeline"), fault.OnVerb("patch")}
	return []fault.Fault{fault.ServerError(scopes...), fault.Rejected("the status cannot be written now", scopes...)}
}

func twoLeaders() []fault.Fault {
	return append(lag(), fault.LeaderOverlap(), fault.Pause(Operator, 30*time.Second))
}

// slowly lets the outside take its time to answer.
func slowly(d time.Duration) func() []fault.Fault {
	return func() []fault.Fault { return append(lag(), fault.SlowEffect(d)) }
}

func failingForge() []fault.Fault { return []fault.Fault{fault.FailedEffect()} }
