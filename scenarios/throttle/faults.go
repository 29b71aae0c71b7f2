// This file holds the faults of the cases. Each is a function, as every run needs fresh ones.

package throttle

import (
	"time"

	"github.com/wavetank/wavetank/sim/fault"
)

type faults = func() []fault.Fault

// Parts of a world into which faults are injected.
var operator, its, patches = fault.In(Operator), fault.OfKind("KopfExample"), fault.OnVerb("patch")

// everyFault is all that the harness knows to do to an operator of this kind in its cluster, and to
// the call log outside. It has no work queue and no lease, and what a proxy writes into the call
// log twice says nothing of it.
func everyFault() []fault.Fault {
	return []fault.Fault{
		fault.StaleCache(30 * time.Second), fault.MissedStates(30*time.Second, operator), fault.DroppedWatch(operator),
		fault.Relist(operator), fault.Expired(operator), fault.StaleServer(10 * time.Second), fault.Crash(Operator),
		fault.Restart(Operator), fault.Pause(Operator, time.Second), fault.LostReply(operator), fault.Conflict(),
		fault.ServerError(operator), fault.Unreachable(time.Minute, operator),
		fault.Rejected("this cannot be written now", operator, its), fault.Forbidden(time.Minute, operator),
		fault.WebhookDown(time.Minute), fault.SlowEffect(time.Minute), fault.FailedEffect(),
	}
}

func crash() []fault.Fault     { return []fault.Fault{fault.Crash(Operator)} }
func restart() []fault.Fault   { return []fault.Fault{fault.Restart(Operator)} }
func conflict() []fault.Fault  { return []fault.Fault{fault.Conflict()} }
func lagging() []fault.Fault   { return []fault.Fault{fault.StaleCache(lag)} }
func lostReply() []fault.Fault { return []fault.Fault{fault.LostReply(operator)} }

// relists have the operator list anew.
func relists() []fault.Fault {
	return []fault.Fault{fault.DroppedWatch(operator), fault.Relist(operator), fault.Expired(operator)}
}

// late are what may become of a watch: it ends, or it trails.
func late() []fault.Fault { return lateBy(lag)() }

func lateBy(lag time.Duration) faults {
	return func() []fault.Fault { return append(relists(), fault.StaleCache(lag, operator)) }
}

// failing are writes to objects that fail once, or are not heard of again; failingFor are those of
// one object.
func failing() []fault.Fault      { return failingIn(operator, its, patches) }
func failingPatch() []fault.Fault { return failing()[:1] }

func failingFor(name string) faults {
	return func() []fault.Fault { return failingIn(fault.Named("default/"+name), operator, its, patches) }
}

func failingIn(scopes ...fault.Scope) []fault.Fault {
	return []fault.Fault{fault.ServerError(scopes...), fault.LostReply(scopes...)}
}

// nuisances are faults wherever the case is not about them: the watch trails and ends, and some
// writes fail or are not heard of again. Where handlers write to the object too, only the former: a
// handler that fails is called again by its own policy, and that is written down.
func nuisances() []fault.Fault { return append(late(), failing()...) }

// troubles are nuisances of which only one object's writes fail.
func troubles(name string) faults {
	return func() []fault.Fault { return append(late(), failingFor(name)()...) }
}

func failingWatch() []fault.Fault {
	return append(relists(), fault.ServerError(operator, fault.OnVerb("list")),
		fault.Forbidden(time.Minute, operator, its), fault.Unreachable(time.Minute, operator))
}
