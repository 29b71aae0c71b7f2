// Package reposync is an operator that keeps objects of a namespace as a repository declares them.
// For each RepoSync the reconciler-manager, [Manager], makes a reconciler: a Deployment with a
// ServiceAccount, whose rights come by a RoleBinding in the namespace of the RepoSync. The
// [Reconciler] applies what is declared, keeps an inventory of it in a ResourceGroup, and, if the
// RepoSync asks for that by its deletion propagation policy, deletes it all before the RepoSync
// goes. A RootSync does the same for the whole cluster: it is in the system namespace,
// another [Manager] makes its reconciler, and that is cluster-admin.
//
// It restates, in its own words, the part of kpt-config-sync that pull request 1191 is about: who
// may take the reconciler's finalizer off when a whole namespace is being deleted, and the
// reconciler's rights with it. What a variant adds or leaves out is a line in variants.go. The
// fixed one, V10, is the zero value of [Variant].
//
// It is ordinary controller-runtime programs: the manager, a reconciler for each sync, and for some
// variants a webhook, [Guard]. Nothing in them knows that they are simulated.
//
// What it does not do: sources other than what the caller's Source returns, pruning of what is no
// longer declared, the watches of the remediator (it looks once a period instead), Helm and OCI,
// overrides.
package reposync
