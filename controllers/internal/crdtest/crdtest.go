// Package crdtest compares the CRDs of an operator with its Go types: the schema must keep and
// accept every value of a type. Only tests import it.
package crdtest

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/randfill"
)

// filler returns a filler that fills every field, so that a field missing from a schema is found.
// What must have a certain form is filled by funcs, as randfill takes them. Those for metadata and
// conditions are included.
func filler(seed int64, funcs ...any) *randfill.Filler {
	return randfill.NewWithSeed(seed).NilChance(0).NumElements(1, 3).Funcs(
		func(t *metav1.Time, c randfill.Continue) { *t = metav1.Unix(int64(c.Uint32()), 0) },
		func(s *metav1.ConditionStatus, c randfill.Continue) { *s = metav1.ConditionTrue },
		func(c *metav1.Condition, r randfill.Continue) {
			r.FillNoCustom(c)
			c.ObservedGeneration, c.Reason = 1, "Reason"
		},
		func(m *metav1.ObjectMeta, c randfill.Continue) {
			*m = metav1.ObjectMeta{Name: "x", Labels: map[string]string{"a": "b"}, Finalizers: []string{"f"}}
		},
		func(m *metav1.TypeMeta, c randfill.Continue) {},
	).Funcs(funcs...)
}

// Schema is the schema of a kind's first version, checked for being structural.
type Schema struct {
	name       string
	structural *schema.Structural
	validator  validation.SchemaValidator
}

// Of returns the schema of the kind.
func Of(t testing.TB, crds []*apiextensionsv1.CustomResourceDefinition, kind string) *Schema {
	t.Helper()
	for _, crd := range crds {
		if crd.Spec.Names.Kind != kind {
			continue
		}
		internal, written := &apiextensions.JSONSchemaProps{}, crd.Spec.Versions[0].Schema.OpenAPIV3Schema
		err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(written, internal, nil)
		structural, structuralErr := schema.NewStructural(internal)
		validator, _, validatorErr := validation.NewSchemaValidator(internal)
		if err := errors.Join(err, structuralErr, validatorErr); err != nil {
			t.Fatalf("the schema of %s: %v", crd.Name, err)
		}
		if errs := schema.ValidateStructural(nil, structural); len(errs) > 0 {
			t.Errorf("the schema of %s is not structural: %v", crd.Name, errs.ToAggregate())
		}
		return &Schema{crd.Name, structural, validator}
	}
	t.Fatalf("there is no CRD for %s", kind)
	return nil
}

// Takes checks that the schema keeps and accepts all that an object says.
func (s *Schema) Takes(t testing.TB, obj any) {
	t.Helper()
	sent := asMap(t, obj)
	kept := runtime.DeepCopyJSON(sent)
	pruning.Prune(kept, s.structural, true)
	if diff := cmp.Diff(sent, kept); diff != "" {
		t.Errorf("the schema of %s drops fields (-sent +kept):\n%s", s.name, diff)
	}
	if errs := validation.ValidateCustomResource(nil, kept, s.validator); len(errs) > 0 {
		t.Errorf("the schema of %s refuses what the type says: %v", s.name, errs.ToAggregate())
	}
}

// TakesAny checks that the schema of each kind keeps and accepts whatever its type can say.
func TakesAny(
	t testing.TB, crds []*apiextensionsv1.CustomResourceDefinition, kinds map[string]runtime.Object, funcs ...any,
) {
	t.Helper()
	for kind, obj := range kinds {
		s := Of(t, crds, kind)
		for seed := range int64(20) {
			filler(seed, funcs...).Fill(obj)
			s.Takes(t, obj)
		}
	}
}

// asMap is an object as a client sends it.
func asMap(t testing.TB, obj any) map[string]any {
	t.Helper()
	out, err := runtime.DefaultUnstructuredConverter.ToUnstructured(obj)
	if err != nil {
		t.Fatal(err)
	}
	return out
}
