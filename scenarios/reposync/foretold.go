// This file exists to hold what was foretold of the story against what its cells say, and the
// scenarios that were wanted against the questions that tell them.

package reposync

import (
	"github.com/wavetank/wavetank/controllers/reposync"
	"github.com/wavetank/wavetank/scenarios/internal/matrix"
)

// predictions were made from reading the code, before anything ran.
// The first is more than a matter of order: see TestOrdersOfThePairsThatMatter.
func predictions() []matrix.Prediction[reposync.Variant] {
	return []matrix.Prediction[reposync.Variant]{
		{Says: "whether a namespace that is deleted goes depends on the order of its types, and it may never go", Case: "namespace finishes", Variant: reposync.V0, Fails: true},
		{Says: "where the manager hears of the RoleBinding first it wants to make it anew, is refused, says so and tries again", Case: "no binding is made anew where the namespace goes", Variant: reposync.V0, Fails: true},
		{Says: "what was merged reads the namespace from a cache: where its news come after the RepoSync's, nothing wakes the manager again", Case: "namespace finishes, its news trail", Variant: reposync.V2, Fails: true},
		{Says: "that is so, too, of the first namespace that the manager asks about", Case: "namespace finishes, its news trail, it is the first", Variant: reposync.V2, Fails: true},
		{Says: "reading the namespace live and coming back helps against that", Case: "namespace finishes, its news trail", Variant: reposync.V2w, Fails: false},
	}
}

// wanted are the situations to be covered beside the variants.
func wanted() []matrix.Situation {
	return []matrix.Situation{
		{Text: "all orders of types, or some of them", Cases: []string{"namespace finishes", "order among all, namespace deleted"}, Test: "TestEveryOrder"},
		{Text: "the user's own RoleBinding among them", Cases: []string{"namespace finishes, rights inside"}},
		{Text: "a namespace is deleted with a RootSync present", Cases: []string{"a declared namespace comes back"}},
		{Text: "the RoleBinding is deleted by hand", Cases: []string{"rights come back", "RepoSync goes, rights deleted by hand"}},
		{Text: "the namespace is deleted while the RepoSync is", Cases: []string{"namespace finishes, RepoSync deleted before"}},
		{Text: "the reconciler's Deployment is deleted before and after the step with the finalizer", Cases: []string{
			"RepoSync goes, Deployment deleted by hand", "namespace finishes, Deployment deleted by hand"}},
		{Text: "its ServiceAccount goes", Cases: []string{"RepoSync goes, ServiceAccount deleted by hand", "namespace finishes, ServiceAccount deleted by hand"}},
		{Text: "its node is down", Cases: []string{"RepoSync goes, reconciler dead", "namespace finishes, reconciler dead"}},
		{Text: "two RepoSyncs share the binding, one is deleted", Cases: []string{"siblings"}},
		{Text: "another's finalizer takes no time, a minute, for ever", Cases: []string{"every fault", "finalizer honoured", "gone is gone, held for ever"}},
		{Text: "A depends on B, and B on C", Cases: []string{"order among all, namespace deleted", "order among all, RepoSync deleted"}},
		{Text: "news of the namespace come later than those of the RepoSync", Cases: []string{"namespace finishes, its news trail"}},
		{Text: "the manager starts again amid it all", Cases: []string{"namespace finishes, manager dies", "every fault"}},
		{Text: "the manager is away for ten minutes", Cases: []string{"namespace finishes, manager away"}},
		{Text: "the webhook is away, under either policy", Cases: []string{"namespace finishes, webhook away, Fail", "namespace finishes, webhook away, Ignore"}},
		{Text: "something depends on what nobody manages", Cases: []string{
			"order among all, on what nobody manages", "namespace finishes, something depends on what nobody manages"}},
		{Text: "the policy is switched during the deletion", Cases: []string{
			"finalizer off once", "finalizer off once, orphaned at first", "what is to stay stays"}},
		{Text: "a namespace and a RepoSync of the same name, at once", Cases: []string{"a namesake"}},
		{Text: "a RootSync selects namespaces that go", Cases: []string{"nothing in vain, namespaces selected"}},
		{Text: "a RootSync manages the namespace that holds the RepoSync", Cases: []string{"RootSync goes", "gone is gone, RootSync", "RootSync goes, RepoSync depends on its rights"}},
		{Text: "the system namespace is deleted", Reason: "every program of the operator ends with it, and nobody is left of whom to ask anything; while they " +
			"are away is told above, of each of them"},
		{Text: "a finalizer on the Namespace that is to run before its content is deleted", Cases: []string{"namespace finishes, rights inside"}},
		{Text: "who writes the status of a RepoSync is in time at the third try", Reason: "the manager and the reconciler report in one status, and " +
			"nothing bounds how often others write meanwhile; a status that came too late is written by the next pass"},
		{Text: "the order of applying is not that of deleting: a resource needs its definition, and the definition need not wait for the resource",
			Reason: "the reconciler deletes by what depends-on says, and no repository here declares a definition"},
		{Text: "the manager is gone for good", Reason: "its own finalizer is on every RepoSync, in every variant, so that none goes"},
	}
}
