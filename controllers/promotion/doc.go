// Package promotion is an operator that moves an application from one environment to the next: when
// every target of the first environment runs a revision and is ready with it, the next environment
// is promoted to that revision by a pull request, and so on down the list.
//
// It restates, in its own words, the level-triggered controller of weaveworks/pipeline-controller
// and what became of it in pull request 214, "usually once" promotions. One pass of the controller
// is the same for every variant; what a variant adds or leaves out is a line in variants.go. The
// fixed variant, V8, is the zero value of [Variant] and lives in guard.go; it is meant to be
// copied.
//
// It is an ordinary controller-runtime program. Nothing in it knows that it is simulated.
//
// What it does not do: approval of manual promotions (it only records that one waits), credentials
// of a forge, Cluster API's own kubeconfigs. The variants of the thread keep the original's panic
// on a policy that only an environment has, and its way of swallowing an error while it sets itself
// up; errors on the way to another cluster it returns, and so do they. On a pipeline without
// environments, where the original would panic, too, this one does not; and an environment that
// nobody gave a policy is left alone, where the original recorded it as promoted.
package promotion
