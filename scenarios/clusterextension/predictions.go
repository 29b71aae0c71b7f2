// This file exists to hold what was predicted against what its cells say, the scenarios
// that were wanted against the questions that tell them, and what upstream settled for against the
// rest.

package clusterextension

import (
	"github.com/wavetank/wavetank/scenarios/internal/matrix"
)

// reports is what the thread reports.
const reports = "The operator dies within one of Helm's actions. The release record stays pending, Helm refuses " +
	"every further action, and only a human can clear that. The thread is about what may be done with such a record, " +
	"because an upgrade from version 2 to 3 presupposes a healthy version 2."

// settled is what the runs show, and what became of the thread.
const settled = `V0 is wedged by every death within an action. To go back (V1), to forget the record (V2, V2b, V4) or
to call it failed (V3) frees it, and lets version 3 in over a half of version 2. V5 finishes version 2 first. V6 also
survives a second leader, torn records and refusals.

Two proposals of reviewers: V2-waits leaves a pending record alone for a minute, in case its process lives. That is
enough for a second leader, unless the first one is frozen for longer. V3-limit gives up after three interruptions in a
row, and stays so when nothing interrupts it any more. Otherwise they do what V2 and V3 do, so most of their cells are
left out.

SIGTERM alone wedges nobody: the action under way ends within the 30 s (´TestStoppedInTime´). Where it does not, as in
a process that is frozen meanwhile, it is the same as a crash.

Healthy: V6 looks at the Deployments of which the chart says, by an annotation, that they must be available. It calls
a version installed, and goes on to the next one, when they are rolled out. Until then the status says which one is
not. The others go on at once, and version 3 meets data that are being migrated. What remains at risk with V6:

- A chart that does not say so counts as healthy once it is applied.
- A Deployment that reports itself available before its migration is done is believed.
- A version that never becomes healthy stays in the way of the next one, until the user sets the policy SelfCertified
  (´TestNeverHealthy´).
- What becomes unhealthy in the 20 s between the look and the last write of the next upgrade is not seen.
- An upgrade by SelfCertified breaks off the migrations under way.

Back-off is judged under faults: the cases about progress and the cost of interruptions under crashes, lost replies and
refused writes; “refused for good” while the cache lags, keys are queued again, the operator is killed or stopped and
replies are lost, and from five minutes after the last fault on. V0 stops trying, V6 settles. An attempt that
gets further than those before, even if its write takes effect late, may be followed by one more: what it changed wakes
the operator.

Neither pull request was merged: the default path is still V0, which keeps most of the safety there is by not moving.
Behind a feature gate, off by default, another engine keeps the oldest unfinished revision as the target and does not
ask the catalog meanwhile: the rule of V5 and V6.`

// predictions were made from reading the code, before anything ran.
func predictions() []matrix.Prediction[variant] {
	return []matrix.Prediction[variant]{
		{Says: "a torn record cannot be read, and the extension not be installed any more", Case: "torn records",
			Variant: "V0", Fails: true},
		{Says: "nor can the driver delete it", Case: "torn records", Variant: "V2", Fails: true},
		{Says: "whoever deletes the Secrets gets past it", Case: "torn records", Variant: "V4", Fails: false},
		{Says: "what version 2 alone has is never deleted once its record is", Case: "no orphans", Variant: "V2",
			Fails: true},
		{Says: "who died between superseding and deploying has nothing installed, and no edge binds the next version",
			Case: "edges, 3 from neither", Variant: "V4", Fails: true},
	}
}

// wanted are the situations to be covered beside the variants.
func wanted() []matrix.Situation {
	open := func(text, reason string) matrix.Situation { return matrix.Situation{Text: text, Reason: reason} }
	return []matrix.Situation{
		{Text: "version 3 is available from version 1 only", Cases: []string{"edges, 3 from 1 only"}},
		{Text: "and from both", Cases: []string{"finish first", "never backwards", "no orphans"}},
		{Text: "one of two datasets is migrated", Cases: []string{"data at one level"}},
		{Text: "version 2 is withdrawn before it is resumed", Cases: []string{"version 2 is withdrawn"},
			Test: "TestBrokenAndWithdrawn"},
		{Text: "the first install is interrupted, and version 2 appears",
			Cases: []string{"finish first, install", "progress after an interrupted install"}},
		{Text: "a crash between superseding and deploying",
			Cases: []string{"installed is true", "edges, 3 from neither"}, Test: "TestFixedVariantDiesAnywhere"},
		{Text: "killed at every attempt, then at every second one, then never",
			Cases: []string{"interrupted for hours"}, Test: "TestFixedVariantInOtherWorlds"},
		{Text: "a failure, and a crash before it is recorded", Cases: []string{"a failure is not masked"}},
		{Text: "the last write of a record is answered 500, applied or not",
			Cases: []string{"a success is not masked by a lost record", "sane records, a write is lost"},
			Test:  "TestLostRecordHidesAFailure"},
		{Text: "torn records of 1, 2 and 10 chunks", Cases: []string{"torn records"},
			Test: "TestFixedVariantWithRecordsOfAnySize"},
		{Text: "the right to make chunks alone is lost", Cases: []string{"torn records, chunks are refused"},
			Test: "TestRecordsThatCannotBeRead"},
		{Text: "one object of version 2 is refused, and then it is not",
			Cases: []string{"version 2 is refused, and then it is not", "finish first what is refused"}},
		{Text: "catalogs change during the recovery", Test: "TestFixedVariantInOtherWorlds"},
		{Text: "two pods during a rolling update", Cases: []string{"two leaders", "two leaders, all questions"}},
		{Text: "ten records, of which the oldest is the only deployed one", Test: "TestHistoryIsFull"},
		{Text: "the user wants version 1 back in the middle of it",
			Cases: []string{"the user wants version 1 back", "the user wants version 1 back, finish first"}},
		{Text: "the extension is deleted while its record is pending", Cases: []string{"deleted and made again"},
			Test: "TestFixedVariantInOtherWorlds"},
		{Text: "migrations take minutes and fail once; workloads become ready after that",
			Cases: []string{"finish first, migrations take time", "data at one level, migrations take time"},
			Test:  "TestFixedVariantWaitsForHealth"},
		{Text: "a migration always fails", Test: "TestNeverHealthy"},
		{Text: "the operator is asked to stop", Cases: []string{"stopped while it is frozen"},
			Test: "TestStoppedInTime"},
		{Text: "the operator is asked to stop, beside every other fault",
			Cases: []string{"every fault"}},
		{Text: "a rollback or uninstall in shards is interrupted at each of its writes, and V6 goes on",
			Test: "TestFixedVariantAfterARollbackInShards"},
		{Text: "retry a number of times, and then fail", Cases: []string{"interrupted often, then left alone"}},
		{Text: "wait before a record counts as that of a dead process",
			Cases: []string{"two leaders, one is frozen"}},
		{Text: "the work queue from before the priority queue; a client that reads its own writes; three workers",
			Test: "TestSettingsThatDoNotMatter"},
		open("cancel Helm's action on SIGTERM, so that it ends as failed",
			"no variant does: SIGTERM alone wedges nobody, as an action ends within the 30 s that a process has"),
		open("Helm's --force", "no variant uses it: it replaces objects that cannot be patched, and Helm refuses to "+
			"upgrade over a pending record with it as without"),
		open("the status never names what is not whole",
			"asked is that it was whole at some moment: while version 2 takes the place of version 1 every variant, "+
				"as upstream, goes on to name version 1"),
		open("a pending record is touched only if its writer is dead",
			"asked is that its writer is dead or its time is over, as with a lease, because nobody can know of the "+
				"first; it must write nothing after that"),
		open("a cap on attempts in V6", "it goes on: an operator that was interrupted is not at fault. From the sixth "+
			"time on the status says that something may be killing it"),
		open("service accounts of extensions, ranges of versions, preflight checks, "+
			"and an upgrade's dry run by the server",
			"the operator does without them; the thread is about what becomes of an attempt"),
	}
}
