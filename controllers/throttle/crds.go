// This file exists so that whoever installs the operator gets its kind from the same place as its
// code.

package throttle

import (
	_ "embed"
	"fmt"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

//go:embed crds/kopfexamples.yaml
var crdFile []byte

// CRD returns the kind that the operator serves. Every call returns a fresh copy.
func CRD() *apiextensionsv1.CustomResourceDefinition {
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.UnmarshalStrict(crdFile, crd); err != nil {
		panic(fmt.Sprintf("throttle: the embedded crds/kopfexamples.yaml is not a CustomResourceDefinition: %v", err))
	}
	return crd
}
