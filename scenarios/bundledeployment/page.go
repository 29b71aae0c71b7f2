// This file holds the predictions and situations of the page.

package bundledeployment

import "github.com/wavetank/wavetank/scenarios/internal/matrix"

// predictions were made from reading the code, before anything ran.
func predictions() []matrix.Prediction[Row] {
	fails := func(says, name string, v Row) matrix.Prediction[Row] {
		return matrix.Prediction[Row]{Says: says, Case: name, Variant: v, Fails: true}
	}
	return []matrix.Prediction[Row]{
		fails("P1: who waits 30 s for a clean-up of 45 s never sleeps again", "it settles", slow),
		fails("P2: events of kinds that are watched already keep V1 from sleeping",
			"it settles beside watched kinds", "V1"),
		fails("P2: and V2", "it settles beside watched kinds", "V2"),
		fails("P3: who dies while it waits for a clean-up is wedged for ever", "dies in the clean-up", "V1"),
		fails("P4: so is whoever deletes a namespace twice, where the server refuses that",
			"the environment is mended, and nothing is deleted twice", "V0"),
		fails("P5: a failing upgrade leaves records without bound", "records are bounded", "V0"),
	}
}

var covered, tested, open = matrix.Covered, matrix.Tested, matrix.Open

// situations were to be covered beside the variants.
var situations = []matrix.Situation{
	tested("namespaces that take 7 to 75 s to go", "TestWaitingMayBeWorseThanNotWaiting", "it settles"),
	covered("a finalizer in one that needs another controller", "it settles, a namespace is held for a minute"),
	covered("a failed upgrade that has added a namespace", "no overlap after an upgrade",
		"a failing upgrade keeps the old", "it settles, an upgrade fails"),
	covered("two deployments want one kind or one namespace, and one of them fails",
		"two want one kind, one is refused", "two want one namespace, one is refused"),
	covered("the same kinds have been installed before", "it settles beside watched kinds"),
	tested("one to four workers, none to six that fail, at once or one after the other", "TestWorkersThatWait",
		"one fails beside a healthy one", "four fail beside a healthy one"),
	tested("a crash within the wait", "TestWaitingWidensTheWindowOfACrash", "dies in the clean-up"),
	covered("a server that refuses to delete what terminates",
		"the environment is mended, and nothing is deleted twice"),
	covered("the cause goes during the back-off, an attempt, a wait", "the environment is mended",
		"the deployment is mended"),
	covered("a refusal that says something else each time", "it settles although the refusal varies"),
	covered("other content is wanted meanwhile", "the content is mended"),
	covered("a record cannot be purged once the objects are gone", "a record cannot be purged for a while"),
	covered("the provisioner's class is edited away and back", "it is another's for a while"),
	covered("whether several workers are safe, as the reviewer asks; make race-operators asks the race detector",
		"several are installed at once", "two want one kind", "two want one namespace"),
	open("the attempt with which a deployment settles does not write the status, either",
		"the attempt before it met what was left of its own clean-up, and its status has to be put right; no later "+
			"attempt may write"),
	open("a pending record is touched only if its writer is dead", "V4's writer says in the record until when it "+
		"goes on, and another leader may take it over then, whether the writer lives or not; “two leaders” checks "+
		"that the writer writes nothing after that"),
	open("V1 and V2 wait 30 s",
		"they wait 7 ms less: Helm looks every 2 s, and a last look at the very end would be a race of two timers"),
	open("sources of bundles other than images, the finalizer on unpacked content, metadata of a template other than "+
		"labels", "content comes to the operator as a chart, and the thread is about what becomes of it after that"),
}
