// This file holds the faults of the cases.

package reposync

import (
	"slices"
	"strings"
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

// interrupted are the faults under which back-off is to settle.
func interrupted() []fault.Fault {
	faults := []fault.Fault{fault.StaleCache(10*time.Second, fault.HardLimit()), fault.RacingRequeue(),
		fault.SlowNamespace(10 * time.Second)}
	for _, process := range []string{Manager, reposync.ReconcilerName(shop)} {
		faults = append(faults, fault.Crash(process), fault.Restart(process), fault.LostReply(fault.In(process)))
	}
	return faults
}

func dyingReconciler() []fault.Fault {
	return []fault.Fault{fault.Crash(reposync.ReconcilerName(shop))}
}
func racing() []fault.Fault { return []fault.Fault{fault.RacingRequeue()} }

// interruptedThere are those of them that reach the reconciler while the manager has nothing to do.
func interruptedThere() []fault.Fault {
	return slices.DeleteFunc(interrupted(), func(f fault.Fault) bool {
		return strings.Contains(f.String(), Manager) || strings.HasPrefix(f.String(), "StaleCache")
	})
}
