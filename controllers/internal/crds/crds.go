// Package crds reads the CustomResourceDefinitions that an operator embeds.
package crds

import (
	"embed"
	"fmt"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

// Read returns what the operator's embedded folder crds holds, a kind a file: fresh copies, in the
// order of the files' names. It panics when the folder is not what it should be, for then the
// operator was built wrongly.
func Read(operator string, files embed.FS) []*apiextensionsv1.CustomResourceDefinition {
	folder, err := files.ReadDir("crds")
	if err != nil {
		panic(fmt.Sprintf("%s: the embedded folder crds cannot be listed: %v", operator, err))
	}
	var out []*apiextensionsv1.CustomResourceDefinition
	for _, file := range folder {
		data, err := files.ReadFile("crds/" + file.Name())
		if err != nil {
			panic(fmt.Sprintf("%s: embedded %s cannot be read: %v", operator, file.Name(), err))
		}
		crd := &apiextensionsv1.CustomResourceDefinition{}
		if err := yaml.UnmarshalStrict(data, crd); err != nil {
			panic(fmt.Sprintf("%s: embedded %s is not a CustomResourceDefinition: %v", operator, file.Name(), err))
		}
		out = append(out, crd)
	}
	return out
}
