// This file exists to hold the CRDs and the Go types together: whatever a type can say, the schema
// must keep and accept.

package promotion

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/randfill"

	"github.com/wavetank/wavetank/controllers/internal/crdtest"
	"github.com/wavetank/wavetank/controllers/promotion/v1alpha1"
)

// forms are what must have a certain form.
var forms = []any{
	func(t *metav1.MicroTime, c randfill.Continue) {
		*t = metav1.NewMicroTime(time.UnixMicro(int64(c.Uint32())))
	},
	func(p *v1alpha1.Phase, c randfill.Continue) { *p = v1alpha1.PhaseAttempting },
}

func TestCRDsAreEstablishable(t *testing.T) {
	names := map[string]string{}
	for _, crd := range CRDs() {
		names[crd.Spec.Names.Kind] = crd.Spec.Group + "/" + crd.Spec.Versions[0].Name
		if want := crd.Spec.Names.Plural + "." + crd.Spec.Group; crd.Name != want {
			t.Errorf("the CRD is named %s, the API server asks for %s", crd.Name, want)
		}
		if v := crd.Spec.Versions[0]; v.Subresources == nil || v.Subresources.Status == nil {
			t.Errorf("%s has no status subresource", crd.Name)
		}
		crdtest.Of(t, CRDs(), crd.Spec.Names.Kind)
	}
	want := map[string]string{
		"Pipeline": "pipelines.weave.works/v1alpha1", "Promotion": "pipelines.weave.works/v1alpha1",
		"Kustomization": "kustomize.toolkit.fluxcd.io/v1", "GitopsCluster": "gitops.weave.works/v1alpha1",
	}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Errorf("kinds (-want +got):\n%s", diff)
	}
	CRDs()[0].Name = "changed"
	if CRDs()[0].Name == "changed" {
		t.Error("two calls of CRDs share an object")
	}
}

func TestSchemasKeepAndAcceptWhatTheTypesSay(t *testing.T) {
	kinds := map[string]runtime.Object{"Pipeline": &v1alpha1.Pipeline{}, "Promotion": &v1alpha1.Promotion{}}
	crdtest.TakesAny(t, CRDs(), kinds, forms...)
	// The empty status that a typed client sends along with a new object must pass as well.
	crdtest.Of(t, CRDs(), "Pipeline").Takes(t,
		&v1alpha1.Pipeline{Spec: v1alpha1.PipelineSpec{Environments: []v1alpha1.Environment{}}})
	crdtest.Of(t, CRDs(), "Promotion").Takes(t, &v1alpha1.Promotion{})
}
