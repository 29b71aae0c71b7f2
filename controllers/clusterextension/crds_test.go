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
