// Package jobset tests a released operator as it comes from the module proxy: JobSet 0.12.0, which
// runs groups of Jobs as one workload, with its webhooks.
package jobset
