// Package reposync tells the story of the reconciler that loses its rights: what becomes of a RepoSync, of what it manages and
// of its namespace when the namespace is deleted, with each variant of the operator in controllers/reposync.
//
// [Begin] sets the scene: the kinds, the reconciler-manager, one reconciler process for each RepoSync, with the rights of its own
// ServiceAccount, which is there while its Deployment is, and the webhook of the variants that have one. [Books] reads the
// run's history and judges it; its methods are the properties. What happens is in tellings.go. [Columns] asks it of every
// variant, and VERDICTS.md says what came of it, with the story of every fall, which is kept under testdata/catalogue.
//
// Every question is asked of every variant, or the page says why not. A RootSync is there only where the question is about it.
// Not told are the end of the system namespace, with which every program of the operator ends, and what becomes of anybody when
// the manager is gone for good: its own finalizer is on every RepoSync, so none of them goes.
package reposync
