// This file holds what the page says beside its cells: the thread and the runs in a few lines,
// predictions, and situations.

package bundledeployment

import "github.com/wavetank/wavetank/scenarios/internal/matrix"

const reports = ``

const shows = ``

// predictions were made from reading the code, before anything ran.
func predictions() []matrix.Prediction[Row] {
	return []matrix.Prediction[Row]{
		{Says: "P1: who waits 30 s for a clean-up of 45 s never sleeps again", Case: "it settles", Variant: slow,
			Fails: true},
		{Says: "P2: events of kinds that are watched already keep V1 from sleeping",
			Case: "it settles beside watched kinds", Variant: "V1", Fails: true},
		{Says: "P2: and V2", Case: "it settles beside watched kinds", Variant: "V2", Fails: true},
		{Says: "P3: who dies while it waits for a clean-up is wedged for ever", Case: "dies in the clean-up",
			Variant: "V1", Fails: true},
		{Says: "P4: so is whoever deletes a namespace twice, where the server refuses that",
			Case: "the environment is mended, and nothing is deleted twice", Variant: "V0", Fails: true},
		{Says: "P5: a failing upgrade leaves records without bound", Case: "records are bounded", Variant: "V0",
			Fails: true},
	}
}

// situations were to be covered beside the variants.
func situations() []matrix.Situation {
	covered := func(text, test string, cases ...string) matrix.Situation {
		return matrix.Situation{Text: text, Test: test, Cases: cases}
	}
	return []matrix.Situation{
		covered("namespaces that take 7 to 75 s to go", "TestWaitingMayBeWorseThanNotWaiting", "it settles"),
		covered("a finalizer in one that needs another controller", "",
			"it settles, a namespace is held for a minute"),
		covered("a failed upgrade that has added a namespace", "", "no overlap after an upgrade",
			"a failing upgrade keeps the old", "it settles, an upgrade fails"),
		covered("two deployments want one kind or one namespace, and one of them fails", "",
			"two want one kind, one is refused", "two want one namespace, one is refused"),
		covered("the same kinds have been installed before", "", "it settles beside watched kinds"),
		covered("one to four workers, none to six that fail, at once or one after the other", "TestWorkersThatWait",
			"one fails beside a healthy one", "four fail beside a healthy one"),
		covered("a crash within the wait", "TestWaitingWidensTheWindowOfACrash", "dies in the clean-up"),
		covered("a server that refuses to delete what terminates", "",
			"the environment is mended, and nothing is deleted twice"),
		covered("the cause goes during the back-off, an attempt, a wait", "", "the environment is mended",
			"the deployment is mended"),
		covered("a refusal that says something else each time", "", "it settles although the refusal varies"),
		covered("other content is wanted meanwhile", "", "the content is mended"),
		covered("a record cannot be purged once the objects are gone", "", "a record cannot be purged for a while"),
		covered("the provisioner's class is edited away and back", "", "it is another's for a while"),
	}
}
