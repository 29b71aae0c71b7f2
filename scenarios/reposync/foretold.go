// This file exists to hold what was foretold of the story against what its cells say, and the
// scenarios that were wanted against the questions that tell them.

package reposync

import (
	"github.com/wavetank/wavetank/controllers/reposync"
	"github.com/wavetank/wavetank/scenarios/internal/verdicts"
)

// predictions are what the dossier derived from reading the code, without having seen it happen.
// The first is more than a matter of order: see TestOrdersOfThePairsThatMatter.
func predictions() []verdicts.Prediction[reposync.Variant] {
	return []verdicts.Prediction[reposync.Variant]{
		{Says: "whether a namespace that is deleted goes depends on the order of its types, and it may never go", Column: "namespace finishes", Variant: reposync.V0, Falls: true},
		{Says: "where the manager hears of the RoleBinding first it wants to make it anew, is refused, says so and tries again", Column: "no binding is made anew where the namespace goes", Variant: reposync.V0, Falls: true},
		{Says: "what was merged reads the namespace from a cache: where its news come after the RepoSync's, nothing wakes the manager again", Column: "namespace finishes, its news trail", Variant: reposync.V2, Falls: true},
		{Says: "that is so, too, of the first namespace that the manager asks about", Column: "namespace finishes, its news trail, it is the first", Variant: reposync.V2, Falls: true},
		{Says: "reading the namespace live and coming back helps against that", Column: "namespace finishes, its news trail", Variant: reposync.V2w, Falls: false},
	}
}

// wanted are the scenarios that the dossier lists beyond its table.
func wanted() []verdicts.Wanted {
	return []verdicts.Wanted{
		{Scenario: "all orders of types, or some of them", Columns: []string{"namespace finishes", "order among all, namespace deleted"}, Test: "TestEveryOrder"},
		{Scenario: "the user's own RoleBinding among them", Columns: []string{"namespace finishes, rights inside"}},
		{Scenario: "a namespace is deleted with a RootSync present", Columns: []string{"a declared namespace comes back"}},
		{Scenario: "the RoleBinding is deleted by hand", Columns: []string{"rights come back", "RepoSync goes, rights deleted by hand"}},
		{Scenario: "the namespace is deleted while the RepoSync is", Columns: []string{"namespace finishes, RepoSync deleted before"}},
		{Scenario: "the reconciler's Deployment is deleted before and after the step with the finalizer", Columns: []string{
			"RepoSync goes, Deployment deleted by hand", "namespace finishes, Deployment deleted by hand"}},
		{Scenario: "its ServiceAccount goes", Columns: []string{"RepoSync goes, ServiceAccount deleted by hand", "namespace finishes, ServiceAccount deleted by hand"}},
		{Scenario: "its node is down", Columns: []string{"RepoSync goes, reconciler dead", "namespace finishes, reconciler dead"}},
		{Scenario: "two RepoSyncs share the binding, one is deleted", Columns: []string{"siblings"}},
		{Scenario: "another's finalizer takes no time, a minute, for ever", Columns: []string{"every fault", "finalizer honoured", "gone is gone, held for ever"}},
		{Scenario: "A depends on B, and B on C", Columns: []string{"order among all, namespace deleted", "order among all, RepoSync deleted"}},
		{Scenario: "news of the namespace come later than those of the RepoSync", Columns: []string{"namespace finishes, its news trail"}},
		{Scenario: "the manager starts again amid it all", Columns: []string{"namespace finishes, manager dies", "every fault"}},
		{Scenario: "the manager is away for ten minutes", Columns: []string{"namespace finishes, manager away"}},
		{Scenario: "the webhook is away, under either policy", Columns: []string{"namespace finishes, webhook away, Fail", "namespace finishes, webhook away, Ignore"}},
		{Scenario: "something depends on what nobody manages", Columns: []string{
			"order among all, on what nobody manages", "namespace finishes, something depends on what nobody manages"}},
		{Scenario: "the policy is switched during the deletion", Columns: []string{
			"finalizer off once", "finalizer off once, orphaned at first", "what is to stay stays"}},
		{Scenario: "a namespace and a RepoSync of the same name, at once", Columns: []string{"a namesake"}},
		{Scenario: "a RootSync selects namespaces that go", Columns: []string{"nothing in vain, namespaces selected"}},
		{Scenario: "a RootSync manages the namespace that holds the RepoSync", Columns: []string{"RootSync goes", "gone is gone, RootSync", "RootSync goes, RepoSync depends on its rights"}},
		{Scenario: "the system namespace is deleted", Unless: "every program of the operator ends with it, and nobody is left of whom to ask anything; while they " +
			"are away is told above, of each of them"},
		{Scenario: "the manager is gone for good", Unless: "its own finalizer is on every RepoSync, in every variant, so that none goes"},
	}
}
