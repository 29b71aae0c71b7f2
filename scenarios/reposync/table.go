// This file holds the table: which variants fail which cases, under which faults.

package reposync

import (
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wavetank/wavetank/controllers/reposync"
	"github.com/wavetank/wavetank/scenarios/internal/matrix"
	"github.com/wavetank/wavetank/sim/fault"
)

// Table is the matrix of the scenario. A variant that neither fails nor is omitted must pass.
func Table() matrix.Table[reposync.Variant] {
	return matrix.Table[reposync.Variant]{Variants: reposync.Variants(), Fixed: reposync.V10,
		Cases: matrix.Narrow(cases, reposync.V10c, reposync.V10d, reposync.V10f)}
}

type remarks = []matrix.Remark

var note, omit = matrix.Note, matrix.Omit

// Reasons of several cases.
const (
	failsAnyway  = "it fails without that, see “namespace finishes”"
	failsWithout = "what it does without these faults is in “namespace finishes”"

	noHook     = "it has no webhook"
	gaveUp     = "the user whom its webhook refuses gives up after a minute, and it is later that the namespace may go"
	keeps      = "its binding does not go before the RepoSync, see “rights outlive use”"
	likeV0     = "it is stuck where V0 is, which is run"
	regardless = "it takes the finalizer off whatever has become of the reconciler, " +
		"see the cases in which that is dead"
	atOnce = "the RepoSync goes at once" // why it passes

	noNews  = "its manager does not read namespaces from a cache, so no news of them can be late"
	refuses = "its webhook refuses the deletion of the namespace, whose end therefore cannot be slow"
)

// backingOff is a remark on cases that last for hours.
var backingOff = omit("all but V0 V10", "it continues as V0 does where it is refused")

// Settings and workloads of several cases. The passing cells of a workload share their runs.
var (
	busy         = Setting{Chain: 1, Held: true} // the reconciler is at work for a while
	twoSyncs     = Setting{Syncs: []types.NamespacedName{shop, other}}
	bindingFirst = Setting{Order: []string{"rolebindings.rbac.authorization.k8s.io", "reposyncs.configsync.gke.io"},
		Pace: 5 * time.Second}

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

var cases = []matrix.Case[reposync.Variant]{
	// Whether what is deleted goes (S3-L1 and S3-L2).
	{Name: "namespace finishes", Workload: plain, Property: finishes, Fail: "V0 V4 V7"},
	{Name: "namespace finishes, the cache of the manager lags", Workload: of(Setting{Another: true}, deletesNamespace),
		Faults: lateNamespaces, Property: finishes, Fail: "V2 V7",
		Remarks: remarks{omit("V0 V4", failsAnyway), note("V1 V2w V3 V5 V6n V6g V9 V10", noNews)}},
	{Name: "namespace finishes, the cache of the manager lags, first namespace",
		Workload: of(Setting{}, deletesNamespace), Faults: lateNamespaces, Property: finishes, Fail: "V7",
		Remarks: remarks{omit("V0 V4", failsAnyway), note("V1 V2w V3 V5 V6n V6g V9 V10", noNews),
			note("V2", "the cache lists all namespaces when the first is read")}},
	{Name: "namespace finishes, reconciler dead", Workload: of(Setting{}, reconcilerDead(deletesNamespace)),
		Property: finishes, Fail: "V0 V3 V4 V5 V6n V6g V7 V9"},
	{Name: "namespace finishes, rights inside", Workload: of(Setting{Chain: 1, Inside: true}, deletesNamespace),
		Faults: slowly, Property: finishes, Fail: "V0 V4 V7"},
	{Name: "namespace finishes, manager away", Workload: of(Setting{}, managerDown), Property: finishes, Fail: "V7",
		Remarks: remarks{omit("V0 V4", failsAnyway), omit("V3", gaveUp),
			note("V5", "only for as long as it is away; gone for good, its finalizer on the RepoSync stays with every "+
				"variant")}},
	{Name: "namespace finishes, manager dies", Workload: of(Setting{}, deletesNamespace), Faults: dyingManager,
		Property: finishes, Fail: "V7", Remarks: remarks{omit("V0 V4", failsAnyway), omit("V3", gaveUp)}},
	{Name: "namespace finishes, reconciler dies", Workload: of(Setting{}, deletesNamespace), Faults: dyingReconciler,
		Property: finishes, Remarks: remarks{omit("all but V1 V10", failsWithout)}},
	{Name: "namespace finishes, all caches lag", Workload: of(Setting{}, deletesNamespace), Faults: lateNews,
		Property: finishes, Remarks: remarks{omit("all but V1 V10", failsWithout)}},
	{Name: "namespace finishes, keys are queued again", Workload: of(Setting{}, deletesNamespace), Faults: racing,
		Property: finishes, Remarks: remarks{omit("all but V1 V10", failsWithout)}},
	{Name: "namespace finishes, webhook away, Fail", Workload: of(Setting{}, webhookDown), Property: finishes,
		Remarks: remarks{omit("V0 V1 V2 V2w V4 V5 V7 V9", noHook)}},
	{Name: "namespace finishes, webhook away, Ignore", Workload: of(Setting{Ignore: true}, webhookMissing),
		Property: finishes, Fail: "V6n V6g", Remarks: remarks{omit("V0 V1 V2 V2w V4 V5 V7 V9", noHook),
			note("V3", "the namespace may be deleted before the webhook goes")}},
	{Name: "namespace finishes, RepoSync deleted before", Workload: of(Setting{Held: true}, bothDeleted),
		Property: finishes, Fail: "V0 V4 V7", Remarks: remarks{omit("V3", gaveUp),
			note("V4", "a pass that began before the namespace terminated meets its rights gone, and then may not "+
				"even look again")}},
	{Name: "RepoSync goes, reconciler dead", Workload: of(Setting{}, reconcilerDead(deletesSync)), Property: goes,
		Fail: "all but V1 V10"},
	{Name: "RepoSync goes, rights deleted by hand", Workload: of(Setting{Held: true}, revokedMeanwhile),
		Property: goes, Fail: "V0 V2 V2w V3 V4 V7 V9"},
	{Name: "RepoSync goes, V2 is replaced meanwhile", Workload: of(Setting{Before: reposync.V2}, replacedMeanwhile),
		Property: goes, Fail: "V2", Remarks: remarks{omit("all but V2 V10", "see “RepoSync goes, reconciler dead”")}},
	// What goes before what (S3-S1 and S3-S2).
	{Name: "finalizer honoured", Workload: of(busy, heldFor(time.Minute, deletesSync)), Faults: lateNews,
		Property: honoured, Fail: "V1"},
	{Name: "order among all, namespace deleted", Workload: of(Setting{Chain: 2}, deletesNamespace),
		Property: strongOrder, Fail: "all but V3 V6g V10"},
	{Name: "order by a finalizer of a user", Workload: of(Setting{Declare: finalized}, deletesInUsersOrder),
		Faults: lateNews, Property: usersOrder, Fail: "V10f",
		Remarks: remarks{omit("all but V2 V10", "what it does otherwise has nothing to do with that finalizer")}},
	{Name: "order among all, RepoSync deleted", Workload: of(Setting{Chain: 2}, deletesSync), Faults: lateNews,
		Property: strongOrder},
	{Name: "order among ours, namespace deleted", Workload: chained, Faults: lateNews, Property: weakOrder,
		Remarks: remarks{omit("V4", likeV0)}},
	// What outlives what in the system (S3-S3 to S3-S6).
	{Name: "rights outlive use", Workload: plain, Property: outlive, Fail: "V0 V1 V2 V2w V4 V7"},
	{Name: "rights come back", Workload: of(Setting{}, revoked), Property: whole, Fail: "V5",
		Remarks: remarks{note("V5", "the finalizer keeps the binding that was deleted until the RepoSync goes")}},
	{Name: "no binding is created in a terminating namespace", Workload: of(bindingFirst, deletesNamespace),
		Property: revived, Fail: "V0 V1 V2 V2w V4", Remarks: remarks{omit("V3 V5 V6n V6g V9", keeps)}},
	{Name: "no leaks", Workload: plain, Property: noLeaks,
		Remarks: remarks{omit("V0 V4", "its RepoSync does not go, so nothing can be left behind it"),
			note("V9", "the manager takes the subject off the ClusterRoleBinding")}},
	{Name: "finalizer off once", Workload: of(Setting{Held: true}, switched), Faults: lateNews, Property: onceOff},
	{Name: "finalizer off once, orphaned at first", Workload: of(Setting{Orphans: true}, switched), Faults: lateNews,
		Property: onceOff},
	{Name: "finalizer off once, others write", Workload: contested, Faults: conflicts, Property: onceOff,
		Remarks: remarks{omit("V0 V3 V4 V5 V6n V6g V7 V9", "only its reconciler takes that finalizer off"),
			omit("V2w", "it takes the finalizer off as V2 does, and only asks otherwise when")}},
	{Name: "in time at the third try", Workload: contested, Faults: conflicts, Property: converges,
		Fail: "all but V10"},
	{Name: "no creation bound to be refused", Workload: chained, Faults: lateNews, Property: noFight,
		Remarks: remarks{omit("V4", likeV0)}},
	// What one can see (S3-A1 to S3-A3).
	{Name: "gone is gone", Workload: kept, Faults: slowly, Property: truth, Fail: "all but V3 V10",
		Remarks: remarks{note("V6g", "once the last dependent has gone nothing has an order, and the rest is left "+
			"to the namespace controller")}},
	{Name: "actionable", Workload: kept, Faults: slowly, Property: actionable, Fail: "all but V3 V6g V10",
		Remarks: remarks{note("V1", atOnce)}},
	{Name: "gone is gone, held forever", Workload: keptOn, Faults: slowly, Property: truth,
		Fail: "all but V3 V6g V10", Remarks: remarks{note("V3", refuses)}},
	{Name: "actionable, held forever", Workload: keptOn, Faults: slowly, Property: actionable,
		Fail: "all but V3 V6g V10", Remarks: remarks{note("V1", atOnce), note("V3", refuses)}},
	{Name: "actionable, reconciler dead",
		Workload: of(Setting{Held: true}, heldFor(5*time.Minute, reconcilerDead(deletesSync))), Property: actionable,
		Fail: "all but V10", Remarks: remarks{note("V1", atOnce)}},
	{Name: "inventory to the end", Workload: kept, Faults: slowly, Property: inventoried, Fail: "all but V3 V6g V10"},
	// What people do by hand to what the operator made, and to what it is to do.
	{Name: "namespace finishes, Deployment deleted by hand",
		Workload: of(busy, bereaved(&appsv1.Deployment{}, deletesNamespace)), Property: finishes,
		Fail: "all but V1 V2 V2w V10", Remarks: remarks{omit("V1 V2 V2w", regardless)}},
	{Name: "namespace finishes, ServiceAccount deleted by hand",
		Workload: of(busy, bereaved(&corev1.ServiceAccount{}, deletesNamespace)), Property: finishes,
		Fail: "all but V1 V2 V2w V10", Remarks: remarks{omit("V1 V2 V2w", regardless)}},
	{Name: "RepoSync goes, Deployment deleted by hand",
		Workload: of(busy, bereaved(&appsv1.Deployment{}, deletesSync)), Property: goes, Fail: "all but V1 V10",
		Remarks: remarks{omit("V1", regardless)}},
	{Name: "RepoSync goes, ServiceAccount deleted by hand",
		Workload: of(busy, bereaved(&corev1.ServiceAccount{}, deletesSync)), Property: goes, Fail: "all but V1 V10",
		Remarks: remarks{omit("V1", regardless)}},
	{Name: "gone is gone, the reconciler starts again at a server that lags",
		Workload: of(Setting{Lists: true, Lingers: 10 * time.Second}, restartsWhenDone), Faults: lateServer,
		Property: truth, Fail: "V10c",
		Remarks: remarks{omit("all but V10", "its reconciler reads the RepoSync as V10 does")}},
	{Name: "no leaks, finalizers taken off", Workload: of(Setting{Late: true}, stripped), Faults: failingManager,
		Property: noLeaks, Fail: "all but V10"},
	{Name: "what is to stay stays", Workload: of(Setting{}, orphaned), Faults: lateNews, Property: spared,
		Remarks: remarks{omit("V2 V2w V3 V4 V5 V6n V6g V7 V9", "what it does otherwise than V0 has nothing to do "+
			"with the policy")}},
	{Name: "order among all, on an unmanaged object", Workload: strayed, Property: strongOrder,
		Fail: "all but V3 V6g V7 V10"},
	{Name: "namespace finishes, something depends on an unmanaged object", Workload: strayed, Property: finishes,
		Remarks: remarks{omit("V0 V4", failsAnyway),
			omit("V1 V2 V2w V5 V6n V7 V9", "it does not guard what no RepoSync manages, see “namespace finishes”")}},
	// Several RepoSyncs, and everything at once.
	{Name: "siblings", Workload: of(twoSyncs, deletesSync, noLeaks), Faults: lateNews, Property: siblings},
	{Name: "a namesake", Workload: of(Setting{}, again), Faults: lateNews, Property: synced,
		Remarks: remarks{omit("V0 V4", "its namespace does not go, so that there can be no namesake")}},
	{Name: "refusals settle, the binding goes first", Workload: bindingGone, Faults: interrupted, Property: settles,
		Fail: "V0", Remarks: remarks{backingOff}},
	{Name: "refusals settle, a managed object goes first", Workload: managedGone, Faults: interruptedThere,
		Property: settles, Remarks: remarks{backingOff}},
	{Name: "every fault", Workload: everything, Faults: everyFault, Property: truth,
		Remarks: remarks{matrix.OnlyFixed(reposync.V10)}},
	// A RootSync. One that declares a namespace, the RepoSync in it and its rights is the deadlock
	// of issue 589; one that declares something for changing namespaces is pull request 1194.
	{Name: "RootSync goes", Workload: rooted, Faults: lateNews, Property: rootGoes, Fail: "all but V1 V10"},
	{Name: "gone is gone, RootSync", Workload: rooted, Faults: lateNews, Property: truth, Fail: "V1",
		Remarks: remarks{omit("V0 V2 V2w V3 V4 V5 V6n V6g V7 V9", "the RootSync does not go")}},
	{Name: "no leaks, RootSync", Workload: rooted, Faults: lateNews, Property: noLeaks, Fail: "V1",
		Remarks: remarks{omit("V0 V2 V2w V3 V4 V5 V6n V6g V7 V9", "the RootSync does not go")}},
	{Name: "a definition does not wait for its resources",
		Workload: of(Setting{Root: oneDefinition}, deletesDefinition), Faults: lateNews, Property: prompt, Fail: "V10d",
		Remarks: remarks{omit("all but V0 V10", "it deletes in the same order as V0")}},
	{Name: "RootSync goes, RepoSync depends on its rights",
		Workload: of(Setting{Root: allForShop, Inside: true}, deletesRoot), Faults: lateNews, Property: rootGoes},
	{Name: "a declared namespace comes back", Workload: of(Setting{Root: allForShop}, deletesDeclared),
		Faults: lateNews, Property: renewed, Fail: "V0 V4 V7"},
	{Name: "no creation bound to be refused, namespaces selected",
		Workload: of(Setting{Root: oneForEach, Held: true}, heldFor(3*time.Minute, deletesNamespace)),
		Faults:   lateNews, Property: vain, Fail: "all but V3 V10",
		Remarks: remarks{note("V3", "its namespace may not be deleted while anything is in it that keeps it, and "+
			"is gone at once")}},
}

// everyFault is all faults of the operator's programs in their cluster, except a pause: a write
// that was on its way when the reconciler's node was given up may still arrive, and no variant has
// a fence against that.
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
