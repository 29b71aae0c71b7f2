// This file exists to hold the CRDs and the Go types together: whatever a type can say, the schema
// must keep and accept.

package clusterextension

import (
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/randfill"

	v1 "github.com/wavetank/wavetank/controllers/clusterextension/v1"
	"github.com/wavetank/wavetank/controllers/internal/crdtest"
)

// forms are what must have a certain form.
var forms = []any{
	func(c *v1.SourceConfig, r randfill.Continue) {
		r.FillNoCustom(c)
		c.SourceType = v1.SourceTypeCatalog
	},
	func(c *v1.CatalogFilter, r randfill.Continue) {
		r.FillNoCustom(c)
		c.UpgradeConstraintPolicy = v1.PolicySelfCertified
	},
	func(c *v1.CRDUpgradeSafetyConfig, r randfill.Continue) { c.Enforcement = "None" },
}

func TestSchemasKeepAndAcceptWhatTheTypesSay(t *testing.T) {
	kinds := map[string]runtime.Object{"ClusterExtension": &v1.ClusterExtension{},
		"ClusterCatalog": &v1.ClusterCatalog{}}
	crdtest.TakesAny(t, CRDs(), kinds, forms...)
}

func TestDeepCopiesShareNothing(t *testing.T) {
	extension, catalog := &v1.ClusterExtension{}, &v1.ClusterCatalog{}
	crdtest.Filler(1, forms...).Fill(extension)
	crdtest.Filler(1, forms...).Fill(catalog)
	crdtest.SharesNothing(t, extension, func(o *v1.ClusterExtension) {
		from := o.Spec.Source.Catalog
		o.Labels["a"], from.Version, from.Channels[0] = "changed", "changed", "changed"
		from.Selector.MatchLabels["new"] = "changed"
		o.Spec.Install.Preflight.CRDUpgradeSafety.Enforcement = "changed"
		o.Status.Conditions[0].Message, o.Status.Install.Bundle.Version = "changed", "changed"
	})
	crdtest.SharesNothing(t, catalog, func(o *v1.ClusterCatalog) {
		o.Labels["a"], o.Spec.Source.Image.Ref, o.Status.ResolvedSource.Image.Ref = "changed", "changed", "changed"
	})
}
