package kept_test

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/wavetank/wavetank/internal/kept"
)

// Parts of encoded values are those that a decoder finds, in any layout.
func TestParts(t *testing.T) {
	for _, text := range []string{
		`{}`, ` { } `, `[]`, `{"a":1}`, `{"a":"\"","b\"":"\\","\u0063":[1,{"x":"]}"},null],"d":{"e":-1.5e3}}`,
		"{\n\t\"a\" : true ,\r\n \"b\" : [ 1 , 2 ]\n}\n", `[1, "a,b", [2,3], {"c":[4]}, false]`, `["\\\\\"",""]`,
	} {
		var want any
		if err := json.Unmarshal([]byte(text), &want); err != nil {
			t.Fatal(err)
		}
		if got := partly(t, []byte(text)); !reflect.DeepEqual(got, want) {
			t.Errorf("%s is read as %v, want %v", text, got, want)
		}
	}
	for _, text := range []string{
		``, `1`, `"a"`, `{`, `{"a"`, `{"a":`, `{"a":1`, `{"a":1 2}`, `{1:2}`, `[`, `[1`, `["a]`,
	} {
		if got, ok := kept.Members([]byte(text)); ok {
			t.Errorf("%s has the members %v", text, got)
		}
		if got, ok := kept.Elements([]byte(text)); ok {
			t.Errorf("%s has the elements %v", text, got)
		}
	}
	if got := kept.Member([]byte(`{"a":{"b":1},"b":[2],"c"`), "b"); string(got) != "[2]" {
		t.Errorf("the member b is %s", got)
	}
	if got := kept.Member([]byte(`{"a":{"b":1}}`), "b"); got != nil {
		t.Errorf("the member b is %s", got)
	}
}

// partly decodes a value by its parts.
func partly(t *testing.T, raw []byte) any {
	if members, ok := kept.Members(raw); ok {
		out := map[string]any{}
		for name, value := range members {
			out[name] = partly(t, value)
		}
		return out
	}
	if elements, ok := kept.Elements(raw); ok {
		out := []any{}
		for _, value := range elements {
			out = append(out, partly(t, value))
		}
		return out
	}
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Errorf("the part %q: %v", raw, err)
	}
	return v
}
