// Package throttle is an operator framework for which users write handlers: one watcher, one worker
// for each object, the progress of handlers in annotations of the object. [Operator] is a whole
// program on client-go alone.
//
// It restates, in its own words, the core of zalando-incubator/kopf and pull requests 350 ("crash")
// and 351 ("throttle"), which went into nolar/kopf as 509 and 510: what a framework does when the
// framework itself fails, not a handler. There, a handler with a long name made the name of its
// annotation longer than the 63 characters that the API server allows. The handler ran, its
// progress was refused with 422, and with every event of the object it ran again.
//
// All variants process an object in the same way. What a variant adds or leaves out is a policy in
// variants.go. The fixed variant, V4, is the zero value of [Variant]: operator.go, process.go and
// answers.go.
//
// Not implemented: peering, daemons and timers, several kinds, deletion handlers (the finalizer is
// kept and released), Events for every handler, permanent errors of handlers, and a limit to their
// calls. The original keeps what it last saw of an object in an annotation; here each record names
// its generation.
package throttle
