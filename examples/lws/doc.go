// Package lws tests a released operator as it comes from the module proxy: LeaderWorkerSet 0.9.0,
// which replicates groups of Pods, with its webhooks.
package lws
