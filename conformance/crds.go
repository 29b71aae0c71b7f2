package conformance

// The custom resources that rows use, in addition to the built-in ones: one with every subresource
// and a schema, one without subresources that keeps whatever it is given, and one that belongs to
// no namespace.

import (
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

const crdGroup = "conformance.wavetank.dev"

const widgetSchema = `
type: object
properties:
  spec:
    type: object
    properties:
      replicas: {type: integer, format: int32, minimum: 0, maximum: 100, default: 1}
      color: {type: string, enum: [red, green, blue]}
      title: {type: string, maxLength: 20, pattern: "^[a-z]*$"}
      tags: {type: array, items: {type: string}, x-kubernetes-list-type: set}
      ports:
        type: array
        x-kubernetes-list-type: map
        x-kubernetes-list-map-keys: [name]
        items:
          type: object
          required: [name]
          properties:
            name: {type: string}
            port: {type: integer}
      note: {type: string, nullable: true}
      anything: {type: object, x-kubernetes-preserve-unknown-fields: true}
      selector: {type: string}
  status:
    type: object
    properties:
      replicas: {type: integer}
      phase: {type: string, enum: [New, Ready, Failed]}
      selector: {type: string}
      observedGeneration: {type: integer, format: int64}
`

const looseSchema = `{type: object, x-kubernetes-preserve-unknown-fields: true}`

// CRDs are fresh objects on every call: envtest and the model both keep what they are given.
func CRDs() []*apiextensionsv1.CustomResourceDefinition {
	widget := crd("Widget", "widgets", apiextensionsv1.NamespaceScoped, widgetSchema)
	widget.Spec.Names.ShortNames = []string{"wd"}
	widget.Spec.Names.Categories = []string{"all"}
	selector := ".status.selector"
	widget.Spec.Versions[0].Subresources = &apiextensionsv1.CustomResourceSubresources{
		Status: &apiextensionsv1.CustomResourceSubresourceStatus{},
		Scale: &apiextensionsv1.CustomResourceSubresourceScale{
			SpecReplicasPath: ".spec.replicas", StatusReplicasPath: ".status.replicas", LabelSelectorPath: &selector,
		},
	}
	widget.Spec.Versions[0].SelectableFields = []apiextensionsv1.SelectableField{{JSONPath: ".spec.color"}}
	widget.Spec.Versions[0].AdditionalPrinterColumns = []apiextensionsv1.CustomResourceColumnDefinition{
		{Name: "Color", Type: "string", JSONPath: ".spec.color"},
	}
	return []*apiextensionsv1.CustomResourceDefinition{
		widget,
		crd("Gadget", "gadgets", apiextensionsv1.NamespaceScoped, looseSchema),
		crd("Realm", "realms", apiextensionsv1.ClusterScoped, looseSchema),
	}
}

func crd(kind, plural string, scope apiextensionsv1.ResourceScope,
	schema string) *apiextensionsv1.CustomResourceDefinition {
	props := &apiextensionsv1.JSONSchemaProps{}
	if err := yaml.Unmarshal([]byte(schema), props); err != nil {
		panic("conformance: the schema of " + kind + " is not YAML: " + err.Error())
	}
	c := &apiextensionsv1.CustomResourceDefinition{}
	c.APIVersion, c.Kind = "apiextensions.k8s.io/v1", "CustomResourceDefinition"
	c.Name = plural + "." + crdGroup
	c.Spec.Group = crdGroup
	c.Spec.Scope = scope
	c.Spec.Names = apiextensionsv1.CustomResourceDefinitionNames{
		Plural: plural, Singular: plural[:len(plural)-1], Kind: kind, ListKind: kind + "List",
	}
	c.Spec.Versions = []apiextensionsv1.CustomResourceDefinitionVersion{{
		Name: "v1", Served: true, Storage: true,
		Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: props},
	}}
	return c
}
