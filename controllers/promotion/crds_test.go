// This file exists to hold the CRDs and the Go types together: whatever a type can say, the schema must keep and accept.

package promotion

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/randfill"

	"github.com/wavetank/wavetank/controllers/promotion/v1alpha1"
)

// filler fills every field, so that a field missing from a schema or from a deep copy cannot hide.
func filler(seed int64) *randfill.Filler {
	return randfill.NewWithSeed(seed).NilChance(0).NumElements(1, 3).Funcs(
		func(t *metav1.Time, c randfill.Continue) { *t = metav1.Unix(int64(c.Uint32()), 0) },
		func(t *metav1.MicroTime, c randfill.Continue) {
			*t = metav1.NewMicroTime(time.UnixMicro(int64(c.Uint32())))
		},
		func(s *metav1.ConditionStatus, c randfill.Continue) { *s = metav1.ConditionTrue },
		func(p *v1alpha1.Phase, c randfill.Continue) { *p = v1alpha1.PhaseAttempting },
		func(m *metav1.ObjectMeta, c randfill.Continue) {
			*m = metav1.ObjectMeta{Name: "x", Labels: map[string]string{"a": "b"}, Finalizers: []string{"f"}}
		},
		func(m *metav1.TypeMeta, c randfill.Continue) {},
	)
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
		if errs := schema.ValidateStructural(nil, structural(t, crd)); len(errs) > 0 {
			t.Errorf("the schema of %s is not structural: %v", crd.Name, errs.ToAggregate())
		}
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
	for kind, obj := range map[string]runtime.Object{"Pipeline": &v1alpha1.Pipeline{}, "Promotion": &v1alpha1.Promotion{}} {
		for seed := range int64(20) {
			filler(seed).Fill(obj)
			checkAgainstSchema(t, kind, obj)
		}
	}
	// The empty status that a typed client sends along with a new object must pass as well.
	checkAgainstSchema(t, "Pipeline", &v1alpha1.Pipeline{Spec: v1alpha1.PipelineSpec{Environments: []v1alpha1.Environment{}}})
	checkAgainstSchema(t, "Promotion", &v1alpha1.Promotion{})
}

func checkAgainstSchema(t *testing.T, kind string, obj runtime.Object) {
	t.Helper()
	crd := crdOf(t, kind)
	sent, kept := asMap(t, obj), asMap(t, obj)
	pruning.Prune(kept, structural(t, crd), true)
	if diff := cmp.Diff(sent, kept); diff != "" {
		t.Errorf("the schema of %s drops fields (-sent +kept):\n%s", kind, diff)
	}
	validator, _, err := validation.NewSchemaValidator(internal(t, crd))
	if err != nil {
		t.Fatal(err)
	}
	if errs := validation.ValidateCustomResource(nil, kept, validator); len(errs) > 0 {
		t.Errorf("the schema of %s refuses what the type says: %v", kind, errs.ToAggregate())
	}
}

func TestDeepCopiesShareNothing(t *testing.T) {
	for _, make := range []func() runtime.Object{
		func() runtime.Object { return &v1alpha1.Pipeline{} },
		func() runtime.Object { return &v1alpha1.PipelineList{} },
		func() runtime.Object { return &v1alpha1.Promotion{} },
		func() runtime.Object { return &v1alpha1.PromotionList{} },
	} {
		const seed = 1
		original, twin := make(), make()
		filler(seed).Fill(original)
		filler(seed).Fill(twin)
		copied := original.DeepCopyObject()
		if diff := cmp.Diff(original, copied); diff != "" {
			t.Errorf("a copy of %T differs (-original +copy):\n%s", original, diff)
		}
		// Filling the copy again writes through every pointer, slice and map that it might share.
		scribble(copied)
		if diff := cmp.Diff(twin, original); diff != "" {
			t.Errorf("writing to a copy of %T changed the original (-before +after):\n%s", original, diff)
		}
	}
}

// scribble changes what can be reached through references.
func scribble(obj runtime.Object) {
	switch o := obj.(type) {
	case *v1alpha1.Pipeline:
		scribblePipeline(o)
	case *v1alpha1.PipelineList:
		for i := range o.Items {
			scribblePipeline(&o.Items[i])
		}
	case *v1alpha1.Promotion:
		scribblePromotion(o)
	case *v1alpha1.PromotionList:
		for i := range o.Items {
			scribblePromotion(&o.Items[i])
		}
	}
}

func scribblePipeline(p *v1alpha1.Pipeline) {
	p.Labels["a"], p.Finalizers[0] = "changed", "changed"
	p.Spec.Promotion.Strategy.PullRequest.URL = "changed"
	p.Spec.Promotion.Strategy.SecretRef.Name = "changed"
	for i := range p.Spec.Environments {
		env := &p.Spec.Environments[i]
		env.Name, env.Promotion.Strategy.PullRequest.URL = "changed", "changed"
		for j := range env.Targets {
			env.Targets[j].ClusterRef.Name = "changed"
		}
	}
	p.Status.Conditions[0].Message = "changed"
	p.Status.Episode.Number = -1
	for name, env := range p.Status.Environments {
		env.WaitingApproval.Revision = "changed"
		env.Targets[0].Revision, env.Targets[0].ClusterAppRef.ClusterRef.Name = "changed", "changed"
		env.Promotion.Revision, env.Promotion.PullRequest.URL = "changed", "changed"
		env.Promotion.LastAttemptedTime.Time = time.Unix(0, 0)
		delete(p.Status.Environments, name)
	}
}

func scribblePromotion(p *v1alpha1.Promotion) {
	p.Labels["a"], p.Finalizers[0] = "changed", "changed"
	p.Status.LastAttemptedTime.Time = time.Unix(0, 0)
	p.Status.NotBefore.Time = time.Unix(0, 0)
	p.Status.PullRequest.URL = "changed"
}

func crdOf(t *testing.T, kind string) *apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	for _, crd := range CRDs() {
		if crd.Spec.Names.Kind == kind {
			return crd
		}
	}
	t.Fatalf("there is no CRD for %s", kind)
	return nil
}

func internal(t *testing.T, crd *apiextensionsv1.CustomResourceDefinition) *apiextensions.JSONSchemaProps {
	t.Helper()
	out := &apiextensions.JSONSchemaProps{}
	err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(
		crd.Spec.Versions[0].Schema.OpenAPIV3Schema, out, nil)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func structural(t *testing.T, crd *apiextensionsv1.CustomResourceDefinition) *schema.Structural {
	t.Helper()
	out, err := schema.NewStructural(internal(t, crd))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func asMap(t *testing.T, obj any) map[string]any {
	t.Helper()
	data, err := json.Marshal(obj)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]any{}
	if err := json.Unmarshal(data, &out); err != nil {
		t.Fatal(err)
	}
	return out
}
