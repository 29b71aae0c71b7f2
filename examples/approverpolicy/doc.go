// Package simulation runs a released operator, unchanged, whose controllers lie below internal/:
// cert-manager's approver-policy. It approves or
// denies requests for certificates by policies.
package simulation
