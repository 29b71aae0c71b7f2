// This file holds the faults of the cases.

package throttle

import (
	"slices"
	"time"

	"github.com/wavetank/wavetank/sim/fault"
)

// Parts of a world into which faults are injected.
var operator, its, patches = fault.In(Operator), fault.OfKind("KopfExample"), fault.OnVerb("patch")

// EveryFault is all that the harness knows to do to an operator of this kind in its cluster, and to
// the call log outside. It has no work queue and no lease, and what a proxy writes into the call
// log twice says nothing of it.
func EveryFault() []fault.Fault {
	return []fault.Fault{
		fault.StaleCache(30 * time.Second), fault.MissedStates(30*time.Second, operator), fault.DroppedWatch(operator),
		fault.Relist(operator),
		fault.Expired(operator), fault.StaleServer(10 * time.Second), fault.Crash(Operator), fault.Restart(Operator),
		fault.Pause(Operator, time.Second),
		fault.LostReply(operator), fault.Conflict(), fault.ServerError(operator),
		fault.Unreachable(time.Minute, operator),
		fault.Rejected("this cannot be written now", operator, its), fault.Forbidden(time.Minute, operator),
		fault.WebhookDown(time.Minute),
		fault.SlowEffect(time.Minute), fault.FailedEffect(),
	}
}

// nuisances are faults wherever the case is not about them: the watch trails and ends, and some
// writes fail or are not heard of again. Where handlers write to the object too, only the former: a
// handler that fails is called again by its own policy, and that is written down.
func nuisances() []fault.Fault { return append(late(), failing()...) }

// late are what may become of a watch.
func late() []fault.Fault { return lateNews(lag) }

func lateNews(lag time.Duration) []fault.Fault {
	return append(relists(), fault.StaleCache(lag, operator))
}

func soonHeard() []fault.Fault { return lateNews(2 * time.Second) }

func atOnce() []fault.Fault { return lateNews(leg) }

// relists have the operator list anew.
func relists() []fault.Fault {
	return []fault.Fault{fault.DroppedWatch(operator), fault.Relist(operator), fault.Expired(operator)}
}

// failing are writes to objects that fail once, or are not heard of again.
func failing() []fault.Fault { return failingOf() }

func failingOf(scopes ...fault.Scope) []fault.Fault {
	scopes = append(slices.Clone(scopes), operator, its, patches)
	return []fault.Fault{fault.ServerError(scopes...), fault.LostReply(scopes...)}
}

// failingFor are those of one object.
func failingFor(name string) func() []fault.Fault {
	return func() []fault.Fault { return failingOf(fault.Named("default/" + name)) }
}

// troubles are nuisances of which only one object's writes fail.
func troubles(name string) func() []fault.Fault {
	return func() []fault.Fault { return append(late(), failingFor(name)()...) }
}

func failingPatch() []fault.Fault { return failing()[:1] }

func lateAndLost() []fault.Fault { return append(late(), failing()[1]) }

func failingWatch() []fault.Fault {
	return append(relists(), fault.ServerError(operator, fault.OnVerb("list")),
		fault.Forbidden(time.Minute, operator, its), fault.Unreachable(time.Minute, operator))
}

func crash() []fault.Fault { return []fault.Fault{fault.Crash(Operator)} }

func restart() []fault.Fault { return []fault.Fault{fault.Restart(Operator)} }

func conflict() []fault.Fault { return []fault.Fault{fault.Conflict()} }

func lagging() []fault.Fault { return []fault.Fault{fault.StaleCache(lag)} }

func lostReply() []fault.Fault { return []fault.Fault{fault.LostReply(operator)} }
