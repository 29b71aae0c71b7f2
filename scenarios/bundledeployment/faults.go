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
// when they have ended.
func settlingUnderFaults() (out cases) {
	type fails map[string]string // variants, by property
	for _, class := range []struct {
		name   string
		faults func() []fault.Fault
		workload
		fails
	}{
		{"the cache lags", lagging, of(failsUnderFaults(30 * time.Minute)), fails{}},
		{"keys are queued again", requeued, of(failsUnderFaults(30 * time.Minute)), fails{}},
		{"the operator is killed", crash, of(failsUnderFaults(30 * time.Minute)), fails{}},
		{"the operator is asked to stop", restarted, of(failsUnderFaults(2 * time.Minute)), fails{}},
		{"replies are lost", repliesLost, of(failsUnderFaults(30 * time.Minute)), fails{}},
		{"namespaces are slow", slowNamespaces, of(failsUnderFaults(30*time.Minute), slower), fails{}},
	} {
		for _, p := range []struct{ name, property string }{
			{"bounded attempts while ", restrained}, {"it settles after ", settles},
			{"back-off grows after ", backoffGrows}, {"the status names the cause after ", actionable},
			{"the status is quiet after ", quiet},
		} {
			out = append(out, matrix.Case[Row]{Name: p.name + class.name, Workload: class.workload,
				Faults: class.faults, Property: p.property, Fail: only(class.fails[p.property])})
		}
	}
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
