// This file holds the faults of the cases, and the cases about whether failures settle in spite of
// them.

package bundledeployment

import (
	"slices"
	"time"

	"github.com/wavetank/wavetank/scenarios/internal/faults"
	"github.com/wavetank/wavetank/scenarios/internal/matrix"
	"github.com/wavetank/wavetank/sim/fault"
)

// settlingUnderFaults are the cases about whether failures settle while faults are injected, and
// when they have ended. The first two allow no attempt for a fault.
func settlingUnderFaults() cases {
	const (
		slowStep = "a slow step is not counted, because it wakes nobody. The namespace goes too late for the wait, " +
			"and the event of the status that says so starts an attempt"
		wedges  = "a release record stays pending or half undone, and no attempt is made any more"
		brief   = "it never comes to rest, see “it settles”; these faults last for too short a time to see that"
		forgets = "a restart empties the work queue's memory, so its back-off begins anew"
		never   = "V0 V2-slow" // settle
	)
	ends := outcome{Fail: only(never)}
	killed := outcome{Fail: only(never + " V0-status-filter V3"), Notes: because(forgets, "V0-status-filter V3")}
	wedged := outcome{Fail: except("V4"), Notes: because(wedges, "V0-status-filter V1 V2 V3")}
	long, short := failsUnderFaults(30*time.Minute), failsUnderFaults(2*time.Minute)
	return slices.Concat(strictly(),
		underFaults("the cache lags", lagging, of(long), outcome{Fail: only(never + " V3")}, ends),
		underFaults("keys are queued again", requeued, of(long), ends, ends),
		underFaults("the operator is killed", crash, of(long), killed, wedged),
		underFaults("the operator is asked to stop", restarted, of(short),
			outcome{Fail: only("V0 V0-status-filter V1 V2 V3"), NotRun: because(brief, "V2-slow"),
				Notes: because(forgets, "V0-status-filter V1 V2 V3")}, ends),
		underFaults("replies are lost", repliesLost, of(long),
			outcome{Fail: only(never + " V1 V2 V3")},
			outcome{Fail: except("V4"), Notes: wedged.Notes}),
		underFaults("namespaces are slow", slowNamespaces, of(long, slower),
			outcome{Fail: only(never + " V1 V2"), Notes: because(slowStep, "V1 V2")}, ends))
}

// strictly are cases in which no fault is a reason for an attempt.
func strictly() cases {
	return cases{
		{Name: "it settles while the cache lags", Workload: of(fails), Faults: lagging, Property: settles,
			Fail: only("V0 V1 V2 V2-slow V3")},
		{Name: "it settles while keys are queued again", Workload: of(fails), Faults: requeued, Property: settles,
			Fail: except("V4")},
	}
}

// outcome is a case without a name: who fails, and why.
type outcome = matrix.Case[Row]

// underFaults are the cases of a class of faults: who fails while they are injected, and who fails
// the other properties when they have ended.
func underFaults(class string, faults func() []fault.Fault, w workload, during, after outcome) (out cases) {
	add := func(c outcome, name, property string) {
		c.Name, c.Property, c.Workload, c.Faults = name+class, property, w, faults
		out = append(out, c)
	}
	add(during, "bounded attempts while ", restrained)
	add(after, "it settles after ", settles)
	add(after, "back-off grows after ", backoffGrows)
	add(after, "the status names the cause after ", actionable)
	add(after, "the status is quiet after ", quiet)
	return out
}

func lagging() []fault.Fault { return []fault.Fault{fault.StaleCache(30 * time.Second)} }

func requeued() []fault.Fault { return []fault.Fault{fault.RacingRequeue()} }

func restarted() []fault.Fault { return []fault.Fault{fault.Restart(Operator)} }

func repliesLost() []fault.Fault { return []fault.Fault{fault.LostReply(fault.In(Operator))} }

func slowNamespaces() []fault.Fault { return []fault.Fault{fault.SlowNamespace(20 * time.Second)} }

func everyFault() []fault.Fault { return faults.OfHelm(Operator, "ConfigMap", "create", "update") }

func overlap() []fault.Fault {
	return []fault.Fault{
		fault.LeaderOverlap(), fault.Pause(Operator, 8*time.Second), fault.Pause(Second, 8*time.Second),
	}
}

func crash() []fault.Fault { return []fault.Fault{fault.Crash(Operator)} }

// crashInCleanUp kills the operator around one of the deletions of a clean-up.
func crashInCleanUp() []fault.Fault {
	return []fault.Fault{fault.Crash(Operator, fault.OnVerb("delete"), fault.OfKind("Namespace"))}
}

// purgeFails keeps release records from being removed.
func purgeFails() []fault.Fault {
	return []fault.Fault{fault.ServerError(fault.OfKind("Secret"), fault.OnVerb("delete"))}
}

// statusTrails lets events of deployments come late, and a repair fail now and then.
func statusTrails() []fault.Fault {
	return []fault.Fault{fault.StaleCache(time.Minute, fault.OfKind("BundleDeployment")),
		fault.ServerError(fault.OfKind("Namespace"), fault.OnVerb("create"))}
}
