// This file holds the predictions and situations of the page.

package throttle

import (
	"github.com/wavetank/wavetank/controllers/throttle"
	"github.com/wavetank/wavetank/scenarios/internal/matrix"
)

// predictions were made from reading the code, before anything ran.
func predictions() (out []matrix.Prediction[throttle.Variant]) {
	const thread, recovers = "https://github.com/zalando-incubator/kopf/pull/350", "recovers without an event"
	add := func(says, name string, v throttle.Variant, fails bool, link string) {
		out = append(out, matrix.Prediction[throttle.Variant]{Says: says, Case: name, Variant: v, Fails: fails, Link: link})
	}
	add("a handler's own writes to the object make the hot loop go round", "bounded, long name", throttle.V0a, true, "")
	add("so do another writer's heartbeats", "bounded in a storm of events", throttle.V0b, true, "")
	add("so does a child's state that is mirrored onto the object", "bounded, a child is mirrored", throttle.V0b, true, "")
	add("so do lists that are made anew", "bounded, lists anew", throttle.V0b, true, "")
	add("if nothing writes, the object is dropped after one failure", recovers, throttle.V0b, true, "")
	add("and then there is no hot loop", "bounded, long name", throttle.V0b, false, "")
	add("a failing watcher stops the operator as reported, too", "no zombie", throttle.V0a, false, thread)
	add("ending the process stops the work on every other object", "isolation", throttle.V1, true, thread)
	add("a throttle never retries on its own", recovers, throttle.V2, true, "")
	add("nor does what shipped", recovers, throttle.V1V2, true, "")
	add("a restart sets the throttle's delay back to a second", "on schedule, restarted every five minutes", throttle.V2,
		true, "")
	return out
}

// situations were to be covered beside the variants.
func situations() []matrix.Situation {
	covered := func(text, test string, cases ...string) matrix.Situation {
		return matrix.Situation{Text: text, Test: test, Cases: cases}
	}
	open := func(text, reason string) matrix.Situation { return matrix.Situation{Text: text, Reason: reason} }
	return []matrix.Situation{
		covered("attempts as reported: one to two a second", "TestRateOfTheHotLoop"),
		covered("the object is refused and its status is not", "", "actionable"),
		covered("its status is refused and the object is not", "", "status refused for a while"),
		covered("only the second record of progress is refused", "", "bounded, second record refused"),
		covered("a webhook is down for ten minutes", "", "bounded, webhook away for ten minutes",
			"recovers when the webhook is back"),
		covered("more than 262,144 bytes of annotations", "", "bounded, too much to write down"),
		covered("a finalizer for an object that is being deleted", "",
			"isolation, a finalizer for what is being deleted"),
		covered("another's finalizer is dropped by a merge patch", "", "a foreign finalizer"),
		covered("one poisoned of 1,000 objects", "TestAThousandObjects"),
		covered("50 poisoned ones and ten workers", "", "isolation, 50 poisoned and 10 workers"),
		covered("an error in the layer around the handlers", "", "isolation outside the net"),
		covered("a restart every five minutes", "", "on schedule, restarted every five minutes"),
		covered("a storm of events for a throttled object", "", "the newest counts in a storm of edits",
			"bounded in a storm of events"),
		covered("a permanent refusal, then an edit that ends it", "", "an edit makes it legal"),
		covered("a crash loop until its back-off is 300 s, then an edit", "", "an edit after ten minutes"),
		covered("conflicts that do not end", "TestAConflictThatDoesNotEndIsAFailure"),
		open("what was last seen of an object stands in an annotation, and handlers get the difference",
			"each record names the generation that it is about, which decides the same: whether there is work"),
		open("a racing requeue, and a namespace that is slow to go",
			"the operator has no work queue, and waits for no namespace; a watch that ends has it look again"),
		open("peering, daemons, timers, deletion handlers and several kinds",
			"the thread is about errors outside of handlers, whatever those are for"),
	}
}
