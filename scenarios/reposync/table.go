// This file exists to hold the whole story as a table: for each variant, which question it fails under which faults.

package reposync

import (
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/wavetank/wavetank/controllers/reposync"
	"github.com/wavetank/wavetank/scenarios/internal/verdicts"
	"github.com/wavetank/wavetank/sim"
)

// Table is the story's word. A variant that is neither caught nor skipped must hold.
func Table() verdicts.Table[reposync.Variant] {
	return verdicts.Table[reposync.Variant]{Variants: reposync.Variants(), Cure: reposync.V10, Columns: Columns()}
}

// Columns is the table, a question in each; see [verdicts.Column]. The variants are V0 V1 V2 V2w V3 V4 V5 V6n V6g V9 V10.
func Columns() []column { return slices.Concat(liveness(), order(), rights(), openness(), others()) }

type (
	column  = verdicts.Column[reposync.Variant]
	because = map[reposync.Variant]string
)

// Reasons that stand for several cells.
const (
	beyond    = "its table has no such question, which stands among its properties or extra scenarios"
	first     = "the inventory may be the first to go, and nothing is destroyed that is not in it"
	notGuided = "once the last dependent has gone nothing has an order, and the rest is left to the namespace controller"
)

func variants(names string) (out []reposync.Variant) {
	for _, name := range strings.Fields(names) {
		out = append(out, reposync.Variant(name))
	}
	return out
}

func except(names string) []reposync.Variant {
	return slices.DeleteFunc(reposync.Variants(), func(v reposync.Variant) bool { return slices.Contains(variants(names), v) })
}

// liveness are the questions whether what is deleted goes (S3-L1 and S3-L2).
func liveness() []column {
	return []column{
		{
			Name: "namespace finishes", Tell: told(Setting{}, askFinishes, deletesNamespace), Broken: finishes,
			Caught:  variants("V0 V4"),
			Dossier: "✗ ✓ ✓ ✓ ✓ ✗ ✓ ✓ ✓ ✓ ✓",
		},
		{
			Name: "namespace finishes, its news trail", Tell: afterAnother(askFinishes, deletesNamespace), Faults: lateNamespaces, Broken: finishes,
			Caught: variants("V2"), Skipped: variants("V0 V4"),
			Dossier: "– ✓ ✗ ✓ ✓ – ✓ ✓ ✓ ✓ ✓",
		},
		{
			Name: "namespace finishes, its news trail, it is the first", Tell: told(Setting{}, askFinishes, deletesNamespace), Faults: lateNamespaces,
			Broken: finishes, Skipped: except("V2 V10"),
			Dossier: "– – ✗ – – – – – – – ✓",
			Because: because{reposync.V2: "the cache opens its watch of namespaces with the first question about one, and lists them then"},
		},
		{
			Name: "namespace finishes, reconciler dead", Tell: told(Setting{}, askFinishes, reconcilerDead(deletesNamespace)), Broken: finishes,
			Caught:  variants("V0 V3 V4 V5 V6n V6g V9"),
			Dossier: "✗ ✓ ✓ ✓ ✗ ✗ ✗ ✗ ✗ ✗ ✓",
		},
		{
			Name: "namespace finishes, rights inside", Tell: told(Setting{Chain: 1, Inside: true}, askFinishes, deletesNamespace), Faults: slowly,
			Broken:  finishes,
			Caught:  variants("V0 V4"),
			Dossier: "✗ ✓ ✓ ✓ ✓ ✗ ✓ ✓ ✓ ✓ ✓",
		},
		{
			Name: "namespace finishes, manager away", Tell: told(Setting{}, askFinishes, managerDown), Broken: finishes,
			Skipped: except("V1 V2w V5 V6g V10"),
			Dossier: "– – – – – – ✗ – – – –", Because: because{
				"": beyond, reposync.V5: "only for as long as it is away; gone for good, its finalizer on the RepoSync stays with every variant",
			},
		},
		{
			Name: "namespace finishes, manager dies", Tell: told(Setting{}, askFinishes, deletesNamespace), Faults: dyingManager, Broken: finishes,
			Skipped: except("V2w V5 V10"),
			Dossier: "– – – – – – – – – – –", Because: because{"": beyond},
		},
		{
			Name: "namespace finishes, webhook away, Fail", Tell: told(Setting{}, askFinishes, webhookDown), Broken: finishes,
			Skipped: except("V6n V6g V10"),
			Dossier: "– – – – – – – ✗ ✗ – ✓", Because: because{"": "only for as long as it is away"},
		},
		{
			Name: "namespace finishes, webhook away, Ignore", Tell: told(Setting{Ignore: true}, askFinishes, missing), Broken: finishes,
			Caught: variants("V6n V6g"), Skipped: except("V6n V6g V10"),
			Dossier: "– – – – – – – ✗ ✗ – ✓",
		},
		{
			Name: "namespace finishes, RepoSync deleted before", Tell: told(Setting{Held: true}, askFinishes, bothDeleted), Broken: finishes,
			Caught: variants("V0"), Skipped: except("V0 V2 V5 V9 V10"),
			Dossier: "– – – – – – – – – – –", Because: because{"": beyond},
		},
		{
			Name: "RepoSync goes, reconciler dead", Tell: told(Setting{}, askGoes, reconcilerDead(deletesSync)), Broken: goes,
			Caught:  except("V1 V10"),
			Dossier: "✗ ✓ ✗ ✗ ✗ ✗ ✗ ✗ ✗ ✗ ✓",
		},
		{
			Name: "RepoSync goes, rights deleted by hand", Tell: told(Setting{Held: true}, askGoes, revokedMeanwhile), Broken: goes,
			Caught:  variants("V0 V2 V2w V3 V4 V9"),
			Dossier: "✗ ✓ ✗ ✗ – – – – – – ✓", Because: because{"": beyond},
		},
	}
}

// order are the questions what goes before what (S3-S1 and S3-S2).
func order() []column {
	return []column{
		{
			Name: "finalizer honoured", Tell: told(Setting{Chain: 1, Held: true}, askHonoured, held(deletesSync)), Faults: lateNews, Broken: honoured,
			Caught:  variants("V1"),
			Dossier: "✓ ✗ ✓ ✓ ✓ ✓ ✓ ✓ ✓ ✓ ✓",
		},
		{
			Name: "order among all, namespace deleted", Tell: told(Setting{Chain: 2}, askStrongOrder, deletesNamespace), Broken: strongOrder,
			Caught:  except("V3 V6g V10"),
			Dossier: "✗ ✗ ✗ ✗ ✓ ✗ ✗ ✗ ✓ ✗ ✓",
		},
		{
			Name: "order among all, RepoSync deleted", Tell: told(Setting{Chain: 2}, askStrongOrder, deletesSync), Faults: lateNews, Broken: strongOrder,
			Skipped: except("V0 V1 V6g V10"),
			Dossier: "– – – – – – – – – – –", Because: because{"": beyond},
		},
		{
			Name: "order among ours, namespace deleted", Tell: told(Setting{Chain: 2}, askWeakOrder, deletesNamespace), Faults: lateNews, Broken: weakOrder,
			Skipped: except("V0 V2w V5 V10"),
			Dossier: "– – – – – – – – – – –", Because: because{"": beyond},
		},
	}
}

// rights are the questions what outlives what in the system (S3-S3 to S3-S6).
func rights() []column {
	return []column{
		{
			Name: "rights outlive use", Tell: told(Setting{}, askOutlive, deletesNamespace), Broken: outlive,
			Caught:  variants("V0 V1 V2 V2w V4"),
			Dossier: "✗ ✗ ✗ ✗ ✓ ✗ ✓ ✓ ✓ ✓ ✓",
		},
		{
			Name: "rights come back", Tell: told(Setting{}, askWhole, revoked), Broken: whole,
			Caught: variants("V5"), Skipped: except("V0 V5 V6n V9 V10"),
			Dossier: "– – – – – – – – – – –", Because: because{"": beyond, reposync.V5: "the finalizer keeps the binding that was deleted until the RepoSync goes"},
		},
		{
			Name: "no leaks", Tell: told(Setting{}, askNoLeaks, deletesNamespace), Broken: noLeaks,
			Dossier: "✗ ✓ ✓ ✓ ✓ ✗ ✓ ✓ ✓ – ✓", Because: because{
				"": "it counts from when the RepoSync has gone, and while it is stuck it has not", reposync.V9: "the manager takes the subject off the ClusterRoleBinding",
			},
		},
		{
			Name: "finalizer off once", Tell: told(Setting{Held: true}, askOnceOff, switched), Faults: lateNews, Broken: onceOff,
			Skipped: except("V0 V1 V2 V10"),
			Dossier: "– – – – – – – – – – –", Because: because{"": beyond},
		},
		{
			Name: "finalizer off once, orphaned at first", Tell: told(Setting{Orphans: true}, askOnceOff, switched), Faults: lateNews, Broken: onceOff,
			Skipped: except("V0 V10"),
			Dossier: "– – – – – – – – – – –", Because: because{"": beyond},
		},
		{
			Name: "nothing in vain", Tell: told(Setting{Chain: 1}, askNoFight, deletesNamespace), Faults: lateNews, Broken: noFight,
			Skipped: except("V0 V2w V10"),
			Dossier: "– – – – – – – – – – –", Because: because{"": beyond},
		},
	}
}

// openness are the questions what one can see (S3-A1 to S3-A3).
func openness() []column {
	return []column{
		{
			Name: "gone is gone", Tell: told(Setting{Chain: 1, Held: true}, askTruth, held(deletesNamespace)), Faults: slowly, Broken: truth,
			Caught:  except("V3 V10"),
			Dossier: "✓ ✗ ✗ ✗ ✓ ✗ ✓ ✓ ✓ ✓ ✓", Because: because{"": first, reposync.V6g: notGuided},
		},
		{
			Name: "actionable", Tell: told(Setting{Chain: 1, Held: true}, askActionable, held(deletesNamespace)), Faults: slowly, Broken: actionable,
			Caught:  except("V3 V6g V10"),
			Dossier: "✗ – ✗ ✗ ✓ ✗ ✓ ✓ ✓ ✗ ✓", Because: because{
				"": "the inventory may be the first to go: then the RepoSync goes, too, and nobody says what the namespace waits for", reposync.V1: "the RepoSync goes at once",
			},
		},
		{
			Name: "actionable, reconciler dead", Tell: told(Setting{Held: true}, askActionable, held(reconcilerDead(deletesSync))), Broken: actionable,
			Caught: variants("V0"), Skipped: except("V0 V10"),
			Dossier: "– – – – – – – – – – ✓", Because: because{"": beyond},
		},
		{
			Name: "inventory to the end", Tell: told(Setting{Chain: 1, Held: true}, askInventory, held(deletesNamespace)), Faults: slowly, Broken: inventoried,
			Caught: variants("V0 V5 V6n V9"), Skipped: except("V0 V3 V5 V6n V6g V9 V10"),
			Dossier: "✓ – – – ✓ – ✓ ✓ ✓ ✓ ✓", Because: because{"": "nothing keeps the namespace controller from deleting it first"},
		},
	}
}

// others are the questions of several RepoSyncs, and everything at once.
func others() []column {
	return []column{
		{
			Name: "siblings", Tell: told(Setting{Syncs: []types.NamespacedName{shop, other}}, askSiblings, deletesSync), Faults: lateNews, Broken: siblings,
			Skipped: except("V0 V5 V10"),
			Dossier: "– – – – – – – – – – –", Because: because{"": beyond},
		},
		{
			Name: "a namesake", Tell: told(Setting{}, askSynced, again), Faults: lateNews, Broken: synced,
			Skipped: except("V2w V9 V10"),
			Dossier: "– – – – – – – – – – –", Because: because{"": beyond},
		},
		{
			Name: "every fault", Tell: told(Setting{Chain: 1, Held: true}, askEverything, anything), Faults: EveryFault, Broken: truth,
			Skipped: except("V10"),
			Dossier: "– – – – – – – – – – ✓",
		},
	}
}

func lateNamespaces() []sim.Fault {
	return []sim.Fault{sim.StaleCache(30*time.Second, sim.In(Manager), sim.OfKind("Namespace"))}
}

func dyingManager() []sim.Fault { return []sim.Fault{sim.Crash(Manager)} }

func slowly() []sim.Fault { return []sim.Fault{sim.SlowNamespace(2 * time.Second)} }

func lateNews() []sim.Fault { return []sim.Fault{sim.StaleCache(10 * time.Second)} }

// EveryFault is what the harness knows to do to the operator's programs in their cluster, but for freezing one: a write that
// was on its way when the reconciler's node was given up may still arrive then, and no variant has a fence against that.
func EveryFault() []sim.Fault {
	reconciler := reposync.ReconcilerName(shop)
	faults := []sim.Fault{sim.StaleCache(30 * time.Second), sim.RacingRequeue(), sim.Conflict(sim.In(Manager)), sim.Conflict(sim.In(reconciler)),
		sim.SlowNamespace(10 * time.Second), sim.WebhookDown(time.Minute),
		sim.ServerError(sim.In(Webhook)), sim.Forbidden(time.Minute, sim.In(reconciler))}
	for _, process := range []string{Manager, reconciler} {
		faults = append(faults, sim.Crash(process), sim.LostReply(sim.In(process)), sim.ServerError(sim.In(process)),
			sim.DroppedWatch(sim.In(process)), sim.Relist(sim.In(process)))
	}
	return faults
}
