// Package bundledeployment is an operator that installs bundles of Kubernetes objects: a
// BundleDeployment names content, a Bundle is made for it, and once that has been unpacked its
// chart is installed, upgraded or repaired with the Helm SDK.
//
// It restates, in its own words, a provisioner of operator-framework/rukpak and what became of it
// around pull request 596, which wanted failing deployments to settle. A reconcile is the same for
// every variant; what a variant adds or leaves out is a line in variants.go. The fixed one, V4, is
// the zero value of [Variant]. It is meant to be copied: controller.go, bundle.go and fix.go.
//
// The pull request is about the plain provisioner. That turns the plain manifests of a bundle into
// a chart and applies the chart by Helm's actions. Here the content of a bundle is a chart already,
// which leaves that step out; installs, clean-ups and records are Helm's in both.
//
// It is an ordinary controller-runtime program. One number in it is there for the harness: V1 and
// V2 wait 7 ms less than the thread's 30 s, see cleanUpWait in variants.go.
//
// What it does not do: the sources of bundles other than images, the finalizer with which the
// original removes unpacked content, the limit on CRD upgrades, and metadata of a template other
// than labels. The fixed variant has 20 s for
// a reconcile, in which the content of a bundle has to be loaded, too, and at least one write made:
// a Store that may take longer must remember what it has loaded.
//
// Some things in a chart are not done as Helm alone would do them. A hook that takes longer than a
// reconcile has failed, and the next attempt runs it again, so long work belongs in the bundle. A
// deployment is not uninstalled when it is deleted: what it owns goes with it. So hooks of a
// deletion are not run, and what asks to be kept goes, too. What the operator does not mark stays:
// the objects of hooks, and what is in the chart's folder crds.
package bundledeployment
