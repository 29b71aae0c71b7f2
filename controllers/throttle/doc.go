// Package throttle is an operator framework of the kind that one writes handlers for: one watcher,
// one worker for each object, the progress of the handlers in annotations of the object itself.
// [Operator] is a whole program on client-go alone; controller-runtime has no part in it.
//
// It restates, in its own words, the core of zalando-incubator/kopf and what became of it in pull
// requests 350 ("crash") and 351 ("throttle"), which went into nolar/kopf as 509 and 510: what a
// framework should do when it is the framework that fails, not a handler. There, a handler with a
// long name made the name of its annotation longer than the 63 characters that the API server
// allows. The handler ran, its progress was refused with 422, and so with every event of the object
// it ran again.
//
// What happens to an object, event by event, is the same for every variant; what a variant adds or
// leaves out is a policy in variants.go. The fixed variant, V4, is the zero value of [Variant]; it
// is operator.go, process.go and answers.go.
//
// What it does not do: peering, daemons and timers, several resource kinds, deletion handlers (the
// finalizer is kept and released, nothing runs in between), posting events for every handler,
// errors of handlers that are permanent, and a limit to their calls. The original keeps what it has
// last seen of an object in an annotation of its own; here each record names the generation that it
// is about.
package throttle
