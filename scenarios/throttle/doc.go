// Package throttle is the reference scenario of the 422 hot loop: an object whose progress cannot
// be written down, and its neighbours, with each variant of the operator in controllers/throttle.
//
// [Begin] makes the world: the kind, the operator, its handlers, and a log of their calls outside
// the cluster, because a child with a fixed name would hide the second call. [Record] reads the
// run's history and judges it. README.md shows the results of [Table].
package throttle
