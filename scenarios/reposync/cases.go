// This file holds the table: which variants fail which cases, under which faults.

package reposync

import (
	"maps"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wavetank/wavetank/controllers/reposync"
	"github.com/wavetank/wavetank/scenarios/internal/matrix"
	"github.com/wavetank/wavetank/sim/fault"
)

// Table is the matrix of the scenario. A variant that is in neither Fail nor NotRun must pass.
func Table() matrix.Table[reposync.Variant] {
	return matrix.Table[reposync.Variant]{Variants: reposync.Variants(), Fixed: reposync.V10, Cases: cases,
		Predictions: predictions, Situations: situations}
}

// check is a case: the property, what happens, under which faults, and which variants fail.
func check(name, property string, happens workload, faults func() []fault.Fault, fail []reposync.Variant,
	remarks ...func(*Case)) Case {
	c := Case{Name: name, Property: property, Workload: happens, Faults: faults, Fail: fail,
		NotRun: map[reposync.Variant]string{}, Notes: map[reposync.Variant]string{}}
	for _, remark := range remarks {
		remark(&c)
	}
	return c
}

// Case is one case for all variants.
type Case = matrix.Case[reposync.Variant]

// only are the variants of these names, and except all others.
func only(names string) []reposync.Variant { return matrix.Names[reposync.Variant](names) }

func except(names string) []reposync.Variant { return matrix.Except(reposync.Variants(), names) }

// notRun says why variants are not run.
func notRun(names, reason string) func(*Case) {
	return func(c *Case) { maps.Copy(c.NotRun, matrix.Because(reason, only(names)...)) }
}

// note says why a variant passes or fails, where its code does not show it.
func note(name, reason string) func(*Case) {
	return func(c *Case) { c.Notes[reposync.Variant(name)] = reason }
}

func onlyFixed(c *Case) { c.NotRun = matrix.OnlyFixed(reposync.Variants(), reposync.V10) }

// Reasons of several cases.
const (
	failsAnyway = "it fails without that, see “namespace finishes”"
	noHook      = "it has no webhook"
	gaveUp      = "the user whom its webhook refuses gives up after a minute, and it is later that the namespace may go"
	keeps       = "its binding does not go before the RepoSync, see “rights outlive use”"
	likeV0      = "it is stuck where V0 is, which is run"
	regardless  = "it takes the finalizer off whatever has become of the reconciler, " +
		"see the cases in which that is dead"
	atOnce = "the RepoSync goes at once" // why it passes
)

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

var cases = []Case{
	// Whether what is deleted goes (S3-L1 and S3-L2).
	check("namespace finishes", finishes, plain, nil, only("V0 V4 V7")),
	check("namespace finishes, its news trail", finishes, of(Setting{Another: true}, deletesNamespace), lateNamespaces,
		only("V2 V7"), notRun("V0 V4", failsAnyway)),
	check("namespace finishes, its news trail, it is the first", finishes, of(Setting{}, deletesNamespace),
		lateNamespaces, only("V7"), notRun("V0 V4", failsAnyway),
		note("V2", "the cache lists all namespaces when the first is read")),
	check("namespace finishes, reconciler dead", finishes, of(Setting{}, reconcilerDead(deletesNamespace)), nil,
		only("V0 V3 V4 V5 V6n V6g V7 V9")),
	check("namespace finishes, rights inside", finishes, of(Setting{Chain: 1, Inside: true}, deletesNamespace), slowly,
		only("V0 V4 V7")),
	check("namespace finishes, manager away", finishes, of(Setting{}, managerDown), nil, only("V7"),
		notRun("V0 V4", failsAnyway), notRun("V3", gaveUp),
		note("V5", "only for as long as it is away; gone for good, "+
			"its finalizer on the RepoSync stays with every variant")),
	check("namespace finishes, manager dies", finishes, of(Setting{}, deletesNamespace), dyingManager, only("V7"),
		notRun("V0 V4", failsAnyway), notRun("V3", gaveUp)),
	check("namespace finishes, webhook away, Fail", finishes, of(Setting{}, webhookDown), nil, nil,
		notRun("V0 V1 V2 V2w V4 V5 V7 V9", noHook)),
	check("namespace finishes, webhook away, Ignore", finishes, of(Setting{Ignore: true}, webhookMissing), nil,
		only("V6n V6g"), notRun("V0 V1 V2 V2w V4 V5 V7 V9", noHook),
		note("V3", "the namespace may be deleted before the webhook goes")),
	check("namespace finishes, RepoSync deleted before", finishes, of(Setting{Held: true}, bothDeleted), nil,
		only("V0 V4 V7"), notRun("V3", gaveUp),
		note("V4", "a pass that began before the namespace terminated meets its rights gone, "+
			"and then may not even look again")),
	check("RepoSync goes, reconciler dead", goes, of(Setting{}, reconcilerDead(deletesSync)), nil, except("V1 V10")),
	check("RepoSync goes, rights deleted by hand", goes, of(Setting{Held: true}, revokedMeanwhile), nil,
		only("V0 V2 V2w V3 V4 V7 V9")),
	// What goes before what (S3-S1 and S3-S2).
	check("finalizer honoured", honoured, of(busy, heldFor(time.Minute, deletesSync)), lateNews, only("V1")),
	check("order among all, namespace deleted", strongOrder, of(Setting{Chain: 2}, deletesNamespace), nil,
		except("V3 V6g V10")),
	check("order among all, RepoSync deleted", strongOrder, of(Setting{Chain: 2}, deletesSync), lateNews, nil),
	check("order among ours, namespace deleted", weakOrder, chained, lateNews, nil, notRun("V4", likeV0)),
	// What outlives what in the system (S3-S3 to S3-S6).
	check("rights outlive use", outlive, plain, nil, only("V0 V1 V2 V2w V4 V7")),
	check("rights come back", whole, of(Setting{}, revoked), nil, only("V5"),
		note("V5", "the finalizer keeps the binding that was deleted until the RepoSync goes")),
	check("no binding is made anew where the namespace goes", revived, of(bindingFirst, deletesNamespace), nil,
		only("V0 V1 V2 V2w V4"), notRun("V3 V5 V6n V6g V9", keeps)),
	check("no leaks", noLeaks, plain, nil, nil,
		notRun("V0 V4", "its RepoSync does not go, so nothing can be left behind it"),
		note("V9", "the manager takes the subject off the ClusterRoleBinding")),
	check("finalizer off once", onceOff, of(Setting{Held: true}, switched), lateNews, nil),
	check("finalizer off once, orphaned at first", onceOff, of(Setting{Orphans: true}, switched), lateNews, nil),
	check("finalizer off once, others write", onceOff, contested, conflicts, nil,
		notRun("V0 V3 V4 V5 V6n V6g V7 V9", "only its reconciler takes that finalizer off"),
		notRun("V2w", "it takes the finalizer off as V2 does, and only asks otherwise when")),
	check("in time at the third try", converges, contested, conflicts, except("V10")),
	check("nothing in vain", noFight, chained, lateNews, nil, notRun("V4", likeV0)),
	// What one can see (S3-A1 to S3-A3).
	check("gone is gone", truth, kept, slowly, except("V3 V10"),
		note("V6g", "once the last dependent has gone nothing has an order, "+
			"and the rest is left to the namespace controller")),
	check("actionable", actionable, kept, slowly, except("V3 V6g V10"), note("V1", atOnce)),
	check("gone is gone, held for ever", truth, keptOn, slowly, except("V3 V6g V10")),
	check("actionable, held for ever", actionable, keptOn, slowly, except("V3 V6g V10"), note("V1", atOnce)),
	check("actionable, reconciler dead", actionable,
		of(Setting{Held: true}, heldFor(5*time.Minute, reconcilerDead(deletesSync))), nil, except("V10"),
		note("V1", atOnce)),
	check("inventory to the end", inventoried, kept, slowly, except("V3 V6g V10")),
	// What people do by hand to what the operator made, and to what it is to do.
	check("namespace finishes, Deployment deleted by hand", finishes,
		of(busy, bereaved(&appsv1.Deployment{}, deletesNamespace)), nil, except("V1 V2 V2w V10"),
		notRun("V1 V2 V2w", regardless)),
	check("namespace finishes, ServiceAccount deleted by hand", finishes,
		of(busy, bereaved(&corev1.ServiceAccount{}, deletesNamespace)), nil, except("V1 V2 V2w V10"),
		notRun("V1 V2 V2w", regardless)),
	check("RepoSync goes, Deployment deleted by hand", goes, of(busy, bereaved(&appsv1.Deployment{}, deletesSync)), nil,
		except("V1 V10"), notRun("V1", regardless)),
	check("RepoSync goes, ServiceAccount deleted by hand", goes,
		of(busy, bereaved(&corev1.ServiceAccount{}, deletesSync)), nil, except("V1 V10"), notRun("V1", regardless)),
	check("no leaks, finalizers taken off", noLeaks, of(Setting{Late: true}, stripped), failingManager, except("V10")),
	check("what is to stay stays", spared, of(Setting{}, orphaned), lateNews, nil,
		notRun("V2 V2w V3 V4 V5 V6n V6g V7 V9", "what it does otherwise than V0 has nothing to do with the policy")),
	check("order among all, on what nobody manages", strongOrder, strayed, nil, except("V3 V6g V7 V10")),
	check("namespace finishes, something depends on what nobody manages", finishes, strayed, nil, nil,
		notRun("V0 V4", failsAnyway),
		notRun("V1 V2 V2w V5 V6n V7 V9", "nothing of it guards what nobody manages, see “namespace finishes”")),
	// Several RepoSyncs, and everything at once.
	check("siblings", siblings, of(twoSyncs, deletesSync, noLeaks), lateNews, nil),
	check("a namesake", synced, of(Setting{}, again), lateNews, nil,
		notRun("V0 V4", "its namespace does not go, so that there can be no namesake")),
	check("every fault", truth, everything, everyFault, nil, onlyFixed),
	// A RootSync. One that declares a namespace, the RepoSync in it and its rights is the knot of
	// issue 589; one that declares something for namespaces as they come and go is that of pull
	// request 1194.
	check("RootSync goes", rootGoes, rooted, lateNews, except("V1 V10")),
	check("gone is gone, RootSync", truth, rooted, lateNews, only("V1"),
		notRun("V0 V2 V2w V3 V4 V5 V6n V6g V7 V9", "the RootSync does not go")),
	check("RootSync goes, RepoSync depends on its rights", rootGoes,
		of(Setting{Root: allForShop, Inside: true}, deletesRoot), lateNews, nil),
	check("a declared namespace comes back", renewed, of(Setting{Root: allForShop}, deletesDeclared), lateNews,
		only("V0 V4 V7")),
	check("nothing in vain, namespaces selected", vain,
		of(Setting{Root: oneForEach, Held: true}, heldFor(3*time.Minute, deletesNamespace)), lateNews, except("V3 V10"),
		note("V3", "its namespace may not be deleted while anything is in it that keeps it, and is gone at once")),
}
