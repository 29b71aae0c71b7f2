// This file holds the kinds of the operator, as installed with it.

package reposync

import (
	"embed"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/wavetank/wavetank/controllers/internal/crds"
)

//go:embed crds/*.yaml
var crdFiles embed.FS

// CRDs returns the kinds that the operator works with: RepoSync, RootSync, and ResourceGroup, the
// inventory of either. Every call returns fresh copies, in the order of their names.
func CRDs() []*apiextensionsv1.CustomResourceDefinition {
	return crds.Read("reposync", crdFiles)
}
