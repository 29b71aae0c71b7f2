// Package bundledeployment is an operator that installs bundles of Kubernetes objects: a
// BundleDeployment names content, a Bundle is made for it, and once that has been unpacked its
// chart is installed, upgraded or repaired with the Helm SDK.
//
// It restates, in its own words, the provisioner of operator-framework/rukpak and what became of it
// around pull request 596, which wanted failing deployments to settle. One pass of the controller
// is the same for every variant; what a variant adds or leaves out is a line in variants.go. The
// full cure, V4, is the zero value of [Variant] and lives in cure.go; it is meant to be copied.
//
// It is an ordinary controller-runtime program. Nothing in it knows that it is simulated.
//
// What it does not do: the sources of bundles other than images, the finalizer with which the
// original removes unpacked content, and the limit on CRD upgrades. The full cure has 20 s for a
// pass, in which the content of a bundle has to be loaded, too, and at least one write made: a
// Store that may take longer must remember what it has loaded.
//
// What a chart can say that is not done as Helm alone would do it: a hook that takes longer than a
// pass has failed, and the next attempt runs it anew, so long work belongs into the bundle. A
// deployment is not uninstalled when it is deleted, it takes along what it owns. So hooks of a
// deletion are not run, what asks to be kept goes too, and what the operator does not mark stays:
// the objects of hooks, and what is in the chart's folder crds.
package bundledeployment
