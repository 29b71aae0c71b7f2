// Package forge is a model of a git forge: the outside world in which a promotion takes effect. It
// keeps pull requests, nothing else, and is reached over HTTP like the real thing.
//
// The model is synchronous: a request takes effect and is answered in one call of
// [Forge.ServeHTTP]. It has no goroutine, no clock and no randomness. The
// network between client and model adds delays, failures and repetition.
//
// Its books are kept in the run's ledger of effects, which survives whatever happens to the
// callers: an entry of kind "attempt" for each order that the forge accepts, and one of kind
// "effect" each time an order changes something.
//
//	POST /repos/{owner}/{name}/pulls             order a promotion: see [Order]
//	GET  /repos/{owner}/{name}/pulls?head=&key=  list pull requests, by branch or idempotency key
//	GET  /repos/{owner}/{name}/pulls/{number}    one pull request
//	PATCH /repos/{owner}/{name}/pulls/{number}   close it, by {"state":"closed"}; no effect
//
// A person's side of the forge, merging and abandoning, is methods of [Forge].
//
// What it does not do: commits, branches and checks (a push is only counted), users and
// credentials, rate limits.
package forge
