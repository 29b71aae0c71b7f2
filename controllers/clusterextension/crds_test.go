// This file exists to hold the CRDs and the Go types together: whatever a type can say, the schema must keep and accept.

package clusterextension

import (
	"testing"

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

	v1 "github.com/wavetank/wavetank/controllers/clusterextension/v1"
)

// filler fills every field, so that a field missing from a schema or from a deep copy cannot hide.
func filler(seed int64) *randfill.Filler {
	return randfill.NewWithSeed(seed).NilChance(0).NumElements(1, 3).Funcs(
		func(t *metav1.Time, c randfill.Continue) { *t = metav1.Unix(int64(c.Uint32()), 0) },
		func(s *metav1.ConditionStatus, c randfill.Continue) { *s = metav1.ConditionTrue },
		func(c *v1.SourceConfig, r randfill.Continue) {
			r.FillNoCustom(c)
			c.SourceType = v1.SourceTypeCatalog
		},
		func(c *v1.CatalogFilter, r randfill.Continue) {
			r.FillNoCustom(c)
			c.UpgradeConstraintPolicy = v1.PolicySelfCertified
		},
		func(c *v1.CRDUpgradeSafetyConfig, r randfill.Continue) { c.Enforcement = "None" },
		func(c *metav1.Condition, r randfill.Continue) {
			r.FillNoCustom(c)
			c.ObservedGeneration, c.Reason = 1, "Reason"
		},
		func(m *metav1.ObjectMeta, c randfill.Continue) {
			*m = metav1.ObjectMeta{Name: "x", Labels: map[string]string{"a": "b"}, Finalizers: []string{"f"}}
		},
		func(m *metav1.TypeMeta, c randfill.Continue) {},
	)
}

func kinds() map[string]runtime.Object {
	return map[string]runtime.Object{"ClusterExtension": &v1.ClusterExtension{}, "ClusterCatalog": &v1.ClusterCatalog{}}
}

func TestSchemasKeepAndAcceptWhatTheTypesSay(t *testing.T) {
	for _, crd := range CRDs() {
		internal := &apiextensions.JSONSchemaProps{}
		if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(
			crd.Spec.Versions[0].Schema.OpenAPIV3Schema, internal, nil); err != nil {
			t.Fatal(err)
		}
		structural, err := schema.NewStructural(internal)
		if err != nil {
			t.Fatal(err)
		}
		if errs := schema.ValidateStructural(nil, structural); len(errs) > 0 {
			t.Errorf("the schema of %s is not structural: %v", crd.Name, errs.ToAggregate())
		}
		validator, _, err := validation.NewSchemaValidator(internal)
		if err != nil {
			t.Fatal(err)
		}
		obj := kinds()[crd.Spec.Names.Kind]
		for seed := range int64(20) {
			filler(seed).Fill(obj)
			sent, kept := asMap(t, obj), asMap(t, obj)
			pruning.Prune(kept, structural, true)
			if diff := cmp.Diff(sent, kept); diff != "" {
				t.Errorf("the schema of %s drops fields (-sent +kept):\n%s", crd.Name, diff)
			}
			if errs := validation.ValidateCustomResource(nil, kept, validator); len(errs) > 0 {
				t.Errorf("the schema of %s refuses what the type says: %v", crd.Name, errs.ToAggregate())
			}
		}
	}
}

func TestDeepCopiesShareNothing(t *testing.T) {
	for kind, original := range kinds() {
		filler(1).Fill(original)
		before, copied := asMap(t, original), original.DeepCopyObject()
		if diff := cmp.Diff(before, asMap(t, copied)); diff != "" {
			t.Errorf("a copy of %s differs (-original +copy):\n%s", kind, diff)
		}
		switch o := copied.(type) { // write through all that may be shared
		case *v1.ClusterExtension:
			o.Labels["a"], o.Spec.Source.Catalog.Version, o.Spec.Source.Catalog.Channels[0] = "changed", "changed", "changed"
			o.Spec.Source.Catalog.Selector.MatchLabels["new"], o.Spec.Install.Preflight.CRDUpgradeSafety.Enforcement = "changed", "changed"
			o.Status.Conditions[0].Message, o.Status.Install.Bundle.Version = "changed", "changed"
		case *v1.ClusterCatalog:
			o.Labels["a"], o.Spec.Source.Image.Ref, o.Status.ResolvedSource.Image.Ref = "changed", "changed", "changed"
		}
		if diff := cmp.Diff(before, asMap(t, original)); diff != "" {
			t.Errorf("writing to a copy of %s changed the original (-before +after):\n%s", kind, diff)
		}
	}
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
