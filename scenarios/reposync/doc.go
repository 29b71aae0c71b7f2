// Package reposync is the reference scenario of a reconciler that loses its rights: what becomes of
// a RepoSync, of what it manages and of its namespace when the namespace is deleted, with each
// variant of the operator in controllers/reposync.
//
// [Begin] makes the world, in which each reconciler has the rights of its own ServiceAccount and is
// there while its Deployment is. What happens is in workloads.go. [Record] reads the run's history
// and judges it, and [Table] has it all for every variant. README.md shows the results.
//
// # RootSyncs
//
// A RootSync that declares a namespace, a RepoSync in it and the binding that gives the RepoSync's
// reconciler its rights deletes the RepoSync and the binding at once. The reconciler has lost its
// rights before it has begun, the RepoSync waits for it, the namespace for the RepoSync, and the
// RootSync for both (issue 589). No namespace terminates in that, so what was merged does not help,
// nor does any webhook. Only who takes the finalizer off at once (V1, and what was managed is left
// to the namespace controller) or at last (V10) ends it. One line in the RepoSync's file does, too,
// in every variant: that it depends on the binding.
//
// A namespace that is deleted by hand although a RootSync declares it comes back, with all that was
// in it, wherever it can go. A RootSync that declares something for all namespaces of a team goes
// on asking for it in one that terminates, as long as that takes, unless it leaves such out (pull
// request 1194, here in V10).
package reposync
