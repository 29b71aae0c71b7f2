// This file chooses a bundle: from the offers of the catalogs, by the edges of the upgrade graph
// and the user's policy.

package clusterextension

import (
	"context"
	"fmt"
	"slices"

	"helm.sh/helm/v3/pkg/chart"
	"k8s.io/apimachinery/pkg/util/version"

	v1 "github.com/wavetank/wavetank/controllers/clusterextension/v1"
)

// Catalog is what all catalogs of the cluster offer.
type Catalog interface {
	// Package lists the bundles of a package. They are not changed by their user.
	Package(ctx context.Context, name string) ([]Bundle, error)
}

// Bundle is one version of a package.
type Bundle struct {
	// Name is unique in the package, for example "shop.v1.2.0".
	Name string
	// Version is a semantic version.
	Version string
	// Channels that it is in.
	Channels []string
	// From names the bundles that may be upgraded to this one: the edges of the upgrade graph.
	From []string
	// Reference is the image that it comes in.
	Reference string
	// Chart is what has been unpacked from it.
	Chart *chart.Chart
}

// String names it for people.
func (b *Bundle) String() string { return fmt.Sprintf("bundle %q with version %q", b.Name, b.Version) }

// labels identify the bundle in release records.
func (b *Bundle) labels(of string) map[string]string {
	return map[string]string{v1.PackageNameKey: of, v1.BundleNameKey: b.Name, v1.BundleVersionKey: b.Version,
		v1.BundleReferenceKey: b.Reference}
}

// bundleOf returns the bundle that a record names.
func bundleOf(labels map[string]string) *Bundle {
	return &Bundle{Name: labels[v1.BundleNameKey], Version: labels[v1.BundleVersionKey]}
}

// resolve chooses the highest version that is wanted and allowed. installed is nil if nothing is.
func resolve(all []Bundle, want *v1.CatalogFilter, installed *Bundle) (*Bundle, error) {
	var best *Bundle
	var bestVersion *version.Version
	for i := range all {
		b := &all[i]
		if want.Version != "" && b.Version != want.Version {
			continue
		}
		if len(want.Channels) > 0 &&
			!slices.ContainsFunc(b.Channels, func(c string) bool { return slices.Contains(want.Channels, c) }) {
			continue
		}
		if installed != nil && want.UpgradeConstraintPolicy != v1.PolicySelfCertified && b.Name != installed.Name &&
			!slices.Contains(b.From, installed.Name) {
			continue
		}
		parsed, err := version.ParseSemantic(b.Version)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", b, err)
		}
		if best == nil || bestVersion.LessThan(parsed) {
			best, bestVersion = b, parsed
		}
	}
	switch {
	case best != nil:
		return best, nil
	case installed != nil:
		return nil, fmt.Errorf("error upgrading from currently installed version %q: no bundles found for package %q",
			installed.Version, want.PackageName)
	}
	return nil, fmt.Errorf("no bundles found for package %q", want.PackageName)
}
