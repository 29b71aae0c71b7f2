package object

import (
	"reflect"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/utils/ptr"
	"pgregory.net/rapid"
)

// decorate adds what pruning, defaults and the checks of lists look at to a drawn schema.
func decorate(t *rapid.T, s *props) {
	often := func(name string, n int) bool { return rapid.IntRange(0, n).Draw(t, name) == 0 }
	for _, name := range fieldNames {
		p, has := s.Properties[name]
		if !has {
			continue
		}
		if decorate(t, &p); often("default", 5) {
			raw := map[string]string{"string": `"x"`, "integer": "1", "boolean": "true", "object": "{}", "array": "[]"}
			p.Default = &apiextensionsv1.JSON{Raw: []byte(raw[p.Type])}
			if raw[p.Type] == "" {
				p.Default = nil
			}
		}
		s.Properties[name] = p
	}
	if s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil {
		decorate(t, s.AdditionalProperties.Schema)
	}
	if s.Items != nil {
		decorate(t, s.Items.Schema)
		switch rapid.IntRange(0, 3).Draw(t, "list") {
		case 0:
			s.XListType = ptr.To("set")
		case 1:
			s.XListType, s.XListMapKeys = ptr.To("map"), fieldNames[:rapid.IntRange(1, 2).Draw(t, "keys")]
		}
	}
	if (s.Type == "object" || s.Type == "array") && often("open", 8) {
		s.XPreserveUnknownFields = ptr.To(true)
	}
	if s.Type == "object" && often("embedded", 8) {
		s.XEmbeddedResource = true
	}
	if s.Type == "object" && often("atomic", 8) {
		s.XMapType = ptr.To("atomic")
	}
	if s.Type == "object" && often("any", 12) {
		s.Properties, s.AdditionalProperties = nil, &apiextensionsv1.JSONSchemaPropsOrBool{Allows: true}
	}
}

// withUnknown adds members and nulls that a schema may not know.
func withUnknown(t *rapid.T, value any) any {
	members, ok := value.(map[string]any)
	if !ok {
		return value
	}
	for name := range members {
		members[name] = withUnknown(t, members[name])
	}
	switch rapid.IntRange(0, 15).Draw(t, "unknown") {
	case 0:
		members["unknown"] = map[string]any{"a": "x"}
	case 1:
		members["a"] = nil
	case 2:
		members["metadata"] = map[string]any{"labels": map[string]any{}}
	}
	return members
}

// Content is pruned, coerced and defaulted as by the library, and what it was made from stays as
// it was. Repeated elements of lists are found as by the library.
func TestContentIsSettledAsByTheLibrary(t *testing.T) {
	same, settled, lists, unique := 0, 0, 0, 0
	rapid.Check(t, func(t *rapid.T) {
		spec := drawSchema(t, 3)
		value := withUnknown(t, drawValue(t, &spec))
		decorate(t, &spec)
		s := &Schema{Source: &apiextensionsv1.CustomResourceValidation{
			OpenAPIV3Schema: &props{Type: "object", Properties: map[string]props{"spec": spec}}}}
		if err := s.compile(); err != nil {
			t.Skip(err)
		}
		content := map[string]any{"kind": "K", "apiVersion": "g/v1", "metadata": map[string]any{"name": "a"},
			"spec": value}
		before, want := CopyJSON(content), CopyJSON(content).(map[string]any)
		unknown, err := s.coerce(want, true)
		if err == nil {
			s.fillDefaults(want)
		}
		got, paths, gotErr := s.settle(content, true)
		if (err == nil) != (gotErr == nil) || !reflect.DeepEqual(paths, unknown) && len(paths)+len(unknown) > 0 ||
			err == nil && !EqualJSON(got, want) {
			t.Fatalf("%v becomes %v, %v, %v, want %v, %v, %v", before, got, paths, gotErr, want, unknown, err)
		}
		if !EqualJSON(content, before) {
			t.Fatalf("%v was changed to %v", before, content)
		}
		if EqualJSON(want, before) && err == nil {
			same++
			if s.settled.holds(content) {
				settled++
			}
		}
		errs := listtype.ValidateListSetsAndMaps(nil, s.structural, content)
		if s.settled.hasLists() && len(errs) == 0 {
			lists++
			if s.settled.unique(content) {
				unique++
			}
		}
		if got := s.repeated(content); !sameErrors(sortErrors(got), sortErrors(errs)) {
			t.Fatalf("%v of %v, want %v", got, content, errs)
		}
	})
	if settled*2 < same || unique*2 < lists || settled == 0 || unique == 0 {
		t.Errorf("%d of %d objects that stay the same and %d of %d without repetitions were recognized", settled, same,
			unique, lists)
	}
}
