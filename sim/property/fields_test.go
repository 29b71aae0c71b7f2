package property

import (
	"encoding/json"
	"fmt"
	"math/rand"
	"reflect"
	"testing"
)

// Comparing encoded parts finds what comparing all decoded fields finds.
func TestChangedFieldsAreThoseOfDecodedObjects(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	changes := 0
	for range 5_000 {
		before := randomObject(r)
		after := varied(r, before)
		raw, newer := encoded(t, r, before), encoded(t, r, after)
		if r.Intn(50) == 0 {
			raw = nil
		}
		was, is := fieldsOf(raw), fieldsOf(newer)
		var want []fieldChange
		for _, path := range differing(was, is) {
			want = append(want, fieldChange{path, is[path]})
		}
		if got := changedFields(raw, newer); !reflect.DeepEqual(got, want) {
			t.Fatalf("from %s\nto %s\ngot  %v\nwant %v", raw, newer, got, want)
		}
		changes += len(want)
	}
	if changes < 5_000 {
		t.Errorf("only %d fields changed", changes)
	}
}

func randomObject(r *rand.Rand) map[string]any {
	o := map[string]any{"metadata": map[string]any{"name": "a", "resourceVersion": fmt.Sprint(r.Intn(9)),
		"labels": map[string]any{"l": "1"}, "uid": fmt.Sprint(r.Intn(9))}}
	for _, name := range []string{"spec", "status", "data"} {
		if r.Intn(4) > 0 {
			o[name] = randomValue(r, 4)
		}
	}
	return o
}

func randomValue(r *rand.Rand, depth int) any {
	switch n := r.Intn(8); {
	case n < 2 && depth > 0:
		m := map[string]any{}
		for range r.Intn(4) {
			m[[]string{"a", "b", "name", "type", "q\"\\"}[r.Intn(5)]] = randomValue(r, depth-1)
		}
		return m
	case n < 4 && depth > 0:
		var list []any
		for range r.Intn(4) {
			list = append(list, randomValue(r, depth-1))
		}
		return list
	case n < 6 && depth > 0: // elements that mostly have names of their own
		list := []any{}
		for i := range r.Intn(4) {
			list = append(list, map[string]any{"name": fmt.Sprint("n", i+r.Intn(2)), "value": randomValue(r, depth-1)})
		}
		return list
	}
	return []any{nil, true, 1, 1.5, 1e21, "x", "<é>\n", ""}[r.Intn(8)]
}

// varied copies a value with some of its parts changed.
func varied(r *rand.Rand, v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for name, value := range v {
			if r.Intn(12) > 0 {
				out[name] = varied(r, value)
			}
		}
		if r.Intn(12) == 0 {
			out["new"] = randomValue(r, 2)
		}
		return out
	case []any:
		out := []any{}
		for _, value := range v {
			if r.Intn(12) > 0 {
				out = append(out, varied(r, value))
			}
		}
		if r.Intn(12) == 0 {
			r.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
		}
		return out
	}
	if r.Intn(12) == 0 {
		return randomValue(r, 2)
	}
	return v
}

// encoded is a value as JSON, with spaces or without.
func encoded(t *testing.T, r *rand.Rand, v any) []byte {
	raw, err := json.Marshal(v)
	if r.Intn(4) == 0 {
		raw, err = json.MarshalIndent(v, "", " ")
	}
	if err != nil {
		t.Fatal(err)
	}
	return raw
}
