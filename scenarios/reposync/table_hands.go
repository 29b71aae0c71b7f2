// This file exists for the questions about what people do by hand to what the operator made, and to
// what it was told.

package reposync

import (
	"time"

	"github.com/wavetank/wavetank/sim/fault"
)

// Reasons why a question is not asked.
const (
	policyLike = "what it does otherwise than V0 has nothing to do with the policy"
	guardless  = "nothing of it guards what nobody manages, see “namespace finishes”"
	oneHand    = "only its reconciler takes that finalizer off"
	likeV2     = "it takes the finalizer off as V2 does, and only asks otherwise when"
	regardless = "it takes the finalizer off whatever has become of the reconciler, see the questions in which that is dead"
)

var (
	// strayed is a namespace with something in it that nobody manages, on which something depends.
	strayed = scene(Setting{Stray: true}, deletesNamespace)
	// rivalled is a deletion of which others write.
	rivalled = scene(Setting{}, contested)
	// busy has the reconciler at work for a while: something holds what others depend on.
	busy = Setting{Chain: 1, Held: true}
)

// hands are the questions about that.
func hands() []column {
	return []column{
		{
			Name: "namespace finishes, Deployment deleted by hand", New: told(busy, askFinishes, bereaved(deployment, deletesNamespace)), Property: finishes,
			Fail: except("V1 V2 V2w V10"), NotRun: unasked(regardless, "V1 V2 V2w"),
		},
		{
			Name: "namespace finishes, ServiceAccount deleted by hand", New: told(busy, askFinishes, bereaved(identity, deletesNamespace)), Property: finishes,
			Fail: except("V1 V2 V2w V10"), NotRun: unasked(regardless, "V1 V2 V2w"),
		},
		{
			Name: "RepoSync goes, Deployment deleted by hand", New: told(busy, askGoes, bereaved(deployment, deletesSync)), Property: goes,
			Fail: except("V1 V10"), NotRun: unasked(regardless, "V1"),
		},
		{
			Name: "RepoSync goes, ServiceAccount deleted by hand", New: told(busy, askGoes, bereaved(identity, deletesSync)), Property: goes,
			Fail: except("V1 V10"), NotRun: unasked(regardless, "V1"),
		},
		{
			Name: "no leaks, finalizers taken off", New: told(Setting{}, askSwept, stripped), Faults: failingManager, Property: noLeaks,
			Fail: except("V10"),
		},
		{
			Name: "what is to stay stays", New: told(Setting{}, askSpared, orphaned), Faults: lateNews, Property: spared,
			NotRun: unasked(policyLike, "V2 V2w V3 V4 V5 V6n V6g V7 V9"),
		},
		{
			Name: "order among all, on what nobody manages", Workload: strayed, Property: strongOrder,
			Fail: except("V3 V6g V7 V10"),
		},
		{
			Name: "namespace finishes, something depends on what nobody manages", Workload: strayed, Property: finishes,
			NotRun: unasked(without, "V0 V4", guardless, "V1 V2 V2w V5 V6n V7 V9"),
		},
		{
			Name: "finalizer off once, others write", Workload: rivalled, Faults: rivals, Property: onceOff,
			NotRun: unasked(oneHand, "V0 V3 V4 V5 V6n V6g V7 V9", likeV2, "V2w"),
		},
		{
			Name: "in time at the third try", Workload: rivalled, Faults: rivals, Property: converges,
			Fail: except("V10"),
		},
	}
}

// failingManager has the manager's work end anywhere.
func failingManager() []fault.Fault {
	return []fault.Fault{fault.Crash(Manager), fault.ServerError(fault.In(Manager)), fault.Conflict(fault.In(Manager)), fault.StaleCache(10 * time.Second)}
}
