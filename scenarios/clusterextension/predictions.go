// This file exists to hold what was predicted against what its cells say, the scenarios
// that were wanted against the questions that tell them, and what upstream settled for against the
// rest.

package clusterextension

import (
	"github.com/wavetank/wavetank/scenarios/internal/matrix"
)

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
