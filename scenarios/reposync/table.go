// This file exists to hold the whole story as a table: for each variant, which question it fails
// under which faults.

package reposync

import (
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/wavetank/wavetank/controllers/reposync"
	"github.com/wavetank/wavetank/scenarios/internal/matrix"
	"github.com/wavetank/wavetank/sim/fault"
)

// Table is the story's word. A variant that is neither caught nor skipped must hold.
func Table() matrix.Table[reposync.Variant] {
	return matrix.Table[reposync.Variant]{Variants: reposync.Variants(), Fixed: reposync.V10, Cases: Columns(),
		Predictions: predictions(), Situations: wanted()}
}

// Columns is the table, a question in each; see [matrix.Case]. The variants are V0 V1 V2 V2w V3
// V4 V5 V6n V6g V9 V10.
func Columns() []column {
	return slices.Concat(liveness(), order(), rights(), openness(), hands(), others(), roots())
}

type (
	column  = matrix.Case[reposync.Variant]
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
			Name: "namespace finishes", Workload: plain, Property: finishes,
			Fail: variants("V0 V4"),
		},
		{
			Name: "namespace finishes, its news trail", New: afterAnother(askFinishes, deletesNamespace), Faults: lateNamespaces, Property: finishes,
			Fail: variants("V2 V7"), NotRun: unasked(without, "V0 V4"),
		},
		{
			Name: "namespace finishes, its news trail, it is the first", New: told(Setting{}, askFinishes, deletesNamespace), Faults: lateNamespaces,
			Property: finishes, Fail: variants("V7"), NotRun: unasked(without, "V0 V4"),
			Notes: because{reposync.V2: "the cache opens its watch of namespaces with the first question about one, and lists them then"},
		},
		{
			Name: "namespace finishes, reconciler dead", New: told(Setting{}, askFinishes, reconcilerDead(deletesNamespace)), Property: finishes,
			Fail: variants("V0 V3 V4 V5 V6n V6g V7 V9"),
		},
		{
			Name: "namespace finishes, rights inside", New: told(Setting{Chain: 1, Inside: true}, askFinishes, deletesNamespace), Faults: slowly,
			Property: finishes,
			Fail:     variants("V0 V4 V7"),
		},
		{
			Name: "namespace finishes, manager away", New: told(Setting{}, askFinishes, managerDown), Property: finishes,
			Fail: variants("V7"), NotRun: unasked(without, "V0 V4", gaveUp, "V3"),
			Notes: because{
				reposync.V5: "only for as long as it is away; gone for good, its finalizer on the RepoSync stays with every variant",
			},
		},
		{
			Name: "namespace finishes, manager dies", New: told(Setting{}, askFinishes, deletesNamespace), Faults: dyingManager, Property: finishes,
			Fail: variants("V7"), NotRun: unasked(without, "V0 V4", gaveUp, "V3"),
		},
		{
			Name: "namespace finishes, webhook away, Fail", New: told(Setting{}, askFinishes, webhookDown), Property: finishes,
			NotRun: unasked(noHook, "V0 V1 V2 V2w V4 V5 V7 V9"),
		},
		{
			Name: "namespace finishes, webhook away, Ignore", New: told(Setting{Ignore: true}, askFinishes, missing), Property: finishes,
			Fail: variants("V6n V6g"), NotRun: unasked(noHook, "V0 V1 V2 V2w V4 V5 V7 V9"),
			Notes: because{reposync.V3: "the namespace may be deleted before the webhook goes"},
		},
		{
			Name: "namespace finishes, RepoSync deleted before", New: told(Setting{Held: true}, askFinishes, bothDeleted), Property: finishes,
			Fail: variants("V0 V4 V7"), NotRun: unasked(gaveUp, "V3"),
			Notes: because{
				reposync.V4: "a pass that began before the namespace terminated meets its rights gone, and then may not even look again",
			},
		},
		{
			Name: "RepoSync goes, reconciler dead", New: told(Setting{}, askGoes, reconcilerDead(deletesSync)), Property: goes,
			Fail: except("V1 V10"),
		},
		{
			Name: "RepoSync goes, rights deleted by hand", New: told(Setting{Held: true}, askGoes, revokedMeanwhile), Property: goes,
			Fail: variants("V0 V2 V2w V3 V4 V7 V9"),
		},
	}
}

// order are the questions what goes before what (S3-S1 and S3-S2).
func order() []column {
	return []column{
		{
			Name: "finalizer honoured", New: told(Setting{Chain: 1, Held: true}, askHonoured, heldFor(time.Minute, deletesSync)), Faults: lateNews, Property: honoured,
			Fail: variants("V1"),
		},
		{
			Name: "order among all, namespace deleted", New: told(Setting{Chain: 2}, askStrongOrder, deletesNamespace), Property: strongOrder,
			Fail: except("V3 V6g V10"),
		},
		{
			Name: "order among all, RepoSync deleted", New: told(Setting{Chain: 2}, askStrongOrder, deletesSync), Faults: lateNews, Property: strongOrder,
		},
		{
			Name: "order among ours, namespace deleted", Workload: chained, Faults: lateNews, Property: weakOrder,
			NotRun: unasked(likeV0, "V4"),
		},
	}
}

// rights are the questions what outlives what in the system (S3-S3 to S3-S6).
func rights() []column {
	return []column{
		{
			Name: "rights outlive use", Workload: plain, Property: outlive,
			Fail: variants("V0 V1 V2 V2w V4"),
			Notes: because{
				reposync.V7: "its reconciler has done before the namespace controller begins, five seconds after the deletion",
			},
		},
		{
			Name: "rights come back", New: told(Setting{}, askWhole, revoked), Property: whole,
			Fail:  variants("V5"),
			Notes: because{reposync.V5: "the finalizer keeps the binding that was deleted until the RepoSync goes"},
		},
		{
			Name: "no binding is made anew where the namespace goes", New: told(bindingFirst, askRevived, deletesNamespace), Property: revived,
			Fail:   variants("V0 V1 V2 V2w V4"),
			NotRun: unasked("its binding does not go before the RepoSync, see “rights outlive use”", "V3 V5 V6n V6g V9"),
		},
		{
			Name: "no leaks", Workload: plain, Property: noLeaks,
			NotRun: unasked("its RepoSync does not go, so nothing can be left behind it", "V0 V4"),
			Notes: because{
				reposync.V9: "the manager takes the subject off the ClusterRoleBinding",
			},
		},
		{
			Name: "finalizer off once", Workload: fickle, Faults: lateNews, Property: onceOff,
		},
		{
			Name: "finalizer off once, orphaned at first", Workload: fickleOrphan, Faults: lateNews, Property: onceOff,
		},
		{
			Name: "nothing in vain", Workload: chained, Faults: lateNews, Property: noFight,
			NotRun: unasked(likeV0, "V4"),
		},
	}
}

// openness are the questions what one can see (S3-A1 to S3-A3).
func openness() []column {
	return []column{
		{
			Name: "gone is gone", Workload: kept, Faults: slowly, Property: truth,
			Fail:  except("V3 V10"),
			Notes: because{reposync.V6g: notGuided},
		},
		{
			Name: "actionable", Workload: kept, Faults: slowly, Property: actionable,
			Fail: except("V3 V6g V10"),
			Notes: because{
				reposync.V1: "the RepoSync goes at once",
			},
		},
		{
			Name: "gone is gone, held for ever", Workload: keptOn, Faults: slowly, Property: truth,
			Fail: except("V3 V6g V10"),
		},
		{
			Name: "actionable, held for ever", Workload: keptOn, Faults: slowly, Property: actionable,
			Fail: except("V3 V6g V10"),
			Notes: because{
				reposync.V1: "the RepoSync goes at once",
			},
		},
		{
			Name: "actionable, reconciler dead", New: told(Setting{Held: true}, askActionable, heldFor(5*time.Minute, reconcilerDead(deletesSync))), Property: actionable,
			Fail:  except("V10"),
			Notes: because{reposync.V1: "the RepoSync goes at once"},
		},
		{
			Name: "inventory to the end", Workload: kept, Faults: slowly, Property: inventoried,
			Fail: except("V3 V6g V10"),
		},
	}
}

// others are the questions of several RepoSyncs, and everything at once.
func others() []column {
	return []column{
		{
			Name: "siblings", New: told(Setting{Syncs: []types.NamespacedName{shop, other}}, askSiblings, deletesSync), Faults: lateNews, Property: siblings,
		},
		{
			Name: "a namesake", New: told(Setting{}, askSynced, again), Faults: lateNews, Property: synced,
			NotRun: unasked(stays, "V0 V4"),
		},
		{
			Name: "every fault", New: told(Setting{Chain: 1, Held: true}, askEverything, anything), Faults: EveryFault, Property: truth,
			NotRun: matrix.OnlyFixed(reposync.Variants(), reposync.V10),
		},
	}
}

// roots are the questions about a RootSync. One that declares a namespace, the RepoSync in it and
// the RepoSync's rights is the knot of issue 589; one that declares something for namespaces as
// they come and go is that of pull request 1194.
func roots() []column {
	return []column{
		{
			Name: "RootSync goes", Workload: rooted, Faults: lateNews, Property: rootGoes,
			Fail: except("V1 V10"),
		},
		{
			Name: "gone is gone, RootSync", Workload: rooted, Faults: lateNews, Property: truth,
			Fail: variants("V1"), NotRun: unasked("the RootSync does not go", "V0 V2 V2w V3 V4 V5 V6n V6g V7 V9"),
		},
		{
			Name: "RootSync goes, RepoSync depends on its rights", New: told(Setting{Root: allForShop, Inside: true}, askRootGoes, deletesRoot),
			Faults: lateNews, Property: rootGoes,
		},
		{
			Name: "a declared namespace comes back", New: told(Setting{Root: allForShop}, askRenewed, deletesDeclared), Faults: lateNews, Property: renewed,
			Fail: variants("V0 V4 V7"),
		},
		{
			Name: "nothing in vain, namespaces selected", New: told(Setting{Root: oneForEach, Held: true}, askVain, held(deletesNamespace)),
			Faults: lateNews, Property: vain,
			Fail: except("V3 V10"),
			Notes: because{
				reposync.V3: unsaid + "; its namespace may not be deleted while anything is in it that keeps it, and is gone at once",
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
