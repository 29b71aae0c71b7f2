package object

import (
	"fmt"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"
	"pgregory.net/rapid"
)

type props = apiextensionsv1.JSONSchemaProps

var fieldNames = []string{"a", "b", "c"}

// drawSchema draws a schema. Constraints that only the library knows are among the leaves.
func drawSchema(t *rapid.T, depth int) props {
	s := props{Nullable: rapid.IntRange(0, 4).Draw(t, "nullable") == 0}
	kinds := []string{"string", "string", "integer", "boolean", "number", "either", "object", "object", "array", "map"}
	if depth == 0 {
		kinds = kinds[:6]
	}
	kind := rapid.SampledFrom(kinds).Draw(t, "kind")
	s.Type = kind
	switch kind {
	case "string":
		drawText(t, &s)
	case "integer":
		s.Format = rapid.SampledFrom([]string{"", "", "int32", "int64"}).Draw(t, "format")
		if rapid.Bool().Draw(t, "bounded") {
			s.Minimum = ptr.To(0.0)
		}
	case "either":
		s.Type, s.XIntOrString = "", true
	case "object":
		s.Properties = map[string]props{}
		for _, name := range fieldNames {
			s.Properties[name] = drawSchema(t, depth-1)
			if rapid.IntRange(0, 3).Draw(t, "required") == 0 {
				s.Required = append(s.Required, name)
			}
		}
		if rapid.IntRange(0, 5).Draw(t, "small") == 0 {
			s.MaxProperties = ptr.To[int64](2)
		}
	case "map":
		values := drawSchema(t, depth-1)
		s.Type, s.AdditionalProperties = "object", &apiextensionsv1.JSONSchemaPropsOrBool{Schema: &values, Allows: true}
	case "array":
		items := drawSchema(t, depth-1)
		s.Items = &apiextensionsv1.JSONSchemaPropsOrArray{Schema: &items}
		if rapid.IntRange(0, 3).Draw(t, "short") == 0 {
			s.MaxItems = ptr.To[int64](1)
		}
	}
	return s
}

func drawText(t *rapid.T, s *props) {
	texts := []string{"", "", "date-time", "uuid", "unknown", "enum", "pattern", "long"}
	switch rapid.SampledFrom(texts).Draw(t, "text") {
	case "date-time":
		s.Format = "date-time"
	case "uuid":
		s.Format = "uuid"
	case "unknown":
		s.Format = "nobody-knows"
	case "enum":
		s.Enum = []apiextensionsv1.JSON{{Raw: []byte(`"x"`)}, {Raw: []byte(`"2000-01-01T00:00:00Z"`)}}
	case "pattern":
		s.Pattern = "^x"
	case "long":
		s.MinLength = ptr.To[int64](2)
	}
}

// drawValue draws a value that mostly fits a schema.
func drawValue(t *rapid.T, s *props) any {
	kind := s.Type
	if rapid.IntRange(0, 15).Draw(t, "other") == 0 {
		kinds := []string{"null", "string", "integer", "boolean", "number", "object", "array"}
		kind = rapid.SampledFrom(kinds).Draw(t, "as")
	}
	switch kind {
	case "null":
		return nil
	case "boolean":
		return rapid.Bool().Draw(t, "value")
	case "integer":
		return rapid.SampledFrom([]int64{0, 1, -1, 1 << 40}).Draw(t, "value")
	case "number":
		return rapid.SampledFrom([]any{0.5, int64(2), 3.0}).Draw(t, "value")
	case "array":
		list := []any{}
		for range rapid.IntRange(0, 2).Draw(t, "size") {
			if s.Items != nil {
				list = append(list, drawValue(t, s.Items.Schema))
			}
		}
		return list
	case "object":
		return drawObject(t, s)
	}
	return rapid.SampledFrom([]string{"", "x", "xx", "2000-01-01T00:00:00Z", "y"}).Draw(t, "value")
}

func drawObject(t *rapid.T, s *props) map[string]any {
	object := map[string]any{}
	for _, name := range fieldNames {
		if rapid.IntRange(0, 4).Draw(t, "absent") == 0 {
			continue
		}
		if of, ok := s.Properties[name]; ok {
			object[name] = drawValue(t, &of)
		} else if s.AdditionalProperties != nil {
			object[name] = drawValue(t, s.AdditionalProperties.Schema)
		}
	}
	return object
}

// change draws another value in place of some parts of one.
func change(t *rapid.T, s *props, value any) any {
	object, ok := value.(map[string]any)
	if !ok || rapid.IntRange(0, 3).Draw(t, "anew") == 0 {
		return drawValue(t, s)
	}
	out := CopyJSON(object).(map[string]any)
	for name, of := range s.Properties {
		if rapid.IntRange(0, 2).Draw(t, "changed") == 0 && out[name] != nil {
			out[name] = change(t, &of, out[name])
		}
	}
	return out
}

// An update is answered as the library would answer after validating the whole object, with its
// ratcheting, for valid and invalid objects and predecessors.
func TestUpdatesAreValidatedAsByTheLibrary(t *testing.T) {
	valid, shaped := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		spec := drawSchema(t, 2)
		status := drawSchema(t, 2)
		s := &Schema{HasStatus: true, Source: &apiextensionsv1.CustomResourceValidation{
			OpenAPIV3Schema: &props{Type: "object", Properties: map[string]props{"spec": spec, "status": status}}}}
		if err := s.compile(); err != nil {
			t.Fatal(err)
		}
		old := map[string]any{"spec": drawValue(t, &spec), "status": drawValue(t, &status)}
		content := map[string]any{"spec": change(t, &spec, old["spec"]), "status": change(t, &status, old["status"])}
		if got, want := s.Validate(nil, old, nil), sortErrors(validation.ValidateCustomResource(nil, old,
			s.validator)); !sameErrors(got, want) {
			t.Fatalf("%v of the new object %v, want %v", got, old, want)
		}
		for _, part := range []bool{false, true} {
			value, was, path, validator, at := any(content), any(old), (*field.Path)(nil), s.validator,
				s.correlate(content, old)
			if part {
				value, was, path, validator, at = content["status"], old["status"], field.NewPath("status"), s.status,
					at.Key("status")
			}
			want := sortErrors(validation.ValidateCustomResourceUpdate(path, value, was, validator,
				validation.WithRatcheting(at)))
			if got := s.schemaErrors(content, old, part); !sameErrors(got, want) {
				t.Fatalf("%v of %v over %v, want %v", got, content, old, want)
			}
			if len(want) == 0 && !part {
				valid++
				if s.whole.fits(content) {
					shaped++
				}
			}
		}
	})
	if shaped*2 < valid || shaped == 0 {
		t.Errorf("of %d valid objects %d were recognized", valid, shaped)
	}
}

func sameErrors(a, b field.ErrorList) bool { return fmt.Sprint(a) == fmt.Sprint(b) }
