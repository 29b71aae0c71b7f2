// Package determinism makes the runs of very different programs twice and compares them event by
// event.
//
// Each test is one program with the faults that concern it. There are caches that watch the same
// kinds, parallel requests, leader election, field indexes, channel sources, both work queues,
// client-go without a manager, webhooks, and several clusters.
//
// go test makes some runs of each. make determinism makes the 200,000 doubled runs of
// docs/determinism.md in many processes: on a quiet and on a busy machine, pinned to one and to two
// CPUs, under the race detector, and compared with another process and another build.
//
// If a program does not replay, add it here as a test of its own before its cause is removed.
package determinism
