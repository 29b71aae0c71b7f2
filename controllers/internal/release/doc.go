// Package release is what the two Helm operators share: the Helm SDK over a controller's own
// rest.Config, with release records in Secrets, and around it what the helm-operator-plugins
// library adds to Helm's actions: what a release needs next, an uninstall after a failed install, a
// rollback after a failed upgrade, and the repair of drifted objects.
//
// [Clients] is made once for a process; it shares the REST mapper, discovery and capabilities among
// all releases. [Clients.For] is the client of one release during one reconcile.
//
// Helm's actions take no context: a cancelled reconcile continues until its requests fail. The
// requests do carry the values of the reconcile's context, so that whatever traces requests by it
// sees Helm's as well.
package release
