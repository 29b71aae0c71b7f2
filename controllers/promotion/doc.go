// Package promotion is an operator that moves an application from one environment to the next: when
// every target of the first environment runs a revision and is ready with it, the next environment
// is promoted to that revision by a pull request, and so on down the list.
//
// It restates, in its own words, the level-triggered controller of weaveworks/pipeline-controller
// and pull request 214, "usually once" promotions. All variants make the same pass; what a variant
// adds or leaves out is a line in variants.go. The fixed variant, V8, is the zero value of
// [Variant]: reconciler.go, fix.go and withdraw.go, which are meant to be copied.
//
// # The fixed variant
//
// At most once and at least once cannot both be had across a crash if the effect itself can be
// repeated. So the fix makes the effect safe to repeat, and then repeats it until it is confirmed:
//
//   - A promotion is identified by {pipeline uid, environment, revision, episode}. The episode
//     distinguishes a return to a revision from a repetition; see countEpisode.
//   - At most one effect: the forge carries out one order for each idempotency key. The key is the
//     guard's name, which is computed from those four, so a guard that is lost and restored has the
//     same key. (Its uid would change.)
//   - At least one effect: the guard records what was confirmed, not what was intended. Until it
//     is Promoted, every pass asks the forge and tries again, with back-off. It asks where the
//     attempts went, even if the pipeline has another repository by now. The next attempt goes to
//     the new one if the earlier ones were refused, or are not found and can no longer be on their
//     way. (To give up on a forge that no longer answers, delete the Promotion.)
//   - Decisions rest on the server, not on the cache. A dry pass over the cache finds whether there
//     may be something to do. The pass that does it reads the pipeline, every target and the guard
//     live, and binds its writes to the versions that it read.
//   - Nothing outdated is left for people to merge: see withdraw.go.
//
// A promotion is attempted again only if an earlier attempt was claimed, the claim's notBefore has
// passed, and the forge, asked in the same pass, does not know the key. So the process died or was
// cut off before its order arrived; the order or the reply to the claim was lost; the forge refused
// it; or it is still on its way, for longer than the timeout or, to another process, the back-off.
// In each case the second order carries the key of the first.
//
// # Differences from the original
//
// Not implemented: approval of manual promotions (it only records that one waits), credentials of a
// forge, Cluster API's own kubeconfigs. The variants of the thread keep the original's panic on a
// policy that only an environment has, and ignore an error of the set-up as it does. A pipeline
// without environments, where the original would panic, does nothing, and an environment without a
// policy, which the original recorded as promoted, is left alone.
package promotion
