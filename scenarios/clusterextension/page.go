// This file holds the predictions and situations of the page.

package clusterextension

import "github.com/wavetank/wavetank/scenarios/internal/matrix"

// predictions were made from reading the code, before anything ran.
var predictions = []matrix.Prediction[variant]{
	{Says: "a torn record cannot be read, and the extension not be installed any more", Case: "torn records",
		Variant: "V0", Fails: true},
	{Says: "nor can the driver delete it", Case: "torn records", Variant: "V2", Fails: true},
	{Says: "whoever deletes the Secrets gets past it", Case: "torn records", Variant: "V4", Fails: false},
	{Says: "what version 2 alone has is never deleted once its record is", Case: "no orphans", Variant: "V2",
		Fails: true},
	{Says: "who died between superseding and deploying has nothing installed, and no edge binds the next version",
		Case: "edges, 3 from neither", Variant: "V4", Fails: true},
}

var covered, tested, open = matrix.Covered, matrix.Tested, matrix.Open

// situations are to be covered beside the variants.
var situations = []matrix.Situation{
	covered("version 3 is available from version 1 only", "edges, 3 from 1 only"),
	covered("and from both", "finish first", "never backwards", "no orphans"),
	covered("one of two datasets is migrated", "data at one level"),
	tested("version 2 is withdrawn before it is resumed", "TestBrokenAndWithdrawn", "version 2 is withdrawn"),
	covered("the first install is interrupted, and version 2 appears", "finish first, install",
		"progress after an interrupted install"),
	tested("a crash between superseding and deploying", "TestFixedVariantDiesAnywhere", "installed is true",
		"edges, 3 from neither"),
	tested("killed at every attempt, then at every second one, then never", "TestFixedVariantInOtherWorlds",
		"interrupted for hours"),
	covered("a failure, and a crash before it is recorded", "a failure is not masked"),
	tested("the last write of a record is answered 500, applied or not", "TestLostRecordHidesAFailure",
		"a success is not masked by a lost record", "sane records, a write is lost"),
	tested("torn records of 1, 2 and 10 chunks", "TestFixedVariantWithRecordsOfAnySize", "torn records"),
	tested("the right to make chunks alone is lost", "TestRecordsThatCannotBeRead", "torn records, chunks are refused"),
	covered("one object of version 2 is refused, and then it is not", "version 2 is refused, and then it is not",
		"finish first what is refused"),
	tested("catalogs change during the recovery", "TestFixedVariantInOtherWorlds"),
	covered("two pods during a rolling update", "two leaders", "two leaders, all questions"),
	tested("ten records, of which the oldest is the only deployed one", "TestHistoryIsFull"),
	covered("the user wants version 1 back in the middle of it", "the user wants version 1 back",
		"the user wants version 1 back, finish first"),
	tested("the extension is deleted while its record is pending", "TestFixedVariantInOtherWorlds",
		"deleted and made again"),
	tested("migrations take minutes and fail once; workloads become ready after that", "TestFixedVariantWaitsForHealth",
		"finish first, migrations take time", "data at one level, migrations take time"),
	tested("a migration always fails", "TestNeverHealthy"),
	tested("the operator is asked to stop", "TestStoppedInTime", "stopped while it is frozen"),
	covered("the operator is asked to stop, beside every other fault", "every fault"),
	tested("a rollback or uninstall in shards is interrupted at each of its writes, and V6 goes on",
		"TestFixedVariantAfterARollbackInShards"),
	covered("retry a number of times, and then fail", "interrupted often, then left alone"),
	covered("wait before a record counts as that of a dead process", "two leaders, one is frozen"),
	tested("the work queue from before the priority queue; a client that reads its own writes; three workers",
		"TestSettingsThatDoNotMatter"),
	open("cancel Helm's action on SIGTERM, so that it ends as failed",
		"no variant does: SIGTERM alone wedges nobody, as an action ends within the 30 s that a process has"),
	open("Helm's --force", "no variant uses it: it replaces objects that cannot be patched, and Helm refuses to "+
		"upgrade over a pending record with it as without"),
	open("the status never names what is not whole", "asked is that it was whole at some moment: while version 2 "+
		"takes the place of version 1 every variant, as upstream, goes on to name version 1"),
	open("a pending record is touched only if its writer is dead", "asked is that its writer is dead or its time is "+
		"over, as with a lease, because nobody can know of the first; it must write nothing after that"),
	open("a cap on attempts in V6", "it goes on: an operator that was interrupted is not at fault. From the sixth "+
		"time on the status says that something may be killing it"),
	open("service accounts of extensions, ranges of versions, preflight checks, and an upgrade's dry run by the server",
		"the operator does without them; the thread is about what becomes of an attempt"),
}
