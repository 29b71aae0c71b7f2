// Package determinism makes the runs of very different programs twice and compares them event by
// event.
//
// Each test is one program with the faults that concern it. There are caches that watch the same
// kinds, parallel requests, leader election, field indexes, channel sources, both work queues,
// client-go without a manager, webhooks, and several clusters.
//
// go test makes some runs of each twice. make determinism makes the record of docs/determinism.md:
// it compares the runs of many processes, on an idle machine and next to busy loops, pinned to one
// CPU or not, with GOMAXPROCS 1 and 8, and under the race detector.
//
// If a program does not replay, add it here as a test of its own before its cause is removed.
package determinism
