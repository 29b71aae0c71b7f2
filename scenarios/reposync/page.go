// This file holds the predictions and situations of the page.

package reposync

import (
	"github.com/wavetank/wavetank/controllers/reposync"
	"github.com/wavetank/wavetank/scenarios/internal/matrix"
)

const thread = "https://github.com/GoogleContainerTools/kpt-config-sync/pull/1191"

// predictions were made in the thread, or from reading the code, before anything ran. The first is
// more than a matter of order: see TestOrdersOfThePairsThatMatter.
var predictions = []matrix.Prediction[reposync.Variant]{
	{Says: "whether a namespace that is deleted goes depends on the order of its types, and it may never go",
		Case: "namespace finishes", Variant: reposync.V0, Fails: true},
	{Says: "a reconciler that has been deleted, or has no rights, leaves the RepoSync in deletion for ever",
		Case: "RepoSync goes, reconciler dead", Variant: reposync.V0, Fails: true, Link: thread},
	{Says: "with the finalizer taken off, what is managed is not deleted in its order, even if that is asked for",
		Case: "order among all, namespace deleted", Variant: reposync.V2, Fails: true, Link: thread},
	{Says: "a webhook that refuses to delete a namespace with a RepoSync in it would do",
		Case: "namespace finishes", Variant: reposync.V3, Link: thread},
	{Says: "a finalizer on the Namespace would do, if it ran before the namespace controller",
		Case: "namespace finishes, rights inside", Variant: reposync.V7, Link: thread},
	{Says: "where the manager hears of the RoleBinding first it wants to make it anew, is refused and tries again",
		Case: "no binding is made anew where the namespace goes", Variant: reposync.V0, Fails: true},
	{Says: "what was merged reads the namespace from a cache: if that learns of it last, nothing wakes the manager",
		Case: "namespace finishes, its news trail", Variant: reposync.V2, Fails: true},
	{Says: "that is so, too, of the first namespace that the manager asks about",
		Case: "namespace finishes, its news trail, it is the first", Variant: reposync.V2, Fails: true},
	{Says: "reading the namespace live and coming back helps against that",
		Case: "namespace finishes, its news trail", Variant: reposync.V2w, Fails: false},
}

var covered, tested, open = matrix.Covered, matrix.Tested, matrix.Open

// situations are those to be covered beside the variants.
var situations = []matrix.Situation{
	tested("all orders of types, or some of them", "TestEveryOrder", "namespace finishes",
		"order among all, namespace deleted"),
	covered("the user's own RoleBinding among them", "namespace finishes, rights inside"),
	covered("a finalizer on the Namespace that is to run before its content is deleted",
		"namespace finishes, rights inside"),
	covered("a namespace is deleted with a RootSync present", "a declared namespace comes back"),
	covered("the RoleBinding is deleted by hand", "rights come back", "RepoSync goes, rights deleted by hand"),
	covered("the namespace is deleted while the RepoSync is", "namespace finishes, RepoSync deleted before"),
	covered("the reconciler's Deployment is deleted before and after the step with the finalizer",
		"RepoSync goes, Deployment deleted by hand", "namespace finishes, Deployment deleted by hand"),
	covered("its ServiceAccount goes", "RepoSync goes, ServiceAccount deleted by hand",
		"namespace finishes, ServiceAccount deleted by hand"),
	covered("its node is down", "RepoSync goes, reconciler dead", "namespace finishes, reconciler dead"),
	covered("two RepoSyncs share the binding, one is deleted", "siblings"),
	covered("another's finalizer takes no time, a minute, for ever", "every fault", "finalizer honoured",
		"gone is gone, held for ever"),
	covered("A depends on B, and B on C", "order among all, namespace deleted", "order among all, RepoSync deleted"),
	covered("news of the namespace come later than those of the RepoSync", "namespace finishes, its news trail"),
	covered("the manager starts again during the deletion", "namespace finishes, manager dies", "every fault"),
	covered("the manager is away for ten minutes", "namespace finishes, manager away"),
	covered("the webhook is away, under either policy", "namespace finishes, webhook away, Fail",
		"namespace finishes, webhook away, Ignore"),
	covered("something depends on what nobody manages", "order among all, on what nobody manages",
		"namespace finishes, something depends on what nobody manages"),
	covered("the policy is switched during the deletion", "finalizer off once", "finalizer off once, orphaned at first",
		"what is to stay stays"),
	covered("a namespace and a RepoSync of the same name, at once", "a namesake"),
	covered("a RootSync selects namespaces that go", "nothing in vain, namespaces selected"),
	covered("a RootSync manages the namespace that holds the RepoSync", "RootSync goes", "gone is gone, RootSync",
		"RootSync goes, RepoSync depends on its rights"),
	tested("who is refused tries once in each period of back-off, while faults are injected and afterwards",
		"TestRefusals"),
	tested("the third try while programs die, replies are lost and keys are queued again", "TestThirdTryUnderFaults"),
	open("a reconciler is frozen, and a write that was on its way arrives when the manager has taken over",
		"no variant has a fence against that, so the faults of V10 leave out pauses"),
	open("the system namespace is deleted",
		"every program of the operator ends with it; cases above have each of them away for a while"),
	open("who writes the status of a RepoSync is in time at the third try", "the manager and the reconciler report "+
		"in one status, and nothing bounds how often others write it; a status that came too late is written by the "+
		"next pass"),
	open("the order of applying is not that of deleting: a resource needs its definition, which need not wait for "+
		"the resource", "the reconciler deletes by what depends-on says, and no repository here declares a definition"),
	open("the manager is gone for good", "its own finalizer is on every RepoSync, in every variant, so that none goes"),
}
