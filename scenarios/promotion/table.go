// This file exists to hold the whole story as a table: for each variant, which question it fails
// under which faults.

package promotion

import (
	"fmt"
	"slices"
	"time"

	"github.com/wavetank/wavetank/controllers/promotion"
	"github.com/wavetank/wavetank/scenarios/internal/verdicts"
	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/fault"
)

// Columns is the table, a question in each; see [verdicts.Column].
func Columns() []column {
	return slices.Concat(once(), wakers(), arrival(), elsewhere(), manners(), grounds(), oddly(), numbers(), apart(), mishaps(), everyFault())
}

// Reasons that stand for several cells.
const (
	beyond      = "its table has no such question, which stands among its properties or came out of the runs"
	lateCluster = "the GitopsCluster's event, the error of a missing Secret, which is returned upstream, too, and the first event of the cache that comes into sync all wake it"
	livelock    = "not asked: it goes in circles even where nothing strikes"
	early       = "it sets no timers: it has promoted without waiting for the missing target"
	wakes       = "its list of wakers is about the record and the filter; the others are asked all the same"
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
			Caught: variants("V0", "V1a", "V1", "V2", "V3", "V4", "V5", "V6", "V7"), Skipped: variants("V6t"),
			Dossier: "– – – – – – – – – – –",
			Because: because{"": beyond + "; a promotion that failed is recorded without its error", "V8": beyond},
		},
	}
}

// longRollout is a long rollout, with a rollback and with revisions that come and go, of which
// several things are asked.
var longRollout = &verdicts.Scene[promotion.Variant]{Tell: func(v promotion.Variant, sentences []string, faults ...fault.Fault) func(*sim.World) {
	asks := map[string]func(*Story){inOrder: askInOrder, notStale: askNotStale}
	return telling(between("dev", "staging", "prod"), func(s *Story) {
		for _, sentence := range sentences {
			asks[sentence](s)
		}
	}, (*Story).backAndForth)(v, faults...)
}}

// grounds are the questions on what grounds it happens.
func grounds() []column {
	return []column{
		{
			Name: "only what the one before has proved", Scene: longRollout, Faults: lag, Broken: inOrder, Skipped: variants("V6t"),
			Dossier: "– – – – – – – – – – –", Because: because{"": beyond},
		},
		{
			Name: "nothing outdated", Scene: longRollout, Faults: lag, Broken: notStale, Skipped: variants("V6t"),
			Dossier: "– – – – – – – – – – –", Because: because{"": beyond},
		},
		{
			Name: "nothing while a target is missing", Tell: Hasty, Faults: lag, Broken: complete,
			Caught: variants("V0", "V1a", "V1", "V2"), Skipped: variants("V6t"),
			Dossier: "– – – – – – – – – – –", Because: because{"": beyond + "; who waits for a target, and comes back to look, has learnt to stop there"},
		},
	}
}

// wakers are what may hand the pipeline out between a promotion and the moment at which the cache
// knows of it.
func wakers() []column {
	return []column{
		{
			Name: "an edit wakes it", Tell: Edited, Faults: lag, Broken: AttemptedOnce,
			Caught:  variants("V0", "V1a", "V1", "V2", "V3"),
			Dossier: "✗ ✗ ✗ ✗ ✗ – – – – – –", Because: because{"": wakes},
		},
		{
			Name: "a cluster's event wakes it", Tell: ClusterEvent, Faults: lag, Broken: AttemptedOnce,
			Caught:  variants("V0", "V1a", "V1", "V2", "V3"),
			Dossier: "✗ ✗ ✗ ✗ ✗ – – – – – –", Because: because{"": wakes},
		},
		{
			Name: "a leftover timer wakes it, classic queue", Tell: Leftover(false), Faults: lag, Broken: AttemptedOnce,
			Caught:  variants("V0", "V1a", "V3"),
			Dossier: "✗ ✗ – – ✗ – – – – – –", Because: because{"": wakes, "V1": early, "V2": early},
		},
		{
			Name: "a leftover timer wakes it, priority queue", Tell: Leftover(true), Faults: lag, Broken: AttemptedOnce,
			Caught:  variants("V0", "V1a"),
			Dossier: "✗ ✗ – – ✗ – – – – – –",
			Because: because{"": wakes, "V1": early, "V2": early, "V3": "the priority queue has one entry for each key: the event of the target uses the timer up, so none is left"},
		},
		{
			Name: "the last patch fails", Tell: OneEffect, Faults: failingPatch, Broken: TakesEffectOnce,
			Caught:  variants("V0", "V1a", "V1", "V2", "V3", "V4", "V5"),
			Dossier: "✗ ✗ ✗ ✗ ✗ ✗ ✗ ✓ ✓ ✓ ✓",
		},
		{
			Name: "two leaders", Tell: Overlap, Faults: twoLeaders, Broken: TakesEffectOnce,
			Caught:  variants("V0", "V1a", "V1", "V2", "V3", "V4", "V5"),
			Skipped: variants("V6t"),
			Dossier: "✗ ✗ ✗ ✗ ✗ ✗ ✗ – – – –", Because: because{"": wakes},
		},
	}
}

// elsewhere are the questions about other clusters, and about a CI that is told by Events.
func elsewhere() []column {
	return []column{
		{
			Name: "a late cluster is seen", Tell: Remote, Faults: lag, Broken: statusIsTrue,
			Dossier: "✓ ✓ ✓ ✗ ✓ ✓ ✓ ✓ ✓ ✓ ✓",
			Because: because{"V2": lateCluster},
		},
		{
			Name: "a cluster moves", Tell: Moves, Broken: statusIsTrue,
			Caught:  variants("V0", "V1a", "V1", "V2", "V3", "V4", "V5", "V6", "V6t", "V7"),
			Dossier: "– – – – – – – – – – –",
			Because: because{"": "its extra scenarios name the rotation without a verdict; the original reads the Secret once"},
		},
		{
			Name: "a CI is told once in spite of a crash", Tell: Notified, Faults: crash, Broken: ToldOnce,
			Caught:  variants("V0", "V1a", "V1", "V2", "V3", "V4", "V5"),
			Dossier: "✗ ✗ ✗ ✗ ✗ ✗ ✗ ✓ ✓ ✓ ✓",
		},
		{
			Name: "a CI is told in spite of a crash", Tell: NotifiedAtAll, Faults: crash, Broken: Told,
			Caught: variants("V6", "V7"), Skipped: variants("V6t"),
			Dossier: "– – – – – – – ✗ ✗ ✗ ✓",
			Because: because{"": "without an intent there is none to lose; asked all the same", "V6t": livelock},
		},
	}
}

// oddly are the corners. They are asked of the thread's last word and of the cures that write
// before they act.
func oddly() []column {
	others := variants("V0", "V1a", "V1", "V2", "V4", "V5", "V6t")
	columns := []column{
		{
			Name: "comes back once", Tell: ReturnsOnce, Faults: lag, Broken: oncePerStay,
			Caught: variants("V3"), Skipped: others,
			Dossier: "– – – – – – – – – – ✓", Because: because{"": beyond},
		},
		{
			Name: "made again, it is promoted", Tell: Reborn, Faults: slowly(time.Minute), Broken: Everywhere,
			Caught: variants("V3", "V7"), Skipped: others,
			Dossier: "– – – – – – – – – – –", Because: because{"": beyond},
		},
	}
	for _, d := range []time.Duration{time.Millisecond, 30 * time.Second, 10 * time.Minute} {
		columns = append(columns, column{
			Name: fmt.Sprintf("promoting takes %v", d), Tell: corners[0].tell, Faults: slowly(d), Broken: oncePerStay, Skipped: others,
			Dossier: "– – – – – – – – – – –", Because: because{"": beyond},
		})
	}
	falls := []string{"ready some time after the revision", "dev flaps", "ready without a revision", "dev moves on and back", "an environment is added", reborn.name, late}
	for _, c := range corners[1:] {
		col := column{
			Name: c.name, Tell: c.tell, Faults: slowly(time.Minute), Broken: oncePerStay, Skipped: others,
			Dossier: "– – – – – – – – – – –", Because: because{"": beyond},
		}
		switch {
		case c.name == ownPolicy.name:
			col.Broken, col.Caught, col.Skipped = "no panic", slices.DeleteFunc(promotion.Variants(), func(v promotion.Variant) bool { return v == promotion.V6t || v == promotion.V8 }), variants("V6t")
			col.Dossier, col.Because = "✗ ✗ ✗ ✗ ✗ ✗ ✗ ✗ ✗ ✗ –", because{"": beyond, "V6t": livelock}
		case slices.Contains(falls, c.name):
			col.Caught = variants("V3")
		}
		if c.name == late || c.name == reborn.name {
			col.Caught = variants("V3", "V7")
		}
		if c.name == reborn.name {
			col.Because = because{"": beyond, "V7": beyond + "; its Promotion goes with the old pipeline, which the cache still holds when it asks whether there is one"}
		}
		columns = append(columns, col)
	}
	return columns
}

// Table is the story's word. A variant that is neither caught nor skipped must hold.
func Table() verdicts.Table[promotion.Variant] {
	return verdicts.Table[promotion.Variant]{Variants: promotion.Variants(), Cure: promotion.V8, Columns: Columns(), AtLeast: verdicts.Enough}
}

type (
	column  = verdicts.Column[promotion.Variant]
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
