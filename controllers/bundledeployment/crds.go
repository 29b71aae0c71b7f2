// This file holds the kinds that the operator works with.

package bundledeployment

import (
	"embed"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/wavetank/wavetank/controllers/internal/crds"
)

//go:embed crds/*.yaml
var crdFiles embed.FS

// CRDs returns the kinds that the operator works with, Bundle and BundleDeployment. Every call
// returns fresh copies, in the order of their names.
func CRDs() []*apiextensionsv1.CustomResourceDefinition {
	return crds.Read("bundledeployment", crdFiles)
}
