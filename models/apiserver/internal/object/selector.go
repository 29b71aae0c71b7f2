package object

import (
	"fmt"
	"strconv"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
)

// Selector decides which objects a list shows or a watch follows.
type Selector struct {
	Labels labels.Selector // nil for all
	Fields fields.Selector // nil for all
	// Prefix and name narrow the keys: to a namespace, to one object.
	Prefix string
	Name   string
	Values func(name string) func(*Object) string
	// Single says that the selector names one object. Such a list is read by its key. So it has one
	// page, and no past unless it asks for that by an exact match
	// (staging/src/k8s.io/apiserver/pkg/registry/generic/registry/store.go, ListPredicate).
	Single bool
}

// FieldValue is how to read a selectable field, nil for fields that cannot be selected by.
func (v *Version) FieldValue(name string) func(*Object) string {
	switch {
	case name == "metadata.name":
		return func(o *Object) string { return o.Meta.Name }
	case name == "metadata.namespace" && (v.Type.Namespaced || v.Fields == nil):
		return func(o *Object) string { return o.Meta.Namespace }
	}
	return v.Fields[name]
}

// UnknownField is the refusal of a field selector, worded as the conversion functions of each group
// word it.
func (v *Version) UnknownField(name string) error {
	if !v.Type.Builtin || v.Fields != nil {
		return apierrors.NewBadRequest(fmt.Sprintf("field label not supported: %s", name))
	}
	return apierrors.NewBadRequest(
		fmt.Sprintf("%q is not a known field selector: only %q, %q", name, "metadata.name", "metadata.namespace"))
}

// Matches reports whether the selector lets an object through.
func (s *Selector) Matches(o *Object) bool {
	if s.Name != "" && o.Meta.Name != s.Name {
		return false
	}
	if s.Labels != nil && !s.Labels.Matches(labels.Set(o.Meta.Labels)) {
		return false
	}
	if s.Fields == nil {
		return true
	}
	for _, r := range s.Fields.Requirements() {
		equal := s.Values(r.Field)(o) == r.Value
		if (r.Operator == "!=") == equal {
			return false
		}
	}
	return true
}

// Empty says that the selector lets everything under its prefix through.
func (s *Selector) Empty() bool { return s.Name == "" && s.Labels == nil && s.Fields == nil }

// CustomFields are the selectable fields of a version; their paths are plain chains of names.
func CustomFields(selectable []apiextensionsv1.SelectableField) map[string]func(*Object) string {
	if len(selectable) == 0 {
		return nil
	}
	out := map[string]func(*Object) string{}
	for _, s := range selectable {
		name := strings.TrimPrefix(s.JSONPath, ".")
		path := strings.Split(name, ".")
		out[name] = func(o *Object) string { return fieldText(o.Rest, path) }
	}
	return out
}

// fieldText is a scalar at a path as a selector sees it; "" when there is none.
func fieldText(content map[string]any, path []string) string {
	var value any = content
	for _, name := range path {
		m, ok := value.(map[string]any)
		if !ok {
			return ""
		}
		value = m[name]
	}
	switch value := value.(type) {
	case string:
		return value
	case bool:
		return strconv.FormatBool(value)
	case int64:
		return strconv.FormatInt(value, 10)
	default:
		return ""
	}
}
