package apiserver

import (
	"fmt"
	"strconv"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
)

// selector decides which objects a list shows or a watch follows.
type selector struct {
	labels labels.Selector // nil for all
	fields fields.Selector // nil for all
	// prefix and name narrow the keys: to a namespace, to one object.
	prefix string
	name   string
	values func(name string) func(*object) string
	// single says that the selector names one object. Such a list is read by its key, and so has one page and no past unless
	// it asks for it by an exact match (staging/src/k8s.io/apiserver/pkg/registry/generic/registry/store.go, ListPredicate).
	single bool
}

// fieldValue is how to read a selectable field, nil for fields that cannot be selected by.
func (v *version) fieldValue(name string) func(*object) string {
	switch {
	case name == "metadata.name":
		return func(o *object) string { return o.meta.Name }
	case name == "metadata.namespace" && (v.kind.namespaced || v.fields == nil):
		return func(o *object) string { return o.meta.Namespace }
	}
	return v.fields[name]
}

// unknownField is the refusal of a field selector, worded as the conversion functions of each group word it.
func (v *version) unknownField(name string) error {
	if !v.kind.builtin || v.fields != nil {
		return apierrors.NewBadRequest(fmt.Sprintf("field label not supported: %s", name))
	}
	return apierrors.NewBadRequest(fmt.Sprintf("%q is not a known field selector: only %q, %q", name, "metadata.name", "metadata.namespace"))
}

func (s *selector) matches(o *object) bool {
	if s.name != "" && o.meta.Name != s.name {
		return false
	}
	if s.labels != nil && !s.labels.Matches(labels.Set(o.meta.Labels)) {
		return false
	}
	if s.fields == nil {
		return true
	}
	for _, r := range s.fields.Requirements() {
		equal := s.values(r.Field)(o) == r.Value
		if (r.Operator == "!=") == equal {
			return false
		}
	}
	return true
}

// empty says that the selector lets everything under its prefix through.
func (s *selector) empty() bool { return s.name == "" && s.labels == nil && s.fields == nil }

// customFields are the selectable fields of a version; their paths are plain chains of names.
func customFields(selectable []apiextensionsv1.SelectableField) map[string]func(*object) string {
	if len(selectable) == 0 {
		return nil
	}
	out := map[string]func(*object) string{}
	for _, s := range selectable {
		name := strings.TrimPrefix(s.JSONPath, ".")
		path := strings.Split(name, ".")
		out[name] = func(o *object) string { return fieldText(o.rest, path) }
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
