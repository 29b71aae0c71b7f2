//go:build conformance

package conformance

// Random types: schemas in three stages of richness, in which rules of schemas are combined as in
// no row.

import (
	"encoding/json"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/utils/ptr"
	"pgregory.net/rapid"
)

type props = apiextensionsv1.JSONSchemaProps

// The stages: the types of JSON and their bounds; what Kubernetes adds to them, with defaults;
// rules that look at the old object, and resources within resources.
const (
	stagePlain = iota
	stageRich
	stageRuled
)

// shapes are what a property may be, by the stage from which on it is drawn.
var shapes = [][]string{
	{"string", "integer", "boolean", "number", "object", "strings"},
	{"enum", "pattern", "time", "dictionary", "whole", "set", "map", "either", "kept", "list", "one of"},
	{"embedded", "map", "object", "integer", "string"},
}

// bounded is how long anything may be that a rule is evaluated for: the cost of rules is estimated
// when a definition is made.
const bounded = 6

// drawer draws one schema.
type drawer struct {
	t     *rapid.T
	stage int
}

func (d drawer) maybe(label string) bool { return rapid.Bool().Draw(d.t, label) }

func (d drawer) seldom(label string) bool { return rapid.IntRange(0, 4).Draw(d.t, label) == 4 }

// object draws properties. In atomic lists and sets an old value cannot be found, and rules that
// ask for it are refused.
func (d drawer) object(depth int, old bool) props {
	p := props{Type: "object", Properties: map[string]props{}}
	names := []string{"a", "b", "c", "d", "e"}[:rapid.IntRange(1, 5).Draw(d.t, "properties")]
	for _, name := range names {
		p.Properties[name] = d.property(depth-1, old)
	}
	if d.seldom("required") {
		p.Required = names[:1]
	}
	return d.ruled(p, old)
}

func (d drawer) property(depth int, old bool) props {
	shape := oneOf(d.t, "shape", slices.Concat(shapes[:d.stage+1]...)...)
	if depth < 1 && slices.Contains([]string{"object", "map", "list", "one of"}, shape) {
		shape = "string"
	}
	p := d.ruled(d.shaped(shape, depth, old), old)
	if d.stage >= stageRich && shape != "embedded" && shape != "kept" {
		p.Nullable = d.seldom("nullable")
		if d.seldom("default") {
			raw, err := json.Marshal(sound(d.t, &p))
			if err != nil {
				panic(err)
			}
			p.Default = &apiextensionsv1.JSON{Raw: raw}
		}
	}
	return p
}

func (d drawer) shaped(shape string, depth int, old bool) props {
	items := func(p props) *apiextensionsv1.JSONSchemaPropsOrArray {
		return &apiextensionsv1.JSONSchemaPropsOrArray{Schema: &p}
	}
	text := props{Type: "string", MaxLength: ptr.To[int64](bounded)}
	switch shape {
	case "integer":
		p := props{Type: "integer", Format: oneOf(d.t, "format", "", "int32", "int64")}
		if d.maybe("bound") {
			p.Minimum, p.Maximum = ptr.To(0.0), ptr.To(9.0)
		}
		return p
	case "number":
		return props{Type: "number", MultipleOf: oneOfAny(d.t, "multiple of", nil, ptr.To(0.5))}
	case "boolean":
		return props{Type: "boolean"}
	case "object":
		return d.object(depth, old)
	case "strings":
		return props{Type: "array", Items: items(text), MaxItems: ptr.To[int64](bounded),
			MinItems: oneOfAny(d.t, "at least", nil, ptr.To[int64](1))}
	case "enum":
		return props{Type: "string",
			Enum: []apiextensionsv1.JSON{{Raw: []byte(`"x"`)}, {Raw: []byte(`"y"`)}, {Raw: []byte(`"z"`)}}}
	case "pattern":
		return props{Type: "string", Pattern: "^[x-z]*$", MaxLength: ptr.To[int64](bounded)}
	case "time":
		return props{Type: "string", Format: oneOf(d.t, "format", "date-time", "date", "duration", "byte")}
	case "dictionary", "whole":
		p := props{Type: "object", AdditionalProperties: &apiextensionsv1.JSONSchemaPropsOrBool{Schema: &text},
			MaxProperties: ptr.To[int64](bounded)}
		if shape == "whole" {
			p.XMapType = ptr.To("atomic")
		}
		return p
	case "set":
		return props{Type: "array", XListType: ptr.To("set"), Items: items(text), MaxItems: ptr.To[int64](bounded)}
	case "list":
		return props{Type: "array", XListType: ptr.To("atomic"), Items: items(d.object(depth, false)),
			MaxItems: ptr.To[int64](bounded)}
	case "map":
		return d.listMap(depth, old)
	case "either":
		return props{XIntOrString: true}
	case "kept":
		return props{Type: "object", XPreserveUnknownFields: ptr.To(true), Properties: map[string]props{"a": text}}
	case "embedded":
		return props{Type: "object", XEmbeddedResource: true, XPreserveUnknownFields: ptr.To(true)}
	case "one of":
		return props{Type: "object", Properties: map[string]props{"a": text, "b": text},
			OneOf: []props{{Required: []string{"a"}}, {Required: []string{"b"}}}}
	}
	if d.maybe("at least") {
		text.MinLength = ptr.To[int64](1)
	}
	return text
}

// listMap draws a list whose items are told apart by one key or by two, of which the second has a
// default.
func (d drawer) listMap(depth int, old bool) props {
	item := d.object(depth, old)
	item.Properties["key"] = props{Type: "string", MaxLength: ptr.To[int64](bounded)}
	item.Required = []string{"key"}
	keys := []string{"key"}
	if d.maybe("two keys") {
		item.Properties["port"] = props{Type: "integer", Default: &apiextensionsv1.JSON{Raw: []byte("1")}}
		keys = append(keys, "port")
	}
	return props{
		Type: "array", XListType: ptr.To("map"), XListMapKeys: keys, MaxItems: ptr.To[int64](bounded),
		Items: &apiextensionsv1.JSONSchemaPropsOrArray{Schema: &item},
	}
}

// ruled adds a rule to what has one in the last stage.
func (d drawer) ruled(p props, old bool) props {
	if d.stage < stageRuled || !d.seldom("ruled") || p.XIntOrString || p.XEmbeddedResource {
		return p
	}
	now, then := map[string][]string{
		"string":  {"self != 'x'", "size(self) < 3", "self.matches('^[a-z]*$')"},
		"integer": {"self != 3", "self % 2 == 0"},
		"number":  {"self < 2.0"},
		"boolean": {"self"},
		"array":   {"size(self) != 2"},
		"object":  {"size(self) != 3"},
	}[p.Type], map[string][]string{
		"string":  {"self == oldSelf", "oldSelf != 'y' || self == 'y'"},
		"integer": {"self >= oldSelf", "self == oldSelf"},
		"number":  {"self >= oldSelf"},
		"boolean": {"self || !oldSelf"},
		"array":   {"size(self) >= size(oldSelf)", "self == oldSelf"},
		"object":  {"size(self) >= size(oldSelf)"},
	}[p.Type]
	if p.Type == "object" && p.AdditionalProperties == nil {
		now, then = nil, nil // whose size a rule cannot ask for
		if _, ok := p.Properties["a"]; ok {
			now, then = []string{"!has(self.b) || has(self.a)"}, []string{"!has(oldSelf.a) || has(self.a)"}
			if _, ok := p.Properties["b"]; !ok {
				now = []string{"has(self.a)"}
			}
		}
	}
	if old {
		now = append(now, then...)
	}
	if len(now) == 0 {
		return p
	}
	rule := apiextensionsv1.ValidationRule{Rule: oneOf(d.t, "rule", now...),
		Message: oneOf(d.t, "message", "", "a rule is broken")}
	if strings.Contains(rule.Rule, "oldSelf") && d.seldom("from the first on") {
		rule.OptionalOldSelf = ptr.To(true)
		rule.Rule = "!oldSelf.hasValue() || (" + strings.ReplaceAll(rule.Rule, "oldSelf", "oldSelf.value()") + ")"
	}
	if d.seldom("reason") {
		rule.Reason = ptr.To(apiextensionsv1.FieldValueForbidden)
	}
	if p.Type == "string" && d.seldom("words") {
		rule.MessageExpression = "'it was said ' + self"
	}
	p.XValidations = append(p.XValidations, rule)
	return p
}

func oneOfAny[T any](t *rapid.T, label string, values ...T) T {
	return rapid.SampledFrom(values).Draw(t, label)
}
