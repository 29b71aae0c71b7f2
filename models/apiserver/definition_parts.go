package apiserver

import (
	"fmt"
	"strconv"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	utilversion "k8s.io/apimachinery/pkg/version"
)

// newerVersion orders versions as discovery does: stable before beta before alpha, then by number, highest first.
func newerVersion(a, b string) bool { return utilversion.CompareKubeAwareVersionStrings(a, b) > 0 }

// deprecationWarning is the definition's own text or the standard one
// (apiextensions-apiserver's pkg/apiserver/customresource_handler.go, defaultDeprecationWarning).
func deprecationWarning(spec *apiextensionsv1.CustomResourceDefinitionSpec, v *apiextensionsv1.CustomResourceDefinitionVersion) string {
	if v.DeprecationWarning != nil {
		return *v.DeprecationWarning
	}
	text := fmt.Sprintf("%s/%s %s is deprecated", spec.Group, v.Name, spec.Names.Kind)
	best := ""
	for _, other := range spec.Versions {
		if other.Served && !other.Deprecated && newerVersion(other.Name, v.Name) && (best == "" || newerVersion(other.Name, best)) {
			best = other.Name
		}
	}
	if best == "" {
		return text
	}
	return fmt.Sprintf("%s; use %s/%s %s", text, spec.Group, best, spec.Names.Kind)
}

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
