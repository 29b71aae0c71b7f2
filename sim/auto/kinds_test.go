package auto

import (
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/sim/internal/run"
)

// Users change what a sample sets as often as all the rest, also where the schema allows anything.
func TestFieldsOfASample(t *testing.T) {
	k := kind{fields: []field{{path: []string{"spec", "parts"}, schema: &props{}},
		{path: []string{"spec", "parts", "[]", "template"}, schema: &props{}},
		{path: []string{"spec", "a"}, schema: &props{}}, {path: []string{"spec", "b"}, schema: &props{}}}}
	of := k.withSample(&unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"parts": []any{
		map[string]any{"template": map[string]any{"kind": "Service", "port": int64(1)}}}}}})
	var got []string
	for _, f := range of.fields[len(k.fields):] {
		got = append(got, f.String())
	}
	want := []string{"spec.parts", "spec.parts[].template.port", "spec.parts", "spec.parts[].template.port"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if len(k.fields) != 4 {
		t.Errorf("the kind itself has changed: %v", k.fields)
	}
}

// A child that another writer has changed is told apart, as long as it is there.
func TestChangedChildren(t *testing.T) {
	object := func(name string) []byte {
		return []byte(`{"kind":"ConfigMap","metadata":{"name":"` + name + `","ownerReferences":[{"uid":"owner"}]}}`)
	}
	h := &history.History{}
	for _, c := range []struct{ by, what, name string }{{"operator", "ADDED", "a"}, {run.User, "MODIFIED", "a"},
		{"operator", "ADDED", "b"}, {"operator", "MODIFIED", "b"}, {"operator", "ADDED", "c"},
		{run.User, "MODIFIED", "c"}, {"collector", "DELETED", "c"}} {
		ref := history.Ref{Kind: "ConfigMap", Name: c.name}
		h.Add(history.Event{Kind: history.Request, Process: c.by, Changes: []history.Change{{Type: c.what, Ref: ref,
			UID: c.name, Object: object(c.name)}}})
	}
	if got := changedChildren(h, "owner"); !slices.Equal(got, []string{"ConfigMap /a"}) {
		t.Errorf("%q", got)
	}
	if got := changedChildren(h, "another"); got != nil {
		t.Errorf("%q", got)
	}
}
