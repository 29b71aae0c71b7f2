package conformance

import (
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

const crdGroup = "conformance.wavetank.dev"

// CRDs are the definitions of rows/definitions.yaml. They are fresh objects on every call: envtest
// and the model both keep what they are given.
func CRDs() (all []*apiextensionsv1.CustomResourceDefinition) {
	text, err := rowFiles.ReadFile("rows/definitions.yaml")
	if err != nil {
		panic("conformance: " + err.Error())
	}
	for document := range strings.SplitSeq(string(text), "\n---\n") {
		crd := &apiextensionsv1.CustomResourceDefinition{}
		if err := yaml.UnmarshalStrict([]byte(document), crd); err != nil {
			panic("conformance: definitions.yaml: " + err.Error())
		}
		all = append(all, crd)
	}
	return all
}
