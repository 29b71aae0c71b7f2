// This file holds the faults of the cases.

package reposync

import (
	"time"

	"github.com/wavetank/wavetank/controllers/reposync"
	"github.com/wavetank/wavetank/sim/fault"
)

// everyFault is what the harness knows to do to the operator's programs in their cluster, but for
// freezing one: a write that was on its way when the reconciler's node was given up may still
// arrive then, and no variant has a fence against that.
func everyFault() []fault.Fault {
	reconciler := reposync.ReconcilerName(shop)
	faults := []fault.Fault{
		fault.StaleCache(30*time.Second, fault.HardLimit()), fault.RacingRequeue(),
		fault.Conflict(fault.In(Manager)), fault.Conflict(fault.In(reconciler)),
		fault.SlowNamespace(10 * time.Second), fault.WebhookDown(time.Minute),
		fault.ServerError(fault.In(Webhook)), fault.Forbidden(time.Minute, fault.In(reconciler)),
		fault.StaleServer(10 * time.Second),
	}
	for _, process := range []string{Manager, reconciler} {
		of := fault.In(process)
		faults = append(faults, fault.Crash(process), fault.Restart(process),
			fault.LostReply(of), fault.ServerError(of), fault.Unreachable(time.Minute, of),
			fault.Rejected("this cannot be written now", of),
			fault.DroppedWatch(of), fault.Relist(of), fault.Expired(of), fault.MissedStates(30*time.Second, of))
	}
	return faults
}

// conflicts write the RepoSync just before the operator does.
func conflicts() []fault.Fault {
	syncs := fault.OfKind("RepoSync")
	return []fault.Fault{fault.StaleCache(10*time.Second, fault.HardLimit()), fault.Conflict(fault.In(Manager), syncs),
		fault.Conflict(fault.In(reposync.ReconcilerName(shop)), syncs)}
}

// failingManager has the manager's work end anywhere.
func failingManager() []fault.Fault {
	return []fault.Fault{fault.Crash(Manager), fault.ServerError(fault.In(Manager)), fault.Conflict(fault.In(Manager)),
		fault.StaleCache(10*time.Second, fault.HardLimit())}
}

func lateNamespaces() []fault.Fault {
	late := fault.StaleCache(30*time.Second, fault.In(Manager), fault.OfKind("Namespace"), fault.HardLimit())
	return []fault.Fault{late}
}

func dyingManager() []fault.Fault { return []fault.Fault{fault.Crash(Manager)} }

func slowly() []fault.Fault { return []fault.Fault{fault.SlowNamespace(2 * time.Second)} }

func lateNews() []fault.Fault {
	return []fault.Fault{fault.StaleCache(10*time.Second, fault.HardLimit())}
}

func lateServer() []fault.Fault { return []fault.Fault{fault.StaleServer(10 * time.Second)} }
