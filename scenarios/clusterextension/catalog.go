// This file holds the operator's surroundings: the versions of the package shop, and the catalog
// that offers them.

package clusterextension

import (
	"context"
	_ "embed"
	"slices"

	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chart/loader"

	"github.com/wavetank/wavetank/controllers/clusterextension"
	v1 "github.com/wavetank/wavetank/controllers/clusterextension/v1"
	"github.com/wavetank/wavetank/scenarios/internal/worlds"
)

// The package's chart. Versions differ only in its number.
var (
	//go:embed charts/shop/Chart.yaml
	metadata []byte
	//go:embed charts/shop/templates/shop.yaml
	template []byte
)

// The versions of the package.
const (
	one, two, three = "1.0.0", "2.0.0", "3.0.0"
	// refused is a version 2 whose last object is refused until the namespace rc-17 exists.
	refused = "2.0.0-refused"
	cause   = "rc-17"
	// restless is a version 1 that is rendered differently each time.
	restless = "1.0.0-restless"
	// hooked is a version 2 with a hook that must run before it.
	hooked = "2.0.0-hooked"
	// slow is a version 2 whose migrations take minutes, and fail once before that. In broken one
	// of them always fails.
	slow, broken = "2.0.0-slow", "2.0.0-broken"
)

// sizes is how many objects with its content a version has.
var sizes = map[string]int{one: 2, two: 3, three: 2, refused: 4, hooked: 3, slow: 3, broken: 3, restless: 2}

// bundleName is the name of the bundle of a version.
func bundleName(version string) string { return app + ".v" + version }

// charts are the content of all bundles, by version. All runs share them, because charts do not
// change.
var charts = load()

func load() map[string]*chart.Chart {
	out := map[string]*chart.Chart{}
	for version := range sizes {
		c, err := loader.LoadFiles([]*loader.BufferedFile{
			{Name: "Chart.yaml", Data: metadata}, {Name: "templates/shop.yaml", Data: template}})
		worlds.Must(err, "loading the embedded chart")
		c.Metadata.Version = version
		out[version] = c
	}
	return out
}

// catalog is the content of the cluster's catalogs.
type catalog struct{ bundles []clusterextension.Bundle }

// Package implements clusterextension.Catalog for the only package.
func (c *catalog) Package(context.Context, string) ([]clusterextension.Bundle, error) {
	return slices.Clone(c.bundles), nil
}

// withdraw removes a version.
func (c *catalog) withdraw(version string) {
	c.bundles = slices.DeleteFunc(c.bundles, func(b clusterextension.Bundle) bool { return b.Version == version })
}

// clusterCatalog is the object that names the catalog's image.
func clusterCatalog() *v1.ClusterCatalog {
	c := &v1.ClusterCatalog{}
	c.Name = "operators"
	c.Spec.Source = v1.CatalogSource{Type: "Image", Image: &v1.ImageSource{Ref: "registry.example/catalog:latest"}}
	return c
}
