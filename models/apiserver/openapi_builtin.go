package apiserver

import (
	"reflect"
	"slices"
	"strings"

	"k8s.io/kube-openapi/pkg/validation/spec"
	"sigs.k8s.io/structured-merge-diff/v6/schema"

	"github.com/wavetank/wavetank/models/apiserver/internal/object"
	"github.com/wavetank/wavetank/models/apiserver/internal/registry"
)

// Schemas of built-in types. The document that a real server publishes is generated from the Go
// sources, comments and all, inside the Kubernetes tree. The modules that clients use ship its
// parts, and they are put together here:
//
//   - the Go types: names, types, patch strategies;
//   - their documentation (SwaggerDoc);
//   - the schemas of apply configurations: which lists are sets or maps, what is taken as a whole,
//     defaults.
//
// Enumerations, unions and the schemas of lists are in none of them and are not published. A field
// without omitempty is said to be required, though comments say of some thirty that it may be left
// out.

// What generated code says about a Go type.
type (
	modelNamer interface{ OpenAPIModelName() string }
	documented interface{ SwaggerDoc() map[string]string }
	ofType     interface {
		OpenAPISchemaType() []string
		OpenAPISchemaFormat() string
	}
	ofTypes interface{ OpenAPIV3OneOfTypes() []string }
)

// describer gathers the schemas of Go types and of what they are made of.
type describer struct {
	reference string // what comes before a name
	merging   *schema.Schema
	out       map[string]*spec.Schema
}

// describeVersion adds the schema of a built-in type under the name that it has in documents.
func (d *describer) describeVersion(v *object.Version) {
	object := v.New()
	object.GetObjectKind().SetGroupVersionKind(v.GVK())
	if types, err := v.Type.Types(); err == nil {
		if typed, err := types.ObjectToTyped(object); err == nil {
			d.merging = typed.Schema()
		}
	}
	d.of(reflect.TypeOf(object))
}

// nameKinds says which of the schemas are kinds of their own; some are also parts of others.
func (d *describer) nameKinds() {
	for _, k := range registry.Builtins().Order {
		for _, v := range k.Versions {
			if s := d.out[schemaName(v)]; s != nil {
				s.AddExtension("x-kubernetes-group-version-kind",
					[]any{map[string]any{"group": k.Group, "version": v.Name, "kind": k.Kind}})
			}
		}
	}
}

// of is the schema of a value of the type; named types are referred to.
func (d *describer) of(t reflect.Type) *spec.Schema {
	if t.Kind() == reflect.Pointer {
		return d.of(t.Elem())
	}
	if named, ok := reflect.New(t).Interface().(modelNamer); ok {
		name := named.OpenAPIModelName()
		if d.out[name] == nil {
			s := &spec.Schema{}
			d.out[name] = s
			d.define(s, name, t)
		}
		return spec.RefSchema(d.reference + name)
	}
	switch t.Kind() {
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return spec.StrFmtProperty("byte")
		}
		return spec.ArrayProperty(d.of(t.Elem()))
	case reflect.Map:
		return spec.MapProperty(d.of(t.Elem()))
	case reflect.Bool:
		return spec.BooleanProperty()
	case reflect.Int64:
		return spec.Int64Property()
	case reflect.Int, reflect.Int32, reflect.Uint32:
		return spec.Int32Property()
	case reflect.Float64:
		return spec.Float64Property()
	case reflect.String:
		return spec.StringProperty()
	}
	return &spec.Schema{SchemaProps: spec.SchemaProps{Type: []string{"object"}}}
}

// define fills the schema of a named type.
func (d *describer) define(s *spec.Schema, name string, t reflect.Type) {
	value, docs := reflect.New(t).Interface(), map[string]string(nil)
	if v, ok := value.(documented); ok {
		docs = v.SwaggerDoc()
	}
	s.Description = docs[""]
	if v, ok := value.(ofType); ok {
		s.Type, s.Format = v.OpenAPISchemaType(), v.OpenAPISchemaFormat()
		if several, ok := value.(ofTypes); ok {
			s.Type = nil
			for _, one := range several.OpenAPIV3OneOfTypes() {
				s.OneOf = append(s.OneOf, spec.Schema{SchemaProps: spec.SchemaProps{Type: []string{one}}})
			}
		}
		return
	}
	s.Type = []string{"object"}
	if t.Kind() != reflect.Struct {
		plain := d.ofUnnamed(t)
		s.Type, s.AdditionalProperties, s.Items, s.Format = plain.Type, plain.AdditionalProperties, plain.Items,
			plain.Format
		return
	}
	var merging *schema.Map
	if d.merging != nil {
		if def, ok := d.merging.FindNamedType(name); ok {
			merging = def.Map
		}
	}
	if merging != nil && merging.ElementRelationship == schema.Atomic && len(merging.Fields) > 0 {
		s.AddExtension("x-kubernetes-map-type", "atomic")
	}
	d.fields(s, t, docs, merging)
}

// ofUnnamed is the schema of a named type's underlying one.
func (d *describer) ofUnnamed(t reflect.Type) *spec.Schema {
	switch t.Kind() {
	case reflect.Map:
		return spec.MapProperty(d.of(t.Elem()))
	case reflect.Slice:
		return spec.ArrayProperty(d.of(t.Elem()))
	}
	return spec.StringProperty()
}

func (d *describer) fields(s *spec.Schema, t reflect.Type, docs map[string]string, merging *schema.Map) {
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "-" || !f.IsExported() {
			continue
		}
		if name == "" && f.Anonymous {
			inner := docs
			if v, ok := reflect.New(f.Type).Interface().(documented); ok {
				inner = v.SwaggerDoc()
			}
			d.fields(s, f.Type, inner, merging)
			continue
		}
		p := *d.of(f.Type)
		if p.Ref.String() != "" {
			p = spec.Schema{SchemaProps: spec.SchemaProps{AllOf: []spec.Schema{p}}}
			if f.Type.Kind() == reflect.Struct {
				p.Default = map[string]any{}
			}
		}
		p.Description = docs[name]
		for tag, extension := range map[string]string{"patchStrategy": "x-kubernetes-patch-strategy",
			"patchMergeKey": "x-kubernetes-patch-merge-key"} {
			if value := f.Tag.Get(tag); value != "" {
				p.AddExtension(extension, value)
			}
		}
		if merging != nil {
			if field, ok := merging.FindField(name); ok {
				markMerging(&p, field)
			}
		}
		s.SetProperty(name, p)
		if parts := strings.Split(options, ","); !slices.Contains(parts, "omitempty") &&
			!slices.Contains(parts, "omitzero") {
			s.Required = append(s.Required, name)
		}
	}
}

// markMerging says how the values of a field are merged by an apply.
func markMerging(p *spec.Schema, field schema.StructField) {
	if p.Default == nil && field.Default != nil {
		p.Default = field.Default
	}
	if list := field.Type.Inlined.List; list != nil {
		switch {
		case list.ElementRelationship != schema.Associative:
			p.AddExtension("x-kubernetes-list-type", "atomic")
		case len(list.Keys) == 0:
			p.AddExtension("x-kubernetes-list-type", "set")
		default:
			p.AddExtension("x-kubernetes-list-type", "map")
			keys := make([]any, len(list.Keys))
			for i, key := range list.Keys {
				keys[i] = key
			}
			p.AddExtension("x-kubernetes-list-map-keys", keys)
		}
	}
	if m := field.Type.Inlined.Map; m != nil && m.ElementRelationship == schema.Atomic {
		p.AddExtension("x-kubernetes-map-type", "atomic")
	}
}

// schemaName is a type's name in a document: for custom types the group backwards, the version and
// the kind.
func schemaName(v *object.Version) string {
	if v.New != nil {
		if named, ok := v.New().(modelNamer); ok {
			return named.OpenAPIModelName()
		}
	}
	parts := strings.Split(v.Type.Group, ".")
	slices.Reverse(parts)
	return strings.TrimPrefix(strings.Join(append(parts, v.Name, v.Type.Kind), "."), ".")
}
