// Package trustmanager runs a released operator, unchanged: cert-manager's trust-manager, which
// copies certificates into namespaces. It watches metadata through a second cache, applies on the
// server's side and serves a webhook. Its tests show that it recovers from faults, and a hot loop
// that they found.
package trustmanager
