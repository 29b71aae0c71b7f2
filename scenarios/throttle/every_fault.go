// This file exists for the fixed variant as a whole: all that users may do, under all that may
// strike.

package throttle

import (
	"time"

	"github.com/wavetank/wavetank/controllers/throttle"
	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/fault"
)

// lively has handlers of both kinds, and a webhook that lets everything pass to begin with.
var lively = Scene{Handlers: []string{long, short}, Before: func(s *World) {
	s.police("kopfexamples")
	s.policy.lifted = true
}}

// everything is a long story with all that users may do.
func everything(s *World) {
	s.Apply(Example("plain"), Poisoned("poisoned"), Verbose("verbose"))
	s.hold()
	s.Sleep(5 * time.Second)
	s.Edit("plain", map[string]any{"spec": map[string]any{"field": "other"}})
	s.Edit("verbose", map[string]any{"spec": map[string]any{"output": 5}})
	s.Settle()
	s.policy.lifted = false
	s.Apply(Example("another"))
	s.Remove(Example("plain"), Example("poisoned"))
	s.Sleep(time.Minute)
	s.policy.lifted = true
	s.Settle()
}

// askedAlways is what the fixed variant answers under every fault. It is not asked how soon
// something happens after something else: the program may be dead, frozen or cut off for as long as
// that takes.
func askedAlways() []string {
	return []string{bounded, scheduled, noEnd, effectOnce, calledOnce, notVanished, keepsForeign, noZombie, handled}
}

// always is the workload with everything, and asks all of that.
func always(v throttle.Variant, faults ...fault.Fault) func(*sim.World) {
	return workload(lively, everything).New(v, askedAlways(), faults...)
}

// EveryFault is all that the harness knows to do to an operator of this kind in its cluster, and to
// the call log outside. It has no work queue and no lease, and what a proxy writes into the call
// log twice says nothing of it.
func EveryFault() []fault.Fault {
	operator, its := fault.In(Operator), fault.OfKind("KopfExample")
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

// nuisances are what may strike an operator wherever the question is not about them: its watch
// trails and ends, and some of its writes fail or are not heard of again. Where handlers write to
// the object too, only the former: a handler that fails is called again by its own policy, and that
// is written down.
func nuisances() []fault.Fault { return append(late(), failing()...) }

func late() []fault.Fault { return lateNews(30 * time.Second) }

// troubles are nuisances of which only one object's writes fail.
func troubles(name string) func() []fault.Fault {
	return func() []fault.Fault { return append(late(), failing(fault.Named("default/"+name))...) }
}

func failingFor(name string) func() []fault.Fault {
	return func() []fault.Fault { return failing(fault.Named("default/" + name)) }
}

// lateNews are what may become of a watch.
func lateNews(lag time.Duration) []fault.Fault {
	return append(relists(), fault.StaleCache(lag, fault.In(Operator)))
}

// relists have the operator list anew.
func relists() []fault.Fault {
	operator := fault.In(Operator)
	return []fault.Fault{fault.DroppedWatch(operator), fault.Relist(operator), fault.Expired(operator)}
}

// failing are writes to objects that fail once, or are not heard of again.
func failing(scopes ...fault.Scope) []fault.Fault {
	scopes = append(scopes, fault.In(Operator), fault.OfKind("KopfExample"), fault.OnVerb("patch"))
	return []fault.Fault{fault.ServerError(scopes...), fault.LostReply(scopes...)}
}

func crash() []fault.Fault { return []fault.Fault{fault.Crash(Operator)} }

func conflict() []fault.Fault { return []fault.Fault{fault.Conflict()} }

func lag() []fault.Fault { return []fault.Fault{fault.StaleCache(30 * time.Second)} }

func soonHeard() []fault.Fault { return lateNews(2 * time.Second) }

func atOnce() []fault.Fault { return lateNews(leg) }

func lateAndLost() []fault.Fault { return append(late(), failing()[1]) }

func lostReply() []fault.Fault { return []fault.Fault{fault.LostReply(fault.In(Operator))} }

// failingWrites are for where a watch has nothing to say, because nothing can be written.
func failingWrites() []fault.Fault { return failing() }

func failingPatch() []fault.Fault { return failing()[:1] }

func failingWatch() []fault.Fault {
	operator, its := fault.In(Operator), fault.OfKind("KopfExample")
	return append(relists(), fault.ServerError(operator, fault.OnVerb("list")),
		fault.Forbidden(time.Minute, operator, its), fault.Unreachable(time.Minute, operator))
}
