// This file exists to hold what was foretold of the story against what its cells say, the scenarios
// that were wanted against the questions that tell them, and what upstream settled for against the
// rest.

package bundledeployment

import (
	"github.com/wavetank/wavetank/scenarios/internal/verdicts"
)

// settled is what became of the thread.
const settled = "The pull request was closed; its successor undoes nothing, and keeps ten records: V3. What a failed first install has made stays until\n" +
	"somebody removes it."

// predictions are what the dossier derived from reading the code, without having seen it happen.
func predictions() []verdicts.Prediction[Row] {
	return []verdicts.Prediction[Row]{
		{Says: "P1: who waits 30 s for a clean-up of 45 s never sleeps again", Column: "it settles", Variant: slow, Falls: true},
		{Says: "P2: events of kinds that are watched already keep V1 from sleeping", Column: "it settles beside watched kinds", Variant: "V1", Falls: true},
		{Says: "P2: and V2", Column: "it settles beside watched kinds", Variant: "V2", Falls: true},
		{Says: "P3: who dies while it waits for a clean-up is wedged for ever", Column: "dies in the clean-up", Variant: "V1", Falls: true},
		{Says: "P4: so is whoever deletes a namespace twice, where the server refuses that", Column: "the environment is mended, and nothing is deleted twice", Variant: "V0", Falls: true},
		{Says: "P5: a failing upgrade leaves records without bound", Column: "records are bounded", Variant: "V0", Falls: true},
	}
}

// wanted are the scenarios that the dossier lists beyond its variants.
func wanted() []verdicts.Wanted {
	return []verdicts.Wanted{
		{Scenario: "namespaces that take 7 to 75 s to go", Columns: []string{"it settles"}, Test: "TestWaitingMayBeWorseThanNotWaiting"},
		{Scenario: "a finalizer in one that needs another controller", Columns: []string{"it settles, a namespace is held for a minute"}},
		{Scenario: "a failed upgrade that has added a namespace", Columns: []string{"no overlap after an upgrade", "a failing upgrade keeps the old",
			"it settles, an upgrade fails"}},
		{Scenario: "two deployments want one kind or one namespace, and one of them fails", Columns: []string{
			"two want one kind, one is refused", "two want one namespace, one is refused"}},
		{Scenario: "the same kinds have been installed before", Columns: []string{"it settles beside watched kinds"}},
		{Scenario: "one to four workers, none to six that fail, at once or one after the other", Columns: []string{
			"one fails beside a healthy one", "four fail beside a healthy one"}, Test: "TestWorkersThatWait"},
		{Scenario: "a crash within the wait", Columns: []string{"dies in the clean-up"}, Test: "TestWaitingWidensTheWindowOfACrash"},
		{Scenario: "a server that refuses to delete what terminates", Columns: []string{"the environment is mended, and nothing is deleted twice"}},
		{Scenario: "the cause goes during the back-off, an attempt, a wait", Columns: []string{"the environment is mended", "the deployment is mended"}},
		{Scenario: "a refusal that says something else each time", Columns: []string{"it settles although the refusal varies"}},
		{Scenario: "other content is wanted meanwhile", Columns: []string{"the content is mended"}},
		{Scenario: "a record cannot be purged once the objects are gone", Columns: []string{"a record cannot be purged for a while"}},
		{Scenario: "the provisioner's class is edited away and back", Columns: []string{"it is another's for a while"}},
	}
}
