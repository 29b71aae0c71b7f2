// This file exists to hold the whole story as a table: for each variant, which question it fails
// under which faults.

package reposync

import (
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/wavetank/wavetank/controllers/reposync"
	"github.com/wavetank/wavetank/scenarios/internal/verdicts"
	"github.com/wavetank/wavetank/sim/fault"
)

// Table is the story's word. A variant that is neither caught nor skipped must hold.
func Table() verdicts.Table[reposync.Variant] {
	return verdicts.Table[reposync.Variant]{Variants: reposync.Variants(), Cure: reposync.V10, Columns: Columns(),
		Foretold: predictions(), Wanted: wanted(), AtLeast: verdicts.Enough}
}

// Columns is the table, a question in each; see [verdicts.Column]. The variants are V0 V1 V2 V2w V3
// V4 V5 V6n V6g V9 V10.
func Columns() []column {
	return slices.Concat(liveness(), order(), rights(), openness(), hands(), others(), roots())
}

type (
	column  = verdicts.Column[reposync.Variant]
	because = map[reposync.Variant]string
)

// Reasons that stand for several cells.
const (
	beyond    = "its table has no such question, which stands among its properties or extra scenarios"
	first     = "the inventory may be the first to go, and nothing is destroyed that is not in it"
	unsaid    = "its table has no RootSyncs, which stand among its extra scenarios"
	notGuided = "once the last dependent has gone nothing has an order, and the rest is left to the namespace controller"
)

// Reasons why a question is not asked.
const (
	without = "it falls without that, see “namespace finishes”"
	noHook  = "it has no webhook"
	gaveUp  = "the user whom its webhook refuses gives up after a minute, and it is later that the namespace may go"
	stays   = "its namespace does not go, so that there can be no namesake"
	likeV0  = "it is stuck where V0 is, which is asked"
)

// unasked are the variants that are not asked, each list of them after its reason.
func unasked(reasons ...string) because {
	out := because{}
	for i := 0; i < len(reasons); i += 2 {
		for _, v := range variants(reasons[i+1]) {
			out[v] = reasons[i]
		}
	}
	return out
}

func variants(names string) (out []reposync.Variant) {
	for _, name := range strings.Fields(names) {
		out = append(out, reposync.Variant(name))
	}
	return out
}

func except(names string) []reposync.Variant {
	return slices.DeleteFunc(reposync.Variants(), func(v reposync.Variant) bool { return slices.Contains(variants(names), v) })
}

// Scenes of which several things are asked.
var (
	plain        = scene(Setting{}, deletesNamespace)
	chained      = scene(Setting{Chain: 2}, deletesNamespace)
	fickle       = scene(Setting{Held: true}, switched)
	fickleOrphan = scene(Setting{Orphans: true}, switched)
	kept         = scene(Setting{Chain: 1, Held: true}, held(deletesNamespace))
	rooted       = scene(Setting{Root: allForShop}, deletesRoot)
	bindingFirst = Setting{Order: []string{"rolebindings.rbac.authorization.k8s.io", "reposyncs.configsync.gke.io"}, Pace: 5 * time.Second}
	keptOn       = scene(Setting{Chain: 1, Held: true, Forever: true}, heldOn(deletesNamespace))
)

// liveness are the questions whether what is deleted goes (S3-L1 and S3-L2).
func liveness() []column {
	return []column{
		{
			Name: "namespace finishes", Scene: plain, Broken: finishes,
			Caught:  variants("V0 V4"),
			Dossier: "✗ ✓ ✓ ✓ ✓ ✗ ✓ ✓ ✓ ✓ ✓",
		},
		{
			Name: "namespace finishes, its news trail", Tell: afterAnother(askFinishes, deletesNamespace), Faults: lateNamespaces, Broken: finishes,
			Caught: variants("V2"), Unasked: unasked(without, "V0 V4"),
			Dossier: "– ✓ ✗ ✓ ✓ – ✓ ✓ ✓ ✓ ✓",
		},
		{
			Name: "namespace finishes, its news trail, it is the first", Tell: told(Setting{}, askFinishes, deletesNamespace), Faults: lateNamespaces,
			Broken: finishes, Unasked: unasked(without, "V0 V4"),
			Dossier: "– – ✗ – – – – – – – ✓",
			Because: because{"": beyond, reposync.V2: "the cache opens its watch of namespaces with the first question about one, and lists them then"},
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
			Unasked: unasked(without, "V0 V4", gaveUp, "V3"),
			Dossier: "– – – – – – ✗ – – – –", Because: because{
				"": beyond, reposync.V5: "only for as long as it is away; gone for good, its finalizer on the RepoSync stays with every variant",
			},
		},
		{
			Name: "namespace finishes, manager dies", Tell: told(Setting{}, askFinishes, deletesNamespace), Faults: dyingManager, Broken: finishes,
			Unasked: unasked(without, "V0 V4", gaveUp, "V3"),
			Dossier: "– – – – – – – – – – –", Because: because{"": beyond},
		},
		{
			Name: "namespace finishes, webhook away, Fail", Tell: told(Setting{}, askFinishes, webhookDown), Broken: finishes,
			Unasked: unasked(noHook, "V0 V1 V2 V2w V4 V5 V9"),
			Dossier: "– – – – – – – ✗ ✗ – ✓", Because: because{"": "only for as long as it is away", reposync.V3: beyond},
		},
		{
			Name: "namespace finishes, webhook away, Ignore", Tell: told(Setting{Ignore: true}, askFinishes, missing), Broken: finishes,
			Caught: variants("V6n V6g"), Unasked: unasked(noHook, "V0 V1 V2 V2w V4 V5 V9"),
			Dossier: "– – – – – – – ✗ ✗ – ✓", Because: because{reposync.V3: "the namespace may be deleted before the webhook goes"},
		},
		{
			Name: "namespace finishes, RepoSync deleted before", Tell: told(Setting{Held: true}, askFinishes, bothDeleted), Broken: finishes,
			Caught: variants("V0 V4"), Unasked: unasked(gaveUp, "V3"),
			Dossier: "– – – – – – – – – – –", Because: because{
				"": beyond, reposync.V4: beyond + "; a pass that began before the namespace terminated meets its rights gone, and then may not even look again",
			},
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
			Name: "finalizer honoured", Tell: told(Setting{Chain: 1, Held: true}, askHonoured, heldFor(time.Minute, deletesSync)), Faults: lateNews, Broken: honoured,
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
			Dossier: "– – – – – – – – – – –", Because: because{"": beyond},
		},
		{
			Name: "order among ours, namespace deleted", Scene: chained, Faults: lateNews, Broken: weakOrder,
			Unasked: unasked(likeV0, "V4"),
			Dossier: "– – – – – – – – – – –", Because: because{"": beyond},
		},
	}
}

// rights are the questions what outlives what in the system (S3-S3 to S3-S6).
func rights() []column {
	return []column{
		{
			Name: "rights outlive use", Scene: plain, Broken: outlive,
			Caught:  variants("V0 V1 V2 V2w V4"),
			Dossier: "✗ ✗ ✗ ✗ ✓ ✗ ✓ ✓ ✓ ✓ ✓",
		},
		{
			Name: "rights come back", Tell: told(Setting{}, askWhole, revoked), Broken: whole,
			Caught:  variants("V5"),
			Dossier: "– – – – – – – – – – –", Because: because{"": beyond, reposync.V5: "the finalizer keeps the binding that was deleted until the RepoSync goes"},
		},
		{
			Name: "no binding is made anew where the namespace goes", Tell: told(bindingFirst, askRevived, deletesNamespace), Broken: revived,
			Caught:  variants("V0 V1 V2 V2w V4"),
			Unasked: unasked("its binding does not go before the RepoSync, see “rights outlive use”", "V3 V5 V6n V6g V9"),
			Dossier: "✗ – – – – – – – – – –", Because: because{"": beyond},
		},
		{
			Name: "no leaks", Scene: plain, Broken: noLeaks,
			Dossier: "✗ ✓ ✓ ✓ ✓ ✗ ✓ ✓ ✓ – ✓", Because: because{
				"": "it counts from when the RepoSync has gone, and while it is stuck it has not", reposync.V9: "the manager takes the subject off the ClusterRoleBinding",
			},
		},
		{
			Name: "finalizer off once", Scene: fickle, Faults: lateNews, Broken: onceOff,
			Dossier: "– – – – – – – – – – –", Because: because{"": beyond},
		},
		{
			Name: "finalizer off once, orphaned at first", Scene: fickleOrphan, Faults: lateNews, Broken: onceOff,
			Dossier: "– – – – – – – – – – –", Because: because{"": beyond},
		},
		{
			Name: "nothing in vain", Scene: chained, Faults: lateNews, Broken: noFight,
			Unasked: unasked(likeV0, "V4"),
			Dossier: "– – – – – – – – – – –", Because: because{"": beyond},
		},
	}
}

// openness are the questions what one can see (S3-A1 to S3-A3).
func openness() []column {
	return []column{
		{
			Name: "gone is gone", Scene: kept, Faults: slowly, Broken: truth,
			Caught:  except("V3 V10"),
			Dossier: "✓ ✗ ✗ ✗ ✓ ✗ ✓ ✓ ✓ ✓ ✓", Because: because{"": first, reposync.V6g: notGuided},
		},
		{
			Name: "actionable", Scene: kept, Faults: slowly, Broken: actionable,
			Caught:  except("V3 V6g V10"),
			Dossier: "✗ – ✗ ✗ ✓ ✗ ✓ ✓ ✓ ✗ ✓", Because: because{
				"": "the inventory may be the first to go: then the RepoSync goes, too, and only the conditions of the namespace are left to say that a finalizer keeps something", reposync.V1: "the RepoSync goes at once",
			},
		},
		{
			Name: "gone is gone, held for ever", Scene: keptOn, Faults: slowly, Broken: truth,
			Caught:  except("V3 V6g V10"),
			Dossier: "✓ ✗ ✗ ✗ ✓ ✗ ✓ ✓ ✓ ✓ ✓", Because: because{"": first},
		},
		{
			Name: "actionable, held for ever", Scene: keptOn, Faults: slowly, Broken: actionable,
			Caught:  except("V3 V6g V10"),
			Dossier: "✗ – ✗ ✗ ✓ ✗ ✓ ✓ ✓ ✗ ✓", Because: because{
				"": "the inventory may be the first to go: then the RepoSync goes, too, and only the conditions of the namespace are left to say that a finalizer keeps something", reposync.V1: "the RepoSync goes at once",
			},
		},
		{
			Name: "actionable, reconciler dead", Tell: told(Setting{Held: true}, askActionable, heldFor(5*time.Minute, reconcilerDead(deletesSync))), Broken: actionable,
			Caught:  except("V10"),
			Dossier: "– – – – – – – – – – ✓", Because: because{"": beyond + "; a reconciler that is dead says nothing, and nobody else does", reposync.V1: "the RepoSync goes at once"},
		},
		{
			Name: "inventory to the end", Scene: kept, Faults: slowly, Broken: inventoried,
			Caught:  except("V3 V6g V10"),
			Dossier: "✓ – – – ✓ – ✓ ✓ ✓ ✓ ✓", Because: because{"": "nothing keeps the namespace controller from deleting it first"},
		},
	}
}

// others are the questions of several RepoSyncs, and everything at once.
func others() []column {
	return []column{
		{
			Name: "siblings", Tell: told(Setting{Syncs: []types.NamespacedName{shop, other}}, askSiblings, deletesSync), Faults: lateNews, Broken: siblings,
			Dossier: "– – – – – – – – – – –", Because: because{"": beyond},
		},
		{
			Name: "a namesake", Tell: told(Setting{}, askSynced, again), Faults: lateNews, Broken: synced,
			Unasked: unasked(stays, "V0 V4"),
			Dossier: "– – – – – – – – – – –", Because: because{"": beyond},
		},
		{
			Name: "every fault", Tell: told(Setting{Chain: 1, Held: true}, askEverything, anything), Faults: EveryFault, Broken: truth,
			Unasked: verdicts.OnlyCure(reposync.Variants(), reposync.V10),
			Dossier: "– – – – – – – – – – ✓",
		},
	}
}

// roots are the questions about a RootSync. One that declares a namespace, the RepoSync in it and
// the RepoSync's rights is the knot of issue 589; one that declares something for namespaces as
// they come and go is that of pull request 1194.
func roots() []column {
	return []column{
		{
			Name: "RootSync goes", Scene: rooted, Faults: lateNews, Broken: rootGoes,
			Caught:  except("V1 V10"),
			Dossier: "✗ – – – – – – – – – –", Because: because{"": unsaid},
		},
		{
			Name: "gone is gone, RootSync", Scene: rooted, Faults: lateNews, Broken: truth,
			Caught: variants("V1"), Unasked: unasked("the RootSync does not go", "V0 V2 V2w V3 V4 V5 V6n V6g V9"),
			Dossier: "– – – – – – – – – – –", Because: because{"": unsaid},
		},
		{
			Name: "RootSync goes, RepoSync depends on its rights", Tell: told(Setting{Root: allForShop, Inside: true}, askRootGoes, deletesRoot),
			Faults: lateNews, Broken: rootGoes,
			Dossier: "– – – – – – – – – – –", Because: because{"": unsaid},
		},
		{
			Name: "a declared namespace comes back", Tell: told(Setting{Root: allForShop}, askRenewed, deletesDeclared), Faults: lateNews, Broken: renewed,
			Caught:  variants("V0 V4"),
			Dossier: "– – – – – – – – – – –", Because: because{"": unsaid},
		},
		{
			Name: "nothing in vain, namespaces selected", Tell: told(Setting{Root: oneForEach, Held: true}, askVain, held(deletesNamespace)),
			Faults: lateNews, Broken: vain,
			Caught:  except("V3 V10"),
			Dossier: "✗ – – – – – – – – – –", Because: because{
				"": unsaid, reposync.V3: unsaid + "; its namespace may not be deleted while anything is in it that keeps it, and is gone at once",
			},
		},
	}
}

func lateNamespaces() []fault.Fault {
	return []fault.Fault{fault.StaleCache(30*time.Second, fault.In(Manager), fault.OfKind("Namespace"))}
}

func dyingManager() []fault.Fault { return []fault.Fault{fault.Crash(Manager)} }

func slowly() []fault.Fault { return []fault.Fault{fault.SlowNamespace(2 * time.Second)} }

func lateNews() []fault.Fault { return []fault.Fault{fault.StaleCache(10 * time.Second)} }
