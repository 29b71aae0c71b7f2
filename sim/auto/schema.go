package auto

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// props is the OpenAPI schema of a part of an object.
type props = apiextensionsv1.JSONSchemaProps

// variants is how many values are drawn from for a field.
const variants = 4

// How far fields are looked for.
const (
	deepest    = 7
	mostFields = 200
)

// field is a place in an object to which users write. Its schema is nil where only a sample says
// what the field looks like.
type field struct {
	path   []string // "[]" is the first element of a list
	schema *props
	sample any
	secret bool // the value is in base64
}

// String is the field's path as people write it.
func (f field) String() string {
	return strings.ReplaceAll(strings.Join(f.path, "."), ".[]", "[]")
}

// fieldsOf are the fields of a kind that users write: all but the metadata and the status.
func fieldsOf(s *props) []field {
	var out []field
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		if slices.Contains([]string{"apiVersion", "kind", "metadata", "status"}, name) {
			continue
		}
		p := s.Properties[name]
		out = below([]string{name}, &p, out)
	}
	return out
}

func below(path []string, s *props, out []field) []field {
	if len(path) > deepest || len(out) >= mostFields {
		return out
	}
	switch {
	case len(s.Properties) > 0:
		for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
			p := s.Properties[name]
			out = below(append(slices.Clone(path), name), &p, out)
		}
		return out
	case s.Type == "array" && s.Items != nil && s.Items.Schema != nil && len(s.Items.Schema.Properties) > 0:
		out = append(out, field{path: path, schema: s})
		return below(append(slices.Clone(path), "[]"), s.Items.Schema, out)
	}
	return append(out, field{path: path, schema: s})
}

// fieldsIn are the fields of an object of which there is no schema: the leaves of a sample.
func fieldsIn(path []string, v any, out []field) []field {
	switch v := v.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			root := len(path) == 0 && slices.Contains([]string{"metadata", "status", "type"}, name)
			if root || name == "apiVersion" || name == "kind" {
				continue
			}
			out = fieldsIn(append(slices.Clone(path), name), v[name], out)
		}
		return out
	case []any:
		return out // which element is which only the schema says
	}
	return append(out, field{path: path, sample: v})
}

// value is one of the [variants] values that a user gives the field.
func (f field) value(variant int) any {
	if f.schema == nil {
		return another(f.sample, f.secret, variant)
	}
	return valueOf(f.path[len(f.path)-1], f.schema, variant)
}

// another is a value of the same type as a sample's.
func another(sample any, secret bool, variant int) any {
	switch v := sample.(type) {
	case bool:
		return !v
	case int64:
		return v + int64(variant) + 1
	case float64:
		return v + float64(variant) + 1
	case string:
		text := []string{"1", "2", "other", "x"}[variant]
		if variant < variants-1 && isCertificate(v, secret) {
			text = otherCertificates[variant%len(otherCertificates)]
		}
		if secret {
			text = base64.StdEncoding.EncodeToString([]byte(text))
		}
		return text
	}
	return sample
}

// valueOf is a value that the schema allows, as far as it says so itself. The server judges the
// rest: what it refuses is not used.
func valueOf(name string, s *props, variant int) any {
	if len(s.Enum) > 0 {
		var v any
		if json.Unmarshal(s.Enum[variant%len(s.Enum)].Raw, &v) == nil {
			return integral(v)
		}
	}
	switch {
	case s.XEmbeddedResource:
		return map[string]any{"apiVersion": "v1", "kind": "ConfigMap",
			"metadata": map[string]any{"name": names[variant%len(names)]}}
	case s.XIntOrString:
		return int64(variant + 1)
	}
	switch s.Type {
	case "boolean":
		return variant%2 == 0
	case "integer":
		return numberOf(s, variant)
	case "number":
		return float64(numberOf(s, variant))
	case "string":
		return stringOf(name, s, variant)
	case "array":
		return listOf(name, s, variant)
	case "object":
		return mapOf(s, variant)
	}
	return map[string]any{}
}

// integral gives a whole number from JSON the type that objects have it in.
func integral(v any) any {
	if n, ok := v.(float64); ok && n == float64(int64(n)) {
		return int64(n)
	}
	return v
}

// numberOf is a number within the schema's bounds: small ones first, then the bounds themselves.
func numberOf(s *props, variant int) int64 {
	low, high := int64(-1<<31), int64(1<<31-1)
	if s.Minimum != nil {
		low = int64(*s.Minimum)
		if s.ExclusiveMinimum {
			low++
		}
	}
	if s.Maximum != nil {
		high = int64(*s.Maximum)
		if s.ExclusiveMaximum {
			high--
		}
	}
	candidates := []int64{1, 2, 3, 0}
	if s.Minimum != nil {
		candidates = append(candidates, low)
	}
	if s.Maximum != nil && high < 1000 {
		candidates = append(candidates, high)
	}
	if s.MultipleOf != nil && *s.MultipleOf >= 1 {
		for i := range candidates {
			candidates[i] *= int64(*s.MultipleOf)
		}
	}
	allowed := slices.DeleteFunc(candidates, func(n int64) bool { return n < low || n > high })
	if len(allowed) == 0 {
		return low
	}
	return allowed[variant%len(allowed)]
}

// names are what drawn objects are called, and what drawn fields name.
var names = []string{"a", "b"}

func stringOf(name string, s *props, variant int) string {
	lower := strings.ToLower(name)
	ends := func(suffixes ...string) bool {
		return slices.ContainsFunc(suffixes, func(suffix string) bool { return strings.HasSuffix(lower, suffix) })
	}
	switch {
	case s.Format == "date-time":
		return fmt.Sprintf("2026-01-0%dT00:00:00Z", variant+1)
	case s.Format == "duration", s.Pattern == "" && ends("interval", "timeout", "period", "duration", "ttl", "delay"):
		return []string{"30s", "1m", "10s", "5m"}[variant]
	case s.Pattern != "":
		if text, ok := fromPattern(s.Pattern, variant); ok {
			return text
		}
	case ends("schedule"):
		return []string{"*/1 * * * *", "*/5 * * * *"}[variant%2]
	case ends("image"):
		return fmt.Sprintf("example.com/app:%d", variant+1)
	}
	text := append(slices.Clone(names), "c", "d")[variant]
	if s.MinLength != nil && int64(len(text)) < *s.MinLength {
		text = strings.Repeat(text, int(min(*s.MinLength, 1000)))
	}
	return text
}

// listOf is a list of the least length, of one element more, and so on. The elements differ.
func listOf(name string, s *props, variant int) []any {
	least := int64(0)
	if s.MinItems != nil {
		least = min(*s.MinItems, 10)
	}
	length := least + int64(variant%3)
	if s.MaxItems != nil {
		length = min(length, *s.MaxItems)
	}
	out := []any{}
	if s.Items == nil || s.Items.Schema == nil {
		return out
	}
	for i := range int(length) {
		out = append(out, valueOf(name, s.Items.Schema, i%variants))
	}
	return out
}

// mapOf is an object with its required fields and, in every other variant, those that have no
// fields of their own.
func mapOf(s *props, variant int) map[string]any {
	out := map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		p := s.Properties[name]
		if slices.Contains(s.Required, name) || variant%2 == 1 && simple(&p) {
			out[name] = valueOf(name, &p, variant)
		}
	}
	if a := s.AdditionalProperties; a != nil && a.Schema != nil && variant > 0 {
		for _, name := range names[:min(variant, len(names))] {
			out[name] = valueOf(name, a.Schema, variant)
		}
	}
	return out
}

func simple(s *props) bool {
	return s.Type == "string" || s.Type == "boolean" || s.Type == "integer" || len(s.Enum) > 0
}

// put writes a value into an object. Parents that are missing get their required fields. A nil
// value takes the field away.
func (f field) put(root *props, object map[string]any, value any) {
	at, s := object, root
	for i, name := range f.path {
		if i == len(f.path)-1 {
			if value == nil {
				delete(at, name)
			} else {
				at[name] = value
			}
			return
		}
		s = child(s, name)
		var inner map[string]any
		if f.path[i+1] == "[]" {
			list, _ := at[name].([]any)
			s = child(s, "[]")
			if len(list) == 0 {
				list = []any{required(s)}
			}
			at[name] = list
			if i+2 == len(f.path) {
				return
			}
			inner, _ = list[0].(map[string]any)
			if at = inner; at == nil {
				return
			}
			rest := field{path: f.path[i+2:], schema: f.schema, sample: f.sample}
			rest.put(s, at, value)
			return
		}
		if inner, _ = at[name].(map[string]any); inner == nil {
			if value == nil {
				return
			}
			inner = required(s)
			at[name] = inner
		}
		at = inner
	}
}

// get is the value of the field, nil if there is none.
func (f field) get(object map[string]any) any {
	var at any = object
	for _, name := range f.path {
		switch v := at.(type) {
		case map[string]any:
			at = v[name]
		case []any:
			if len(v) == 0 {
				return nil
			}
			at = v[0]
		default:
			return nil
		}
	}
	return at
}

func child(s *props, name string) *props {
	switch {
	case s == nil:
		return nil
	case name == "[]":
		if s.Items == nil {
			return nil
		}
		return s.Items.Schema
	}
	if p, ok := s.Properties[name]; ok {
		return &p
	}
	return nil
}

// required is an object with its required fields.
func required(s *props) map[string]any {
	if s == nil {
		return map[string]any{}
	}
	return mapOf(s, 0)
}
