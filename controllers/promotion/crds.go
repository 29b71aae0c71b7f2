// This file exists so that whoever installs the operator gets its kinds from the same place as its code.

package promotion

import (
	"embed"
	"fmt"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

//go:embed crds/*.yaml
var crdFiles embed.FS

// CRDs returns the kinds that the operator works with: Pipeline, Promotion, GitopsCluster, and the Kustomization that
// stands for any application. Every call returns fresh copies, in the order of their names.
func CRDs() []*apiextensionsv1.CustomResourceDefinition {
	files, err := crdFiles.ReadDir("crds")
	if err != nil {
		panic(fmt.Sprintf("promotion: the embedded folder crds cannot be listed: %v", err))
	}
	var out []*apiextensionsv1.CustomResourceDefinition
	for _, file := range files {
		data, err := crdFiles.ReadFile("crds/" + file.Name())
		if err != nil {
			panic(fmt.Sprintf("promotion: embedded %s cannot be read: %v", file.Name(), err))
		}
		crd := &apiextensionsv1.CustomResourceDefinition{}
		if err := yaml.UnmarshalStrict(data, crd); err != nil {
			panic(fmt.Sprintf("promotion: embedded %s is not a CustomResourceDefinition: %v", file.Name(), err))
		}
		out = append(out, crd)
	}
	return out
}
