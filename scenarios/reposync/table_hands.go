// This file exists for the questions about what people do by hand to what the operator made, and to what it was told.

package reposync

import (
	"time"

	"github.com/wavetank/wavetank/controllers/reposync"
	"github.com/wavetank/wavetank/sim"
)

// strayed is a namespace with something in it that nobody manages, on which something depends.
var strayed = scene(Setting{Stray: true}, deletesNamespace)

// hands are the questions about that.
func hands() []column {
	return []column{
		{
			Name: "namespace finishes, Deployment deleted by hand", Tell: told(Setting{Held: true}, askFinishes, bereaved(deployment, deletesNamespace)), Broken: finishes,
			Caught:  except("V1 V2 V2w V10"),
			Dossier: "– – – – – – – – – – –", Because: because{"": beyond},
		},
		{
			Name: "namespace finishes, ServiceAccount deleted by hand", Tell: told(Setting{Held: true}, askFinishes, bereaved(identity, deletesNamespace)), Broken: finishes,
			Caught:  except("V1 V2 V2w V10"),
			Dossier: "– – – – – – – – – – –", Because: because{"": beyond},
		},
		{
			Name: "RepoSync goes, Deployment deleted by hand", Tell: told(Setting{Held: true}, askGoes, bereaved(deployment, deletesSync)), Broken: goes,
			Caught:  except("V1 V10"),
			Dossier: "✗ ✓ ✗ ✗ ✗ ✗ ✗ ✗ ✗ ✗ ✓", Because: because{"": beyond},
		},
		{
			Name: "RepoSync goes, ServiceAccount deleted by hand", Tell: told(Setting{Held: true}, askGoes, bereaved(identity, deletesSync)), Broken: goes,
			Caught:  except("V1 V10"),
			Dossier: "✗ ✓ ✗ ✗ ✗ ✗ ✗ ✗ ✗ ✗ ✓", Because: because{"": beyond},
		},
		{
			Name: "no leaks, finalizers taken off", Tell: told(Setting{}, askSwept, stripped), Faults: failingManager, Broken: noLeaks,
			Caught:  except("V10"),
			Dossier: "– – – – – – – – – – –", Because: because{"": beyond + "; the manager's finalizer was to see to it"},
		},
		{
			Name: "what is to stay stays", Tell: told(Setting{}, askSpared, orphaned), Faults: lateNews, Broken: spared,
			Dossier: "– – – – – – – – – – –", Because: because{"": beyond},
		},
		{
			Name: "order among all, on what nobody manages", Scene: strayed, Broken: strongOrder,
			Caught:  except("V3 V6g V10"),
			Dossier: "✗ ✗ ✗ ✗ ✓ ✗ ✗ ✗ ✓ ✗ ✓",
		},
		{
			Name: "namespace finishes, something depends on what nobody manages", Scene: strayed, Broken: finishes,
			Caught:  variants("V0 V4"),
			Dossier: "✗ ✓ ✓ ✓ ✓ ✗ ✓ ✓ ✓ ✓ ✓", Because: because{reposync.V4: beyond},
		},
	}
}

// failingManager has the manager's work end anywhere.
func failingManager() []sim.Fault {
	return []sim.Fault{sim.Crash(Manager), sim.ServerError(sim.In(Manager)), sim.Conflict(sim.In(Manager)), sim.StaleCache(10 * time.Second)}
}
