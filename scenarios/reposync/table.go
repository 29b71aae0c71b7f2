// This file holds the table: which variants fail which cases, under which faults.

package reposync

import (
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wavetank/wavetank/controllers/reposync"
	"github.com/wavetank/wavetank/scenarios/internal/matrix"
)

// Table is the matrix of the scenario. A variant that neither fails nor is omitted must pass.
func Table() matrix.Table[reposync.Variant] {
	return matrix.Table[reposync.Variant]{Variants: reposync.Variants(), Fixed: reposync.V10,
		Cases: matrix.Narrow(cases, reposync.V10c)}
}

// A row of the table, and remarks on it.
var row, note, omit = matrix.NewCase[reposync.Variant], matrix.Note, matrix.Omit

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
)

// backingOff is a remark on cases that last for hours.
var backingOff = omit("all but V0 V10", "it goes on as V0 does where it is refused")

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
	row("namespace finishes", plain, nil, finishes, "V0 V4 V7"),
	row("namespace finishes, its news trail", of(Setting{Another: true}, deletesNamespace), lateNamespaces, finishes,
		"V2 V7", omit("V0 V4", failsAnyway)),
	row("namespace finishes, its news trail, it is the first", of(Setting{}, deletesNamespace), lateNamespaces,
		finishes, "V7", omit("V0 V4", failsAnyway),
		note("V2", "the cache lists all namespaces when the first is read")),
	row("namespace finishes, reconciler dead", of(Setting{}, reconcilerDead(deletesNamespace)), nil, finishes,
		"V0 V3 V4 V5 V6n V6g V7 V9"),
	row("namespace finishes, rights inside", of(Setting{Chain: 1, Inside: true}, deletesNamespace), slowly, finishes,
		"V0 V4 V7"),
	row("namespace finishes, manager away", of(Setting{}, managerDown), nil, finishes, "V7", omit("V0 V4", failsAnyway),
		omit("V3", gaveUp), note("V5",
			"only for as long as it is away; gone for good, its finalizer on the RepoSync stays with every variant")),
	row("namespace finishes, manager dies", of(Setting{}, deletesNamespace), dyingManager, finishes, "V7",
		omit("V0 V4", failsAnyway), omit("V3", gaveUp)),
	row("namespace finishes, reconciler dies", of(Setting{}, deletesNamespace), dyingReconciler, finishes, "",
		omit("all but V1 V10", failsWithout)),
	row("namespace finishes, everything trails", of(Setting{}, deletesNamespace), lateNews, finishes, "",
		omit("all but V1 V10", failsWithout)),
	row("namespace finishes, keys are queued again", of(Setting{}, deletesNamespace), racing, finishes, "",
		omit("all but V1 V10", failsWithout)),
	row("namespace finishes, webhook away, Fail", of(Setting{}, webhookDown), nil, finishes, "",
		omit("V0 V1 V2 V2w V4 V5 V7 V9", noHook)),
	row("namespace finishes, webhook away, Ignore", of(Setting{Ignore: true}, webhookMissing), nil, finishes, "V6n V6g",
		omit("V0 V1 V2 V2w V4 V5 V7 V9", noHook), note("V3", "the namespace may be deleted before the webhook goes")),
	row("namespace finishes, RepoSync deleted before", of(Setting{Held: true}, bothDeleted), nil, finishes, "V0 V4 V7",
		omit("V3", gaveUp), note("V4", "a pass that began before the namespace terminated meets its rights gone, "+
			"and then may not even look again")),
	row("RepoSync goes, reconciler dead", of(Setting{}, reconcilerDead(deletesSync)), nil, goes, "all but V1 V10"),
	row("RepoSync goes, rights deleted by hand", of(Setting{Held: true}, revokedMeanwhile), nil, goes,
		"V0 V2 V2w V3 V4 V7 V9"),
	// What goes before what (S3-S1 and S3-S2).
	row("finalizer honoured", of(busy, heldFor(time.Minute, deletesSync)), lateNews, honoured, "V1"),
	row("order among all, namespace deleted", of(Setting{Chain: 2}, deletesNamespace), nil, strongOrder,
		"all but V3 V6g V10"),
	row("order among all, RepoSync deleted", of(Setting{Chain: 2}, deletesSync), lateNews, strongOrder, ""),
	row("order among ours, namespace deleted", chained, lateNews, weakOrder, "", omit("V4", likeV0)),
	// What outlives what in the system (S3-S3 to S3-S6).
	row("rights outlive use", plain, nil, outlive, "V0 V1 V2 V2w V4 V7"),
	row("rights come back", of(Setting{}, revoked), nil, whole, "V5",
		note("V5", "the finalizer keeps the binding that was deleted until the RepoSync goes")),
	row("no binding is made anew where the namespace goes", of(bindingFirst, deletesNamespace), nil, revived,
		"V0 V1 V2 V2w V4", omit("V3 V5 V6n V6g V9", keeps)),
	row("no leaks", plain, nil, noLeaks, "",
		omit("V0 V4", "its RepoSync does not go, so nothing can be left behind it"),
		note("V9", "the manager takes the subject off the ClusterRoleBinding")),
	row("finalizer off once", of(Setting{Held: true}, switched), lateNews, onceOff, ""),
	row("finalizer off once, orphaned at first", of(Setting{Orphans: true}, switched), lateNews, onceOff, ""),
	row("finalizer off once, others write", contested, conflicts, onceOff, "",
		omit("V0 V3 V4 V5 V6n V6g V7 V9", "only its reconciler takes that finalizer off"),
		omit("V2w", "it takes the finalizer off as V2 does, and only asks otherwise when")),
	row("in time at the third try", contested, conflicts, converges, "all but V10"),
	row("nothing in vain", chained, lateNews, noFight, "", omit("V4", likeV0)),
	// What one can see (S3-A1 to S3-A3).
	row("gone is gone", kept, slowly, truth, "all but V3 V10", note("V6g",
		"once the last dependent has gone nothing has an order, and the rest is left to the namespace controller")),
	row("actionable", kept, slowly, actionable, "all but V3 V6g V10", note("V1", atOnce)),
	row("gone is gone, held for ever", keptOn, slowly, truth, "all but V3 V6g V10"),
	row("actionable, held for ever", keptOn, slowly, actionable, "all but V3 V6g V10", note("V1", atOnce)),
	row("actionable, reconciler dead", of(Setting{Held: true}, heldFor(5*time.Minute, reconcilerDead(deletesSync))),
		nil, actionable, "all but V10", note("V1", atOnce)),
	row("inventory to the end", kept, slowly, inventoried, "all but V3 V6g V10"),
	// What people do by hand to what the operator made, and to what it is to do.
	row("namespace finishes, Deployment deleted by hand", of(busy, bereaved(&appsv1.Deployment{}, deletesNamespace)),
		nil, finishes, "all but V1 V2 V2w V10", omit("V1 V2 V2w", regardless)),
	row("namespace finishes, ServiceAccount deleted by hand",
		of(busy, bereaved(&corev1.ServiceAccount{}, deletesNamespace)), nil, finishes, "all but V1 V2 V2w V10",
		omit("V1 V2 V2w", regardless)),
	row("RepoSync goes, Deployment deleted by hand", of(busy, bereaved(&appsv1.Deployment{}, deletesSync)), nil, goes,
		"all but V1 V10", omit("V1", regardless)),
	row("RepoSync goes, ServiceAccount deleted by hand", of(busy, bereaved(&corev1.ServiceAccount{}, deletesSync)), nil,
		goes, "all but V1 V10", omit("V1", regardless)),
	row("gone is gone, the reconciler starts again at a server that lags",
		of(Setting{Lists: true, Lingers: 10 * time.Second}, restartsWhenDone), lateServer, truth, "V10c",
		omit("all but V10", "its reconciler reads the RepoSync as V10 does")),
	row("no leaks, finalizers taken off", of(Setting{Late: true}, stripped), failingManager, noLeaks, "all but V10"),
	row("what is to stay stays", of(Setting{}, orphaned), lateNews, spared, "",
		omit("V2 V2w V3 V4 V5 V6n V6g V7 V9", "what it does otherwise than V0 has nothing to do with the policy")),
	row("order among all, on what nobody manages", strayed, nil, strongOrder, "all but V3 V6g V7 V10"),
	row("namespace finishes, something depends on what nobody manages", strayed, nil, finishes, "",
		omit("V0 V4", failsAnyway),
		omit("V1 V2 V2w V5 V6n V7 V9", "nothing of it guards what nobody manages, see “namespace finishes”")),
	// Several RepoSyncs, and everything at once.
	row("siblings", of(twoSyncs, deletesSync, noLeaks), lateNews, siblings, ""),
	row("a namesake", of(Setting{}, again), lateNews, synced, "",
		omit("V0 V4", "its namespace does not go, so that there can be no namesake")),
	row("refusals settle, the binding goes first", bindingGone, interrupted, settles, "V0", backingOff),
	row("refusals settle, a managed object goes first", managedGone, interruptedThere, settles, "", backingOff),
	row("every fault", everything, everyFault, truth, "", matrix.OnlyFixed(reposync.V10)),
	// A RootSync. One that declares a namespace, the RepoSync in it and its rights is the knot of
	// issue 589; one that declares something for namespaces as they come and go is that of pull
	// request 1194.
	row("RootSync goes", rooted, lateNews, rootGoes, "all but V1 V10"),
	row("gone is gone, RootSync", rooted, lateNews, truth, "V1",
		omit("V0 V2 V2w V3 V4 V5 V6n V6g V7 V9", "the RootSync does not go")),
	row("RootSync goes, RepoSync depends on its rights", of(Setting{Root: allForShop, Inside: true}, deletesRoot),
		lateNews, rootGoes, ""),
	row("a declared namespace comes back", of(Setting{Root: allForShop}, deletesDeclared), lateNews, renewed,
		"V0 V4 V7"),
	row("nothing in vain, namespaces selected",
		of(Setting{Root: oneForEach, Held: true}, heldFor(3*time.Minute, deletesNamespace)), lateNews, vain,
		"all but V3 V10",
		note("V3", "its namespace may not be deleted while anything is in it that keeps it, and is gone at once")),
}
