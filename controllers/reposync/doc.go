// Package reposync is an operator that keeps objects of a namespace as a repository declares them.
// For each RepoSync the reconciler-manager, [Manager], makes a reconciler: a Deployment with a
// ServiceAccount, which has its rights by a RoleBinding in the namespace of the RepoSync. The
// [Reconciler] applies what is declared and keeps an inventory of it in a ResourceGroup. If the
// RepoSync has the foreground deletion policy, it deletes all of it before the RepoSync goes. A
// RootSync does the same for the whole cluster: it is in the system namespace, another [Manager]
// makes its reconciler, which is cluster-admin.
//
// It restates, in its own words, the part of kpt-config-sync that pull request 1191 is about: which
// program may remove the reconciler's finalizer when a whole namespace, and the reconciler's rights
// with it, is being deleted. What a variant adds or leaves out is a line in variants.go. The fixed
// one, V10, is the zero value of [Variant]. Some variants have a webhook, [Guard].
//
// Not implemented: sources other than what the caller's Source returns, pruning, the watches of the
// remediator (it reads once a period instead), Helm and OCI, overrides.
package reposync
