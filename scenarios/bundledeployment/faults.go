// This file holds the faults of the cases, and the cases about whether failures settle in spite of
// them.

package bundledeployment

import (
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
		wedges = "a release record stays pending or half undone, and no attempt is made any more"
		brief  = "it never comes to rest, see “it settles”; these faults last for too short a time to see that"
		never  = "V0 V2-slow" // settle
	)
	wedged := because(wedges, "V0-status-filter V1 V2 V3")
	out := cases{
		{Name: "it settles while the cache lags", Workload: of(fails), Faults: lagging, Property: settles,
			Fail: only(never + " V1 V2 V3")},
		{Name: "it settles while keys are queued again", Workload: of(fails), Faults: requeued, Property: settles,
			Fail: except("V4")},
	}
	for _, c := range []struct {
		during, after matrix.Case[Row]
	}{
		{matrix.Case[Row]{Name: "the cache lags", Faults: lagging, Fail: only(never + " V3")},
			matrix.Case[Row]{Fail: only(never)}},
		{matrix.Case[Row]{Name: "keys are queued again", Faults: requeued, Fail: only(never)},
			matrix.Case[Row]{Fail: only(never)}},
		{matrix.Case[Row]{Name: "the operator is killed", Faults: crash, Fail: only(never)},
			matrix.Case[Row]{Fail: except("V4"), Notes: wedged}},
		{matrix.Case[Row]{Name: "the operator is asked to stop", Faults: restarted, Fail: only("V0"),
			NotRun: because(brief, "V2-slow"), Workload: of(failsUnderFaults(2 * time.Minute))},
			matrix.Case[Row]{Fail: only(never)}},
		{matrix.Case[Row]{Name: "replies are lost", Faults: repliesLost, Fail: only(never)},
			matrix.Case[Row]{Fail: except("V4"), Notes: wedged}},
		{matrix.Case[Row]{Name: "namespaces are slow", Faults: slowNamespaces, Fail: only(never + " V1 V2"),
			Notes: because(slowStep, "V1 V2"), Workload: of(failsUnderFaults(30*time.Minute), slower)},
			matrix.Case[Row]{Fail: only(never)}},
	} {
		class := c.during.Name
		if c.during.Workload == nil {
			c.during.Workload = of(failsUnderFaults(30 * time.Minute))
		}
		c.during.Name, c.during.Property = "bounded attempts while "+class, restrained
		out = append(out, c.during)
		c.after.Workload, c.after.Faults = c.during.Workload, c.during.Faults
		for _, p := range []struct{ name, property string }{
			{"it settles after ", settles}, {"back-off grows after ", backoffGrows},
			{"the status names the cause after ", actionable}, {"the status is quiet after ", quiet},
		} {
			c.after.Name, c.after.Property = p.name+class, p.property
			out = append(out, c.after)
		}
	}
	return out
}

func lagging() []fault.Fault { return []fault.Fault{fault.StaleCache(30 * time.Second)} }

func requeued() []fault.Fault { return []fault.Fault{fault.RacingRequeue()} }

func restarted() []fault.Fault { return []fault.Fault{fault.Restart(Operator)} }

func repliesLost() []fault.Fault { return []fault.Fault{fault.LostReply(fault.In(Operator))} }

func slowNamespaces() []fault.Fault { return []fault.Fault{fault.SlowNamespace(20 * time.Second)} }

func everyFault() []fault.Fault {
	return append(faults.OfHelm(Operator, "ConfigMap", "create", "update"), fault.Restart(Operator))
}

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
