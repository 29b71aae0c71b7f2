// This file holds what the page says beside its cells: the thread and the runs, predictions, and
// situations.

package bundledeployment

import "github.com/wavetank/wavetank/scenarios/internal/matrix"

const reports = "The server refuses an object of a bundle with a Namespace in it. The operator undoes the install " +
	"and does not wait until the namespace has gone, so the next attempt meets it while it terminates. The status " +
	"then names another cause, and the event of that write starts an attempt at once: three attempts for each " +
	"back-off, and a status that hides the root cause. The thread is about rukpak's plain provisioner, which makes a " +
	"chart from plain manifests and applies it by Helm's actions. Ours takes charts as they are: installs, clean-ups " +
	"and records are Helm's in both, and the step left out plays no part in the thread."

const shows = `As reported (V0) there are three attempts for each sleep that is longer than a namespace takes to go. The
wait of the pull request (V1, V2) settles where namespaces go within its 30 s. Where they take longer it is worse than
the fault: every attempt changes the status, and the operator never sleeps again. Watches on the kinds of the bundle
defeat it, too, because what the clean-up deletes wakes its owner.

Under faults: while the cache lags, V3 makes more attempts than faults, and while keys are queued again all but V4 make
an attempt for each. V1 and V2 do so while namespaces are slow. When these faults have ended, all but V0 settle. After
a crash or a lost reply only V4 does: whoever undoes leaves a record half undone, and V3 leaves one pending, for ever.
SIGTERM wedges nobody but V2 where its wait is longer than the 30 s that it has to stop.

The pull request was closed. Its successor undoes nothing and keeps ten records: V3. It settles, says why, bounds its
records and keeps the old version. What a failed first install has made stays until somebody removes it, and so does
what a failed upgrade has made that is given up. Where each refusal says something else, each is news to the status and
starts the next attempt. It works on for whoever takes the deployment over, as all but V4 do.

V4 keeps what V3 keeps. It removes the remains of a first install without waiting for them, and counts a pending record
of a process that is gone as failed. It writes only while it holds the newest record, and the record, not the work
queue, says when the next attempt is due. So neither events nor crashes bring one sooner.`

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
	open := func(text, reason string) matrix.Situation { return matrix.Situation{Text: text, Reason: reason} }
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
		covered("whether several workers are safe, as the reviewer asks; make race-operators asks the race detector",
			"", "several are installed at once", "two want one kind", "two want one namespace"),
		open("the attempt with which a deployment settles does not write the status, either",
			"the attempt before it met what was left of its own clean-up, and its status has to be put right; "+
				"no later attempt may write"),
		open("a pending record is touched only if its writer is dead",
			"V4's writer says in the record until when it goes on, and another leader may take it over then, "+
				"whether the writer lives or not; “two leaders” checks that the writer writes nothing after that"),
		open("V1 and V2 wait 30 s", "they wait 7 ms less: Helm looks every 2 s, and a last look at the very end "+
			"would be a race of two timers"),
		open("sources of bundles other than images, the finalizer on unpacked content, "+
			"metadata of a template other than labels",
			"content comes to the operator as a chart, and the thread is about what becomes of it after that"),
	}
}
