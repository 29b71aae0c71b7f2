// This file exists to hold what was foretold of the story against what its cells say, the scenarios
// that were wanted against the questions that tell them, and what upstream settled for against the
// rest.

package bundledeployment

import (
	"github.com/wavetank/wavetank/scenarios/internal/matrix"
)

// settled is what became of the thread.
const settled = "The pull request was closed; its successor undoes nothing, and keeps ten records: V3. What a failed first install has made stays until\n" +
	"somebody removes it."

// predictions were made from reading the code, before anything ran.
func predictions() []matrix.Prediction[Row] {
	return []matrix.Prediction[Row]{
		{Says: "P1: who waits 30 s for a clean-up of 45 s never sleeps again", Case: "it settles", Variant: slow, Fails: true},
		{Says: "P2: events of kinds that are watched already keep V1 from sleeping", Case: "it settles beside watched kinds", Variant: "V1", Fails: true},
		{Says: "P2: and V2", Case: "it settles beside watched kinds", Variant: "V2", Fails: true},
		{Says: "P3: who dies while it waits for a clean-up is wedged for ever", Case: "dies in the clean-up", Variant: "V1", Fails: true},
		{Says: "P4: so is whoever deletes a namespace twice, where the server refuses that", Case: "the environment is mended, and nothing is deleted twice", Variant: "V0", Fails: true},
		{Says: "P5: a failing upgrade leaves records without bound", Case: "records are bounded", Variant: "V0", Fails: true},
	}
}

// wanted are the situations to be covered beside the variants.
func wanted() []matrix.Situation {
	return []matrix.Situation{
		{Text: "namespaces that take 7 to 75 s to go", Cases: []string{"it settles"}, Test: "TestWaitingMayBeWorseThanNotWaiting"},
		{Text: "a finalizer in one that needs another controller", Cases: []string{"it settles, a namespace is held for a minute"}},
		{Text: "a failed upgrade that has added a namespace", Cases: []string{"no overlap after an upgrade", "a failing upgrade keeps the old",
			"it settles, an upgrade fails"}},
		{Text: "two deployments want one kind or one namespace, and one of them fails", Cases: []string{
			"two want one kind, one is refused", "two want one namespace, one is refused"}},
		{Text: "the same kinds have been installed before", Cases: []string{"it settles beside watched kinds"}},
		{Text: "one to four workers, none to six that fail, at once or one after the other", Cases: []string{
			"one fails beside a healthy one", "four fail beside a healthy one"}, Test: "TestWorkersThatWait"},
		{Text: "a crash within the wait", Cases: []string{"dies in the clean-up"}, Test: "TestWaitingWidensTheWindowOfACrash"},
		{Text: "a server that refuses to delete what terminates", Cases: []string{"the environment is mended, and nothing is deleted twice"}},
		{Text: "the cause goes during the back-off, an attempt, a wait", Cases: []string{"the environment is mended", "the deployment is mended"}},
		{Text: "a refusal that says something else each time", Cases: []string{"it settles although the refusal varies"}},
		{Text: "other content is wanted meanwhile", Cases: []string{"the content is mended"}},
		{Text: "a record cannot be purged once the objects are gone", Cases: []string{"a record cannot be purged for a while"}},
		{Text: "the provisioner's class is edited away and back", Cases: []string{"it is another's for a while"}},
	}
}
