// Package determinism holds unlike programs whose runs are made twice and compared event by event.
//
// Each test is one program with the faults that reach it: caches that watch the same kinds, parallel requests, leader
// election, field indexes, channel sources, both work queues, client-go without a manager, webhooks, several clusters.
// go test makes some runs of each. The record of 200,000 doubled runs in docs/determinism.md is made by make determinism,
// which runs these tests in many processes: on a quiet and on a busy machine, pinned to one and to two CPUs, under the
// race detector, and against another process and another build.
//
// A program that does not replay belongs here, as a test of its own, before its cause is removed.
package determinism
