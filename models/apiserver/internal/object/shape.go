package object

// Validation by the library builds eight validators for each value and looks at each property of
// the schema, present or not. A definition of 600 fields and a status of 30 KiB made that a third
// of a run. Nearly all values are valid. A shape recognizes them by types, properties and the
// commonest constraints, and asks the library about values whose schema says more. The library
// alone reports errors.

import (
	"math"
	"reflect"
	"slices"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/kube-openapi/pkg/validation/spec"
	"k8s.io/kube-openapi/pkg/validation/strfmt"
)

// shape is a schema for values that are known to be valid.
type shape struct {
	kind       string // a type of JSON schema; "" if only the library knows
	nullable   bool
	properties map[string]*shape
	required   []string
	values     *shape // of an object, for names that are no property; nil if they may have any value
	items      *shape // of an array; nil if they may be anything
	format     string // of a string or an integer; "" for none
	enum       []any
	library    validation.SchemaValidator
}

// shapeOf makes the shape of a schema, and of nil for a missing schema.
func shapeOf(s *spec.Schema) *shape {
	if s == nil {
		return nil
	}
	out := &shape{nullable: s.Nullable, required: s.Required, format: s.Format, enum: s.Enum}
	if !out.knows(s) {
		return &shape{library: validation.NewSchemaValidatorFromOpenAPI(s)}
	}
	out.kind = s.Type[0]
	if len(s.Properties) > 0 {
		out.properties = make(map[string]*shape, len(s.Properties))
	}
	for name := range s.Properties {
		p := s.Properties[name]
		out.properties[name] = shapeOf(&p)
	}
	if s.AdditionalProperties != nil {
		out.values = shapeOf(s.AdditionalProperties.Schema)
	}
	if s.Items != nil {
		out.items = shapeOf(s.Items.Schema)
	}
	return out
}

// knows reports whether a schema has only constraints that a shape has.
func (s *shape) knows(of *spec.Schema) bool {
	rest := *of
	rest.VendorExtensible = spec.VendorExtensible{} // extensions are checked elsewhere
	rest.Description, rest.Title, rest.Example, rest.ExternalDocs, rest.Default = "", "", nil, nil, nil
	rest.Type, rest.Nullable, rest.Format, rest.Enum = nil, false, "", nil
	rest.Properties, rest.Required, rest.AdditionalProperties, rest.Items = nil, nil, nil, nil
	if len(of.Type) != 1 || !reflect.DeepEqual(rest, spec.Schema{}) {
		return false
	}
	if extra := of.AdditionalProperties; extra != nil && !extra.Allows && extra.Schema == nil {
		return false
	}
	if of.Items != nil && len(of.Items.Schemas) > 0 {
		return false
	}
	switch of.Type[0] {
	case "object", "array", "boolean":
		return of.Format == "" && len(of.Enum) == 0
	case "integer":
		return len(of.Enum) == 0 && slices.Contains([]string{"", "int32", "int64"}, of.Format)
	case "string":
		return !slices.ContainsFunc(of.Enum, func(v any) bool { _, text := v.(string); return !text })
	}
	return false
}

// fits reports whether a value is valid. False means that the library has to be asked.
func (s *shape) fits(value any) bool {
	if s.kind == "" {
		return s.library.Validate(value).IsValid()
	}
	switch value := value.(type) {
	case nil:
		return s.nullable && len(s.enum) == 0
	case bool:
		return s.kind == "boolean"
	case string:
		return s.kind == "string" && s.fitsText(value)
	case int64:
		return s.kind == "integer" && (s.format != "int32" || value >= math.MinInt32 && value <= math.MaxInt32)
	case []any:
		return s.kind == "array" &&
			(s.items == nil || !slices.ContainsFunc(value, func(item any) bool { return !s.items.fits(item) }))
	case map[string]any:
		return s.kind == "object" && s.fitsObject(value)
	}
	return false
}

func (s *shape) fitsText(text string) bool {
	if len(s.enum) > 0 && !slices.Contains(s.enum, any(text)) {
		return false
	}
	return s.format == "" || !strfmt.Default.ContainsName(s.format) || strfmt.Default.Validates(s.format, text)
}

func (s *shape) fitsObject(fields map[string]any) bool {
	for _, name := range s.required {
		if _, has := fields[name]; !has {
			return false
		}
	}
	for name, value := range fields {
		of := s.properties[name]
		if of == nil {
			of = s.values
		}
		if of != nil && !of.fits(value) {
			return false
		}
	}
	return true
}
