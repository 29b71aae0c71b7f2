// Package clusterextension is an operator that installs packages from catalogs: a ClusterExtension
// names a package, a bundle of it is chosen by the catalog's upgrade graph, and its chart is
// installed, upgraded or repaired with the Helm SDK.
//
// It restates, in its own words, the controller of operator-framework/operator-controller and what
// was proposed around its pull requests 1776 and 1987, which wanted releases to survive an
// interruption. One pass of the controller is the same for every variant; what a variant adds or
// leaves out is a line in variants.go. The fixed variant, V6, is the zero value of [Variant]. It is
// meant to be copied: controller.go, pass.go and fix.go.
//
// It is an ordinary controller-runtime program. Nothing in it knows that it is simulated.
//
// Before an upgrade it asks Helm what the upgrade would make, on the client's side: the server is
// asked by a dry run before an install alone. What it does not do: impersonate the service account
// of an extension, ranges of versions, deprecation, and the preflight check of CRD upgrades. The
// fixed variant does not resume an attempt of a chart that has hooks; a slice of 20 s has to be
// enough for all reads of such an attempt and for at least one write.
//
// What a chart can say that is not done as Helm alone would do it: a hook that takes longer than a
// pass has failed, and then the user has to decide, so long work belongs into the bundle. An
// extension is not uninstalled when it is deleted, it takes along what it owns. So hooks of a
// deletion are not run, what asks to be kept goes too, and what the operator does not mark stays:
// the objects of hooks, and what is in the chart's folder crds.
package clusterextension
