// This file exists to hold what was foretold of the story against what its cells say, the scenarios
// that were wanted against the questions that tell them, and what upstream settled for against the
// rest.

package clusterextension

import (
	"github.com/wavetank/wavetank/scenarios/internal/verdicts"
)

// settled is what became of the thread.
const settled = "Neither pull request was merged: the default path is still V0, which keeps most of the safety there is by not moving. Behind a\n" +
	"feature gate, off by default, another engine keeps the oldest unfinished revision as the target and does not ask the catalog\n" +
	"meanwhile: the rule of V5 and V6."

// predictions are what the dossier derived from reading the code, without having seen it happen.
func predictions() []verdicts.Prediction[variant] {
	return []verdicts.Prediction[variant]{
		{Says: "a torn record cannot be read, and the extension not be installed any more", Column: "torn records", Variant: "V0", Falls: true},
		{Says: "nor can the driver delete it", Column: "torn records", Variant: "V2", Falls: true},
		{Says: "whoever deletes the Secrets gets past it", Column: "torn records", Variant: "V4", Falls: false},
		{Says: "what version 2 alone has is never deleted once its record is", Column: "no orphans", Variant: "V2", Falls: true},
		{Says: "who died between superseding and deploying has nothing installed, and no edge binds the next version", Column: "edges, 3 from neither", Variant: "V4", Falls: true},
	}
}

// wanted are the scenarios that the dossier lists beyond its variants.
func wanted() []verdicts.Wanted {
	return []verdicts.Wanted{
		{Scenario: "version 3 is available from version 1 only", Columns: []string{"edges, 3 from 1 only"}},
		{Scenario: "and from both", Columns: []string{"finish first", "never backwards", "no orphans"}},
		{Scenario: "one of two datasets is migrated", Columns: []string{"data at one level"}},
		{Scenario: "version 2 is withdrawn before it is resumed", Columns: []string{"version 2 is withdrawn"}, Test: "TestBrokenAndWithdrawn"},
		{Scenario: "the first install is interrupted, and version 2 appears", Columns: []string{"finish first, install", "progress after an interrupted install"}},
		{Scenario: "a crash between superseding and deploying", Columns: []string{"installed is true", "edges, 3 from neither"}, Test: "TestFullCureDiesAnywhere"},
		{Scenario: "killed at every attempt, then at every second one, then never", Columns: []string{"interrupted for hours"}, Test: "TestFullCureInOtherScenes"},
		{Scenario: "a failure, and a crash before it is recorded", Columns: []string{"a failure is not masked"}},
		{Scenario: "the last write of a record is answered 500, applied or not", Columns: []string{"a success is not masked by a lost record", "sane records, a write is lost"},
			Test: "TestLostRecordHidesAFailure"},
		{Scenario: "torn records of 1, 2 and 10 chunks", Columns: []string{"torn records"}, Test: "TestFullCureWithRecordsOfAnySize"},
		{Scenario: "the right to make chunks alone is lost", Columns: []string{"torn records, chunks are refused"}, Test: "TestRecordsThatCannotBeRead"},
		{Scenario: "one object of version 2 is refused, and then it is not", Columns: []string{"version 2 is refused, and then it is not", "finish first what is refused"}},
		{Scenario: "catalogs change during the recovery", Test: "TestFullCureInOtherScenes"},
		{Scenario: "two pods during a rolling update", Columns: []string{"two leaders", "two leaders, all questions"}},
		{Scenario: "ten records, of which the oldest is the only deployed one", Test: "TestHistoryIsFull"},
		{Scenario: "the user wants version 1 back in the middle of it", Columns: []string{"the user wants version 1 back", "the user wants version 1 back, finish first"}},
		{Scenario: "the extension is deleted while its record is pending", Columns: []string{"deleted and made again"}, Test: "TestFullCureInOtherScenes"},
	}
}
