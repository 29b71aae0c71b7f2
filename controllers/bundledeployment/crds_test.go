// This file tests that the schemas keep and accept whatever the Go types can say.

package bundledeployment

import (
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/randfill"

	"github.com/wavetank/wavetank/controllers/bundledeployment/v1alpha1"
	"github.com/wavetank/wavetank/controllers/internal/crdtest"
)

// forms are what must have a certain form.
var forms = []any{
	func(r *runtime.RawExtension, c randfill.Continue) {
		*r = runtime.RawExtension{Raw: []byte(`{"values":"a: b"}`)}
	},
	func(s *v1alpha1.BundleSpec, c randfill.Continue) {
		image := v1alpha1.BundleSource{Type: "image", Image: &v1alpha1.ImageSource{Ref: c.String(5)}}
		*s = v1alpha1.BundleSpec{ProvisionerClassName: "x", Source: image}
	},
}

func TestSchemasKeepAndAcceptWhatTheTypesSay(t *testing.T) {
	kinds := map[string]runtime.Object{
		"BundleDeployment": &v1alpha1.BundleDeployment{}, "Bundle": &v1alpha1.Bundle{}}
	crdtest.TakesAny(t, CRDs(), kinds, forms...)
}
