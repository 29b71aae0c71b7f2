package object

// How the objects of a custom type become typed values: from the schema in its definition, as
// apiextensions-apiserver's pkg/controller/openapi/builder puts it into an OpenAPI document. Only
// what ownership needs of that document is made here, because the builder weighs as much as the
// rest of the model's dependencies together.

import (
	structural "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

// customTypes are the types of all versions of a custom type.
func (t *Type) customTypes() (managedfields.TypeConverter, error) {
	document := MetaSchemas()
	for _, v := range t.Versions {
		document[v.APIVersion()+"."+t.Kind] = v.OpenAPI()
	}
	return managedfields.NewTypeConverter(document, t.Storage.Schema.Preserve)
}

// OpenAPI is the schema of a version with what every object has.
func (v *Version) OpenAPI() *spec.Schema {
	out := &spec.Schema{SchemaProps: spec.SchemaProps{Type: []string{"object"}}}
	if v.Schema.compile() == nil && v.Schema.structural != nil &&
		len(structural.ValidateStructural(nil, v.Schema.structural)) == 0 {
		out = v.Schema.structural.Unfold().ToKubeOpenAPI()
		out.SetProperty("metadata", *spec.RefSchema(objectMetaRef))
		out.SetProperty("apiVersion", *spec.StringProperty())
		out.SetProperty("kind", *spec.StringProperty())
		addEmbedded(out)
	}
	out.AddExtension("x-kubernetes-group-version-kind", []any{
		map[string]any{"group": v.Type.Group, "version": v.Name, "kind": v.Type.Kind},
	})
	return out
}

// addEmbedded gives embedded resources the metadata that every object has.
func addEmbedded(s *spec.Schema) {
	for name := range s.Properties {
		p := s.Properties[name]
		addEmbedded(&p)
		s.Properties[name] = p
	}
	if s.Items != nil && s.Items.Schema != nil {
		addEmbedded(s.Items.Schema)
	}
	if s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil {
		addEmbedded(s.AdditionalProperties.Schema)
	}
	if embedded, _ := s.Extensions.GetBool("x-kubernetes-embedded-resource"); embedded {
		s.SetProperty("metadata", *spec.RefSchema(objectMetaRef))
		s.SetProperty("apiVersion", *spec.StringProperty())
		s.SetProperty("kind", *spec.StringProperty())
	}
}

const (
	objectMetaName = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"
	objectMetaRef  = SchemaReference + objectMetaName
	// SchemaReference is where the schemas of an OpenAPI document lie in it.
	SchemaReference = "#/components/schemas/"
)

// MetaSchemas describe metadata as far as merging and ownership look at it: which lists are sets or
// maps, and what is taken as a whole (the markers on apimachinery's pkg/apis/meta/v1/types.go).
func MetaSchemas() map[string]*spec.Schema {
	object := &spec.Schema{SchemaProps: spec.SchemaProps{Type: []string{"object"}}}
	for _, name := range []string{"name", "generateName", "namespace", "selfLink", "uid", "resourceVersion"} {
		object.SetProperty(name, *spec.StringProperty())
	}
	for _, name := range []string{"generation", "deletionGracePeriodSeconds"} {
		object.SetProperty(name, *spec.Int64Property())
	}
	for _, name := range []string{"creationTimestamp", "deletionTimestamp"} {
		object.SetProperty(name, *spec.DateTimeProperty())
	}
	for _, name := range []string{"labels", "annotations"} {
		object.SetProperty(name, *spec.MapProperty(spec.StringProperty()))
	}
	finalizers := spec.ArrayProperty(spec.StringProperty())
	finalizers.AddExtension("x-kubernetes-list-type", "set")
	object.SetProperty("finalizers", *finalizers)

	owner := &spec.Schema{SchemaProps: spec.SchemaProps{Type: []string{"object"}}}
	for _, name := range []string{"apiVersion", "kind", "name", "uid"} {
		owner.SetProperty(name, *spec.StringProperty().WithDefault(""))
	}
	for _, name := range []string{"controller", "blockOwnerDeletion"} {
		owner.SetProperty(name, *spec.BooleanProperty())
	}
	owner.AddExtension("x-kubernetes-map-type", "atomic")
	owners := spec.ArrayProperty(owner)
	owners.AddExtension("x-kubernetes-list-type", "map")
	owners.AddExtension("x-kubernetes-list-map-keys", []any{"uid"})
	object.SetProperty("ownerReferences", *owners)

	entry := &spec.Schema{SchemaProps: spec.SchemaProps{Type: []string{"object"}}}
	entry.AddExtension("x-kubernetes-preserve-unknown-fields", true)
	entries := spec.ArrayProperty(entry)
	entries.AddExtension("x-kubernetes-list-type", "atomic")
	object.SetProperty("managedFields", *entries)
	return map[string]*spec.Schema{objectMetaName: object}
}
