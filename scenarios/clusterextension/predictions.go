// This file exists to hold what was predicted against what its cells say, the scenarios
// that were wanted against the questions that tell them, and what upstream settled for against the
// rest.

package clusterextension

import (
	"github.com/wavetank/wavetank/scenarios/internal/matrix"
)

// settled is what became of the thread.
const settled = "Neither pull request was merged: the default path is still V0, " +
	"which keeps most of the safety there is by not moving. Behind a\n" +
	"feature gate, off by default, another engine keeps the oldest unfinished revision as the target and does not " +
	"ask the catalog\n" +
	"meanwhile: the rule of V5 and V6."

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
	}
}
