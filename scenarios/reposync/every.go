// This file exists for the faults under which the full cure must hold all at once.

package reposync

import (
	"time"

	"github.com/wavetank/wavetank/controllers/reposync"
	"github.com/wavetank/wavetank/sim"
)

// EveryFault is what the harness knows to do to the operator's programs in their cluster, but for freezing one: a write that
// was on its way when the reconciler's node was given up may still arrive then, and no variant has a fence against that.
func EveryFault() []sim.Fault {
	reconciler := reposync.ReconcilerName(shop)
	faults := []sim.Fault{sim.StaleCache(30 * time.Second), sim.RacingRequeue(), sim.Conflict(sim.In(Manager)), sim.Conflict(sim.In(reconciler)),
		sim.SlowNamespace(10 * time.Second), sim.WebhookDown(time.Minute),
		sim.ServerError(sim.In(Webhook)), sim.Forbidden(time.Minute, sim.In(reconciler)), sim.StaleServer(10 * time.Second)}
	for _, process := range []string{Manager, reconciler} {
		of := sim.In(process)
		faults = append(faults, sim.Crash(process), sim.Restart(process), sim.LostReply(of), sim.ServerError(of), sim.Unreachable(time.Minute, of),
			sim.Rejected("this cannot be written now", of), sim.DroppedWatch(of), sim.Relist(of), sim.Expired(of), sim.MissedStates(30*time.Second, of))
	}
	return faults
}
