// Package simulation runs somebody else's operator whose controllers lie below internal/:
// cert-manager's approver-policy, as it is released and without a change to it. It approves or
// denies requests for certificates by policies.
package simulation
