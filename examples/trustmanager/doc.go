// Package trustmanager runs somebody else's operator, as it is released and without a change to it:
// cert-manager's trust-manager, which copies certificates into namespaces. It watches metadata
// through a second cache, applies on the server's side and serves a webhook. Its tests show that it
// recovers from faults, and a hot loop that they found.
package trustmanager
