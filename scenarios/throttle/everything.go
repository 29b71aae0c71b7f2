// This file exists for the full cure in its whole life: all that users may do, under all that may strike.

package throttle

import (
	"time"

	"github.com/wavetank/wavetank/controllers/throttle"
	"github.com/wavetank/wavetank/sim"
)

// lively has handlers of both kinds, and a webhook that lets everything pass to begin with.
var lively = Scene{Handlers: []string{long, short}, Before: func(s *Story) {
	s.police("kopfexamples")
	s.policy.lifted = true
}}

// everything is a long story with all that users may do.
func everything(s *Story) {
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

// askedAlways is what the full cure answers under every fault. It is not asked how soon something happens after something
// else: the program may be dead, frozen or cut off for as long as that takes.
func askedAlways() []string {
	return []string{bounded, scheduled, noEnd, effectOnce, calledOnce, notVanished, keepsForeign, noZombie, handled}
}

// always tells of everything, and asks all of that.
func always(v throttle.Variant, faults ...sim.Fault) func(*sim.World) {
	return tell(lively, everything).Tell(v, askedAlways(), faults...)
}

// EveryFault is all that the harness knows to do to an operator of this kind in its cluster, and to the ledger outside. It
// has no work queue and no lease, and what a proxy writes into the ledger twice says nothing of it.
func EveryFault() []sim.Fault {
	operator, its := sim.In(Operator), sim.OfKind("KopfExample")
	return []sim.Fault{
		sim.StaleCache(30 * time.Second), sim.MissedStates(30*time.Second, operator), sim.DroppedWatch(operator), sim.Relist(operator),
		sim.Expired(operator), sim.StaleServer(10 * time.Second), sim.Crash(Operator), sim.Restart(Operator), sim.Pause(Operator, time.Second),
		sim.LostReply(operator), sim.Conflict(), sim.ServerError(operator), sim.Unreachable(time.Minute, operator),
		sim.Rejected("this cannot be written now", operator, its), sim.Forbidden(time.Minute, operator), sim.WebhookDown(time.Minute),
		sim.SlowEffect(time.Minute), sim.FailedEffect(),
	}
}

// nuisances are what may strike an operator wherever the question is not about them: its watch trails and ends, and some of
// its writes fail or are not heard of again. Where handlers write to the object too, only the former: a handler that fails
// is called again by its own policy, and that is written down.
func nuisances() []sim.Fault { return append(late(), failing()...) }

func late() []sim.Fault { return lateNews(30 * time.Second) }

// troubles are nuisances of which only one object's writes fail.
func troubles(name string) func() []sim.Fault {
	return func() []sim.Fault { return append(late(), failing(sim.Named("default/"+name))...) }
}

func failingFor(name string) func() []sim.Fault {
	return func() []sim.Fault { return failing(sim.Named("default/" + name)) }
}

// lateNews are what may become of a watch.
func lateNews(lag time.Duration) []sim.Fault {
	return append(relists(), sim.StaleCache(lag, sim.In(Operator)))
}

// relists have the operator list anew.
func relists() []sim.Fault {
	operator := sim.In(Operator)
	return []sim.Fault{sim.DroppedWatch(operator), sim.Relist(operator), sim.Expired(operator)}
}

// failing are writes to objects that fail once, or are not heard of again.
func failing(scopes ...sim.Scope) []sim.Fault {
	scopes = append(scopes, sim.In(Operator), sim.OfKind("KopfExample"), sim.OnVerb("patch"))
	return []sim.Fault{sim.ServerError(scopes...), sim.LostReply(scopes...)}
}

func crash() []sim.Fault { return []sim.Fault{sim.Crash(Operator)} }

func conflict() []sim.Fault { return []sim.Fault{sim.Conflict()} }

func lag() []sim.Fault { return []sim.Fault{sim.StaleCache(30 * time.Second)} }

func soonHeard() []sim.Fault { return lateNews(2 * time.Second) }

func atOnce() []sim.Fault { return lateNews(leg) }

func lateAndLost() []sim.Fault { return append(late(), failing()[1]) }

func lostReply() []sim.Fault { return []sim.Fault{sim.LostReply(sim.In(Operator))} }

// failingWrites are for where a watch has nothing to say, because nothing can be written.
func failingWrites() []sim.Fault { return failing() }

func failingPatch() []sim.Fault { return failing()[:1] }

func failingWatch() []sim.Fault {
	operator, its := sim.In(Operator), sim.OfKind("KopfExample")
	return append(relists(), sim.ServerError(operator, sim.OnVerb("list")), sim.Forbidden(time.Minute, operator, its), sim.Unreachable(time.Minute, operator))
}
