// Package promotion is an operator that moves an application from one environment to the next: when
// every target of the first environment runs a revision and is ready with it, the next environment
// is promoted to that revision by a pull request, and so on down the list.
//
// It restates, in its own words, the level-triggered controller of weaveworks/pipeline-controller
// and what became of it in pull request 214, "usually once" promotions. One pass of the controller
// is the same for every variant; what a variant adds or leaves out is a line in variants.go. The
// fixed variant, V8, is the zero value of [Variant]. It is reconciler.go, fix.go and withdraw.go,
// and is meant to be copied.
//
// # The fixed variant
//
// At most once and at least once cannot both be had across a crash if the effect itself can be
// repeated. So the fix makes the effect safe to repeat, and then insists:
//
//   - Which promotion? {pipeline uid, environment, revision, episode}. Nothing else identifies it,
//     and everything below is keyed by it. The episode tells a return to a revision from a
//     repetition; see countEpisode.
//   - At most one effect: the forge carries out one order for each idempotency key, and the key is
//     the guard's name, which is computed from those four. Neither a second guard nor a lost one
//     can lead to another key. (The guard's own uid would be the obvious key. But a guard that is
//     deleted by hand, pruned, or restored from a backup comes back with another uid, and the forge
//     would take it for another promotion.)
//   - At least one effect: the guard records what was confirmed, not what was intended. Until it
//     says Promoted, every pass asks the forge and tries again, with back-off. Asked is where the
//     attempts went before, even if the pipeline has another repository by now: another forge, or
//     another repository, knows nothing of the key. The next attempt goes where the pipeline says
//     if the earlier ones were plainly refused. It does so, too, if none of them is found where it
//     went and none can be on its way any more. (To give up on a forge that cannot be asked any
//     more, delete the Promotion.)
//   - Decisions rest on the server, not on the cache. A dry pass over the cache tells only whether
//     there may be something to do; the pass that does it has read the pipeline, every target and
//     the guard live, and binds its writes to the versions it read.
//   - Nothing outdated is left for people to merge: see withdraw.go.
//
// When may a promotion be attempted a second time? An earlier attempt must have been claimed, and
// the claim's notBefore must have passed. The forge, asked in the same pass, must have known
// nothing of the key.
// That is: the process died or was cut off between its claim and the arrival of its order; the
// order, or the reply to the claim, was lost on the way; the forge refused the order; or the order
// is still under way, longer than the timeout if the same process asks, longer than the back-off if
// another one does. In each case the second order carries the first one's key.
//
// # What it is not
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
