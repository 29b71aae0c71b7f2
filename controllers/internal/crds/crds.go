// Package crds reads the CustomResourceDefinitions that an operator embeds.
package crds

import (
	"embed"
	"fmt"
	"io/fs"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

// Read returns the kinds in the operator's embedded folder crds, one from each file: fresh copies,
// in the order of the files' names. It panics if the operator was built wrongly.
func Read(operator string, files embed.FS) (out []*apiextensionsv1.CustomResourceDefinition) {
	names, _ := fs.Glob(files, "crds/*.yaml")
	for _, name := range names {
		crd := &apiextensionsv1.CustomResourceDefinition{}
		data, err := files.ReadFile(name)
		if err == nil {
			err = yaml.UnmarshalStrict(data, crd)
		}
		if err != nil {
			panic(fmt.Sprintf("%s: embedded %s is not a CustomResourceDefinition: %v", operator, name, err))
		}
		out = append(out, crd)
	}
	return out
}
