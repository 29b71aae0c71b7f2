// This file exists for what stands behind the operator: the versions of the package shop, and the
// catalog that offers them.

package clusterextension

import (
	"bytes"
	"context"
	"embed"
	"fmt"
	"slices"

	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chart/loader"

	"github.com/wavetank/wavetank/controllers/clusterextension"
	v1 "github.com/wavetank/wavetank/controllers/clusterextension/v1"
)

//go:embed charts
var files embed.FS

// The versions of the package.
const (
	one, two, three = "1.0.0", "2.0.0", "3.0.0"
	// refused is a version 2 of which the server refuses the last object, until the namespace rc-17
	// exists.
	refused = "2.0.0-refused"
	cause   = "rc-17"
	// restless is a version 1 that is rendered differently each time.
	restless = "1.0.0-restless"
	// hooked is a version 2 with a hook that has to be run before it.
	hooked = "2.0.0-hooked"
	// slow is a version 2 whose migrations take minutes, and fail once before that. In broken one
	// of them always fails.
	slow, broken = "2.0.0-slow", "2.0.0-broken"
)

// packageName is the package of all workloads.
const packageName = "shop"

// bundleName is the name of the bundle of a version.
func bundleName(version string) string { return packageName + ".v" + version }

// charts are the content of all bundles, by version. All runs share them: nobody changes a chart.
var charts = load(one, two, refused, three, restless, hooked, slow, broken)

func load(versions ...string) map[string]*chart.Chart {
	out := map[string]*chart.Chart{}
	for _, version := range versions {
		var buffered []*loader.BufferedFile
		for _, name := range []string{"Chart.yaml", "templates/shop.yaml"} {
			data, err := files.ReadFile("charts/shop/" + name)
			if err != nil {
				panic(err)
			}
			buffered = append(buffered, &loader.BufferedFile{Name: name,
				Data: bytes.ReplaceAll(data, []byte("version: 1.0.0"), []byte("version: "+version))})
		}
		c, err := loader.LoadFiles(buffered)
		if err != nil {
			panic(fmt.Sprintf("the embedded chart cannot be loaded: %v", err))
		}
		out[version] = c
	}
	return out
}

// catalog is what the cluster's catalogs offer now. It implements clusterextension.Catalog.
type catalog struct{ bundles []clusterextension.Bundle }

// Package implements clusterextension.Catalog.
func (c *catalog) Package(_ context.Context, name string) ([]clusterextension.Bundle, error) {
	if name != packageName {
		return nil, nil
	}
	return slices.Clone(c.bundles), nil
}

// offer puts a version into the catalog, with edges from others.
func (c *catalog) offer(version string, from ...string) {
	b := clusterextension.Bundle{Name: bundleName(version), Version: version, Channels: []string{"stable"},
		Reference: "registry.example/shop:" + version, Chart: charts[version]}
	for _, f := range from {
		b.From = append(b.From, bundleName(f))
	}
	c.withdraw(version)
	c.bundles = append(slices.Clone(c.bundles), b)
}

// withdraw takes a version out of it.
func (c *catalog) withdraw(version string) {
	c.bundles = slices.DeleteFunc(slices.Clone(c.bundles),
		func(b clusterextension.Bundle) bool { return b.Version == version })
}

// clusterCatalog is the object that says where the catalog comes from.
func clusterCatalog() *v1.ClusterCatalog {
	c := &v1.ClusterCatalog{}
	c.Name = "operators"
	c.Spec.Source = v1.CatalogSource{Type: "Image", Image: &v1.ImageSource{Ref: "registry.example/catalog:latest"}}
	return c
}
