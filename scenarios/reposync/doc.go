// Package reposync tells the story of the reconciler that loses its rights: what becomes of a
// RepoSync, of what it manages and of its namespace when the namespace is deleted, with each
// variant of the operator in controllers/reposync.
//
// [Begin] sets the scene: the kinds, the reconciler-manager, one reconciler process for each
// RepoSync, with the rights of its own ServiceAccount, which is there while its Deployment is, and
// the webhook of the variants that have one. [Books] reads the run's history and judges it; its
// methods are the properties. What happens is in tellings.go. [Columns] asks it of every variant,
// and README.md says what came of it, with the story of every fall, which is kept under
// testdata/catalogue.
//
// # What the runs showed of RootSyncs
//
// A RootSync that declares a namespace, a RepoSync in it and the binding that gives the RepoSync's
// reconciler its rights deletes the RepoSync and the binding at once. The reconciler has lost its
// rights before it has begun, the RepoSync waits for it, the namespace for the RepoSync, and the
// RootSync for both (issue 589). No namespace terminates in that, so what was merged does not help,
// nor does any webhook: only who takes the finalizer off at once (V1, and what was managed is left
// to the namespace controller) or at last (V10) gets out of it. One line in the RepoSync's file
// does, too, in every variant as it was reported: that it depends on the binding.
//
// A namespace that is deleted by hand although a RootSync declares it comes back, with all that was
// in it, wherever it can go. A RootSync that declares something for all namespaces of a team goes
// on asking for it in one that terminates, as long as that takes, unless it leaves such out (pull
// request 1194, here in V10).
//
// Every question is asked of every variant, or the page says why not. A RootSync is there only
// where the question is about it. README.md ends with what came of what was foretold, which
// questions tell the scenarios that were wanted, and why two are not told: the end of the system
// namespace, with which every program of the operator ends, and a manager that is gone for good.
package reposync
