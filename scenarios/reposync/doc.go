// Package reposync is the reference scenario of a reconciler that loses its rights: a RepoSync,
// what it manages and its namespace, when the namespace is deleted, with each variant of the
// operator in controllers/reposync. In the world of [Begin] each reconciler has the rights of its
// own ServiceAccount, and exists while its Deployment does. [Record] reads the run's history and
// judges it. README.md shows the results of [Table].
//
// A RootSync that declares a namespace, a RepoSync in it and the binding of the RepoSync's
// reconciler deletes the RepoSync and the binding at once. The reconciler has lost its rights, the
// RepoSync waits for it, the namespace for the RepoSync, and the RootSync for both (issue 589). No
// namespace terminates in that, so neither the merged change nor a webhook helps. Only V1 and V10
// remove the finalizer. In every variant it helps to declare that the RepoSync depends on the
// binding.
//
// A namespace that a RootSync declares is created again after a user deletes it. A RootSync that
// declares something for all namespaces of a team keeps trying to create it in one that terminates,
// unless it leaves such namespaces out (pull request 1194, here in V10).
package reposync
