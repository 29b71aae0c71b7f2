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
			Name: "namespace finishes, Deployment deleted by hand", Tell: told(busy, askFinishes, bereaved(deployment, deletesNamespace)), Broken: finishes,
			Caught: except("V1 V2 V2w V10"), Unasked: unasked(regardless, "V1 V2 V2w"),
			Dossier: "✗ ✓ ✓ ✓ ✗ ✗ ✗ ✗ ✗ ✗ ✓",
		},
		{
			Name: "namespace finishes, ServiceAccount deleted by hand", Tell: told(busy, askFinishes, bereaved(identity, deletesNamespace)), Broken: finishes,
			Caught: except("V1 V2 V2w V10"), Unasked: unasked(regardless, "V1 V2 V2w"),
			Dossier: "✗ ✓ ✓ ✓ ✗ ✗ ✗ ✗ ✗ ✗ ✓",
		},
		{
			Name: "RepoSync goes, Deployment deleted by hand", Tell: told(busy, askGoes, bereaved(deployment, deletesSync)), Broken: goes,
			Caught: except("V1 V10"), Unasked: unasked(regardless, "V1"),
			Dossier: "✗ ✓ ✗ ✗ ✗ ✗ ✗ ✗ ✗ ✗ ✓",
		},
		{
			Name: "RepoSync goes, ServiceAccount deleted by hand", Tell: told(busy, askGoes, bereaved(identity, deletesSync)), Broken: goes,
			Caught: except("V1 V10"), Unasked: unasked(regardless, "V1"),
			Dossier: "✗ ✓ ✗ ✗ ✗ ✗ ✗ ✗ ✗ ✗ ✓",
		},
		{
			Name: "no leaks, finalizers taken off", Tell: told(Setting{}, askSwept, stripped), Faults: failingManager, Broken: noLeaks,
			Caught:  except("V10"),
			Dossier: "– – – – – – – – – – –", Because: because{"": beyond + "; the manager's finalizer was to see to it"},
		},
		{
			Name: "what is to stay stays", Tell: told(Setting{}, askSpared, orphaned), Faults: lateNews, Broken: spared,
			Unasked: unasked(policyLike, "V2 V2w V3 V4 V5 V6n V6g V9"),
			Dossier: "– – – – – – – – – – –", Because: because{"": beyond},
		},
		{
			Name: "order among all, on what nobody manages", Scene: strayed, Broken: strongOrder,
			Caught:  except("V3 V6g V10"),
			Dossier: "✗ ✗ ✗ ✗ ✓ ✗ ✗ ✗ ✓ ✗ ✓",
		},
		{
			Name: "namespace finishes, something depends on what nobody manages", Scene: strayed, Broken: finishes,
			Unasked: unasked(without, "V0 V4", guardless, "V1 V2 V2w V5 V6n V9"),
			Dossier: "– – – – ✓ – – – ✓ – ✓",
		},
		{
			Name: "finalizer off once, others write", Scene: rivalled, Faults: rivals, Broken: onceOff,
			Unasked: unasked(oneHand, "V0 V3 V4 V5 V6n V6g V9", likeV2, "V2w"),
			Dossier: "– – – – – – – – – – –", Because: because{"": beyond},
		},
		{
			Name: "too late no more often than others write", Scene: rivalled, Faults: rivals, Broken: converges,
			Unasked: unasked(oneHand, "V0 V3 V4 V5 V6n V6g V9", likeV2, "V2w"),
			Dossier: "– – – – – – – – – – –", Because: because{"": beyond + "; that three tries are enough is not so, see Books.OnceOff"},
		},
	}
}

// failingManager has the manager's work end anywhere.
func failingManager() []fault.Fault {
	return []fault.Fault{fault.Crash(Manager), fault.ServerError(fault.In(Manager)), fault.Conflict(fault.In(Manager)), fault.StaleCache(10 * time.Second)}
}
