// This file holds the cases of the table.

package reposync

import (
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/wavetank/wavetank/controllers/reposync"
	"github.com/wavetank/wavetank/scenarios/internal/matrix"
)

// Settings of several cases.
var (
	busy         = Setting{Chain: 1, Held: true} // the reconciler is at work for a while
	twoSyncs     = Setting{Syncs: []types.NamespacedName{shop, other}}
	bindingFirst = Setting{Order: []string{"rolebindings.rbac.authorization.k8s.io", "reposyncs.configsync.gke.io"},
		Pace: 5 * time.Second}
)

// Workloads of several cases.
var (
	plain     = of(Setting{}, deletesNamespace)
	chained   = of(Setting{Chain: 2}, deletesNamespace)
	kept      = of(busy, heldFor(3*time.Minute, deletesNamespace))
	keptOn    = of(Setting{Chain: 1, Held: true, Forever: true}, heldFor(4*time.Minute, deletesNamespace))
	rooted    = of(Setting{Root: allForShop}, deletesRoot)
	strayed   = of(Setting{Stray: true}, deletesNamespace)
	contested = of(Setting{}, deletesEither)

	bindingGone = of(Setting{Order: bindingFirst.Order, Pace: 3 * time.Hour, Forever: true}, refusedForLong)
	managedGone = of(Setting{Order: []string{"configmaps", bindingFirst.Order[0]}, Pace: 3 * time.Hour, Forever: true},
		refusedForLong)

	// everything is what the fixed variant must pass whatever happens.
	everything = of(busy, anything,
		honoured, strongOrder, weakOrder, outlive, noLeaks, onceOff, noFight, inventoried, synced, gone)
)

// liveness are the cases about whether what is deleted goes (S3-L1 and S3-L2).
func liveness() cases {
	return cases{
		{Name: "namespace finishes", Workload: plain, Property: finishes, Fail: only("V0 V4 V7")},
		{Name: "namespace finishes, its news trail", Workload: of(Setting{Another: true}, deletesNamespace), Faults: lateNamespaces,
			Property: finishes, Fail: only("V2 V7"), NotRun: notRun(failsAnyway, "V0 V4")},
		{Name: "namespace finishes, its news trail, it is the first", Workload: of(Setting{}, deletesNamespace),
			Faults: lateNamespaces, Property: finishes, Fail: only("V7"), NotRun: notRun(failsAnyway, "V0 V4"),
			Notes: because{reposync.V2: "the cache lists all namespaces when the first is read"}},
		{Name: "namespace finishes, reconciler dead", Workload: of(Setting{}, reconcilerDead(deletesNamespace)),
			Property: finishes, Fail: only("V0 V3 V4 V5 V6n V6g V7 V9")},
		{Name: "namespace finishes, rights inside", Workload: of(Setting{Chain: 1, Inside: true}, deletesNamespace),
			Faults: slowly, Property: finishes, Fail: only("V0 V4 V7")},
		{Name: "namespace finishes, manager away", Workload: of(Setting{}, managerDown), Property: finishes,
			Fail: only("V7"), NotRun: notRun(failsAnyway, "V0 V4", gaveUp, "V3"),
			Notes: because{reposync.V5: "only for as long as it is away; gone for good, " +
				"its finalizer on the RepoSync stays with every variant"}},
		{Name: "namespace finishes, manager dies", Workload: of(Setting{}, deletesNamespace), Faults: dyingManager,
			Property: finishes, Fail: only("V7"), NotRun: notRun(failsAnyway, "V0 V4", gaveUp, "V3")},
		{Name: "namespace finishes, webhook away, Fail", Workload: of(Setting{}, webhookDown), Property: finishes,
			NotRun: notRun(noHook, "V0 V1 V2 V2w V4 V5 V7 V9")},
		{Name: "namespace finishes, webhook away, Ignore", Workload: of(Setting{Ignore: true}, webhookMissing),
			Property: finishes, Fail: only("V6n V6g"), NotRun: notRun(noHook, "V0 V1 V2 V2w V4 V5 V7 V9"),
			Notes: because{reposync.V3: "the namespace may be deleted before the webhook goes"}},
		{Name: "namespace finishes, RepoSync deleted before", Workload: of(Setting{Held: true}, bothDeleted),
			Property: finishes, Fail: only("V0 V4 V7"), NotRun: notRun(gaveUp, "V3"),
			Notes: because{reposync.V4: "a pass that began before the namespace terminated meets its rights gone, " +
				"and then may not even look again"}},
		{Name: "RepoSync goes, reconciler dead", Workload: of(Setting{}, reconcilerDead(deletesSync)), Property: goes,
			Fail: except("V1 V10")},
		{Name: "RepoSync goes, rights deleted by hand", Workload: of(Setting{Held: true}, revokedMeanwhile),
			Property: goes, Fail: only("V0 V2 V2w V3 V4 V7 V9")},
	}
}

// order are the cases about what goes before what (S3-S1 and S3-S2).
func order() cases {
	return cases{
		{Name: "finalizer honoured", Workload: of(busy, heldFor(time.Minute, deletesSync)), Faults: lateNews,
			Property: honoured, Fail: only("V1")},
		{Name: "order among all, namespace deleted", Workload: of(Setting{Chain: 2}, deletesNamespace),
			Property: strongOrder, Fail: except("V3 V6g V10")},
		{Name: "order among all, RepoSync deleted", Workload: of(Setting{Chain: 2}, deletesSync), Faults: lateNews,
			Property: strongOrder},
		{Name: "order among ours, namespace deleted", Workload: chained, Faults: lateNews, Property: weakOrder,
			NotRun: notRun(likeV0, "V4")},
	}
}

// rights are the cases about what outlives what in the system (S3-S3 to S3-S6).
func rights() cases {
	return cases{
		{Name: "rights outlive use", Workload: plain, Property: outlive, Fail: only("V0 V1 V2 V2w V4 V7")},
		{Name: "rights come back", Workload: of(Setting{}, revoked), Property: whole, Fail: only("V5"),
			Notes: because{reposync.V5: "the finalizer keeps the binding that was deleted until the RepoSync goes"}},
		{Name: "no binding is made anew where the namespace goes", Workload: of(bindingFirst, deletesNamespace),
			Property: revived, Fail: only("V0 V1 V2 V2w V4"),
			NotRun: notRun(keeps, "V3 V5 V6n V6g V9")},
		{Name: "no leaks", Workload: plain, Property: noLeaks,
			NotRun: notRun("its RepoSync does not go, so nothing can be left behind it", "V0 V4"),
			Notes:  because{reposync.V9: "the manager takes the subject off the ClusterRoleBinding"}},
		{Name: "finalizer off once", Workload: of(Setting{Held: true}, switched), Faults: lateNews, Property: onceOff},
		{Name: "finalizer off once, orphaned at first", Workload: of(Setting{Orphans: true}, switched),
			Faults: lateNews, Property: onceOff},
		{Name: "finalizer off once, others write", Workload: contested, Faults: conflicts, Property: onceOff,
			NotRun: notRun("only its reconciler takes that finalizer off", "V0 V3 V4 V5 V6n V6g V7 V9",
				"it takes the finalizer off as V2 does, and only asks otherwise when", "V2w")},
		{Name: "in time at the third try", Workload: contested, Faults: conflicts, Property: converges,
			Fail: except("V10")},
		{Name: "nothing in vain", Workload: chained, Faults: lateNews, Property: noFight, NotRun: notRun(likeV0, "V4")},
	}
}

// status are the cases about what one can see (S3-A1 to S3-A3).
func status() cases {
	return cases{
		{Name: "gone is gone", Workload: kept, Faults: slowly, Property: truth, Fail: except("V3 V10"), Notes: because{
			reposync.V6g: "once the last dependent has gone nothing has an order, " +
				"and the rest is left to the namespace controller"}},
		{Name: "actionable", Workload: kept, Faults: slowly, Property: actionable, Fail: except("V3 V6g V10"),
			Notes: because{reposync.V1: atOnce}},
		{Name: "gone is gone, held for ever", Workload: keptOn, Faults: slowly, Property: truth,
			Fail: except("V3 V6g V10")},
		{Name: "actionable, held for ever", Workload: keptOn, Faults: slowly, Property: actionable,
			Fail: except("V3 V6g V10"), Notes: because{reposync.V1: atOnce}},
		{Name: "actionable, reconciler dead", Property: actionable, Fail: except("V10"),
			Notes:    because{reposync.V1: atOnce},
			Workload: of(Setting{Held: true}, heldFor(5*time.Minute, reconcilerDead(deletesSync)))},
		{Name: "inventory to the end", Workload: kept, Faults: slowly, Property: inventoried,
			Fail: except("V3 V6g V10")},
	}
}

// byHand are the cases about what people do by hand to what the operator made, and to what it is to
// do.
func byHand() cases {
	return cases{
		{Name: "namespace finishes, Deployment deleted by hand",
			Workload: of(busy, bereaved(deployment, deletesNamespace)),
			Property: finishes, Fail: except("V1 V2 V2w V10"), NotRun: notRun(regardless, "V1 V2 V2w")},
		{Name: "namespace finishes, ServiceAccount deleted by hand",
			Workload: of(busy, bereaved(identity, deletesNamespace)),
			Property: finishes, Fail: except("V1 V2 V2w V10"), NotRun: notRun(regardless, "V1 V2 V2w")},
		{Name: "RepoSync goes, Deployment deleted by hand", Workload: of(busy, bereaved(deployment, deletesSync)),
			Property: goes, Fail: except("V1 V10"), NotRun: notRun(regardless, "V1")},
		{Name: "RepoSync goes, ServiceAccount deleted by hand", Workload: of(busy, bereaved(identity, deletesSync)),
			Property: goes, Fail: except("V1 V10"), NotRun: notRun(regardless, "V1")},
		{Name: "no leaks, finalizers taken off", Workload: of(Setting{Late: true}, stripped), Faults: failingManager,
			Property: noLeaks, Fail: except("V10")},
		{Name: "what is to stay stays", Workload: of(Setting{}, orphaned), Faults: lateNews, Property: spared,
			NotRun: notRun("what it does otherwise than V0 has nothing to do with the policy",
				"V2 V2w V3 V4 V5 V6n V6g V7 V9")},
		{Name: "order among all, on what nobody manages", Workload: strayed, Property: strongOrder,
			Fail: except("V3 V6g V7 V10")},
		{Name: "namespace finishes, something depends on what nobody manages", Workload: strayed, Property: finishes,
			NotRun: notRun(failsAnyway, "V0 V4",
				"nothing of it guards what nobody manages, see “namespace finishes”", "V1 V2 V2w V5 V6n V7 V9")},
	}
}

// others are the cases about several RepoSyncs, and everything at once.
func others() cases {
	return cases{
		{Name: "siblings", Workload: of(twoSyncs, deletesSync, noLeaks), Faults: lateNews, Property: siblings},
		{Name: "a namesake", Workload: of(Setting{}, again), Faults: lateNews, Property: synced,
			NotRun: notRun("its namespace does not go, so that there can be no namesake", "V0 V4")},
		{Name: "every fault", Workload: everything, Faults: EveryFault, Property: truth,
			NotRun: matrix.OnlyFixed(reposync.Variants(), reposync.V10)},
	}
}

// roots are the cases about a RootSync. One that declares a namespace, the RepoSync in it and the
// RepoSync's rights is the knot of issue 589; one that declares something for namespaces as they
// come and go is that of pull request 1194.
func roots() cases {
	return cases{
		{Name: "RootSync goes", Workload: rooted, Faults: lateNews, Property: rootGoes, Fail: except("V1 V10")},
		{Name: "gone is gone, RootSync", Workload: rooted, Faults: lateNews, Property: truth, Fail: only("V1"),
			NotRun: notRun("the RootSync does not go", "V0 V2 V2w V3 V4 V5 V6n V6g V7 V9")},
		{Name: "RootSync goes, RepoSync depends on its rights",
			Workload: of(Setting{Root: allForShop, Inside: true}, deletesRoot), Faults: lateNews, Property: rootGoes},
		{Name: "a declared namespace comes back", Workload: of(Setting{Root: allForShop}, deletesDeclared),
			Faults:   lateNews,
			Property: renewed, Fail: only("V0 V4 V7")},
		{Name: "nothing in vain, namespaces selected", Faults: lateNews, Property: vain, Fail: except("V3 V10"),
			Workload: of(Setting{Root: oneForEach, Held: true},
				heldFor(3*time.Minute, deletesNamespace)), Notes: because{
				reposync.V3: "its namespace may not be deleted while anything is in it that keeps it, " +
					"and is gone at once"}},
	}
}
