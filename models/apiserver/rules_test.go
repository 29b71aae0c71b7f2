package apiserver_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// A rule that takes too long stops at the budget that a server gives each call
// (k8s.io/apiserver/pkg/apis/cel/config.go). The estimate when it is installed allows ten times as
// much.
func TestRulesStopAtTheirBudget(t *testing.T) {
	crd := widgets()
	spec := crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"]
	items, length := int64(20), int64(3)
	spec.Properties["list"] = apiextensionsv1.JSONSchemaProps{Type: "array", MaxItems: &items,
		Items: &apiextensionsv1.JSONSchemaPropsOrArray{
			Schema: &apiextensionsv1.JSONSchemaProps{Type: "string", MaxLength: &length}},
		XValidations: apiextensionsv1.ValidationRules{{
			Rule: "self.all(a, self.all(b, self.all(c, self.all(d, (a + b + c + d).contains('')))))"}}}
	crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"] = spec
	w := widget("a")
	var list []any
	for i := range items {
		list = append(list, fmt.Sprint(i))
	}
	w.Object["spec"] = map[string]any{"list": list}
	err := newClient(t, newServer(t, crd)).Create(context.Background(), w)
	if err == nil || !strings.Contains(err.Error(), "cost") {
		t.Errorf("160,000 steps of a rule ended with %v", err)
	}
}
